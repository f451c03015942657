#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../fields/field.h"
#include "../model/model.h"
#include "../model/source.h"

namespace headwave {

/// What a planted head does. The first four read waves and attend to an offset; the last three do not.
enum class PlantedKind { adjacent, left, right, broad, sink, content, noise };

/// "adjacent", "left", ...
const char* name_of(PlantedKind kind);

/// One head that is built to behave in a known way.
struct PlantedHead {
  PlantedKind kind = PlantedKind::noise;
  double offset = 0.0;             ///< t* in tokens, key minus query; only for heads that read waves
  std::vector<double> amplitudes;  ///< a_m, one per wave, >= 0; empty for heads that do not read waves
  double strength = 0.0;           ///< score of the preferred key for sink and content, spread of the scores for noise

  [[nodiscard]] bool positional() const { return !amplitudes.empty(); }
};

constexpr Index planted_special_words = 5;  ///< [PAD] [UNK] [CLS] [SEP] [MASK], ids 0 to 4
constexpr Index planted_opening_word = 2;   ///< [CLS]
constexpr Index planted_closing_word = 3;   ///< [SEP]

/// What to plant. Everything follows from these numbers and the seed.
struct PlantedSpec {
  Index length = 512;  ///< T, rows of the position table
  Index d_model = 256;
  Index d_head = 32;                ///< at least twice the number of waves, and at least the number of words
  std::vector<double> frequencies;  ///< f_m in cycles per T tokens, off the bins
  Index words = 32;        ///< ordinary words beside the five special ones; 0: no words, one token without a vector
  double word_norm = 2.0;  ///< rho, the common norm of the word embeddings
  std::vector<std::vector<PlantedHead>> heads;  ///< layers x heads
  std::uint64_t seed = 1;
};

/// A transformer encoder with known truth.
///
/// The position table holds P waves, PE[n] = sum_m cos(w_m n) b_2m + sin(w_m n) b_2m+1 with w_m = 2 pi f_m /
/// T and orthonormal b orthogonal to 1; words are orthonormal directions beside them. A head that attends to
/// offset t* has
///
///     S[i, j] = sum_m a_m cos(w_m (j - i - t*))                                              (1)
///
/// exactly, since W_Q reads wave m with gain kappa_m and W_K the same wave turned by -w_m t*. Every layer
/// hands its input on unchanged (W_O = 0, feed-forward 0), so each head sees the same waves. `content` heads
/// attend to the same word, `sink` heads to [CLS], `noise` heads to random words: none of the three prefers
/// an offset.
struct PlantedModel {
  Model model;
  PlantedSpec spec;
  std::vector<std::string> vocabulary;  ///< [PAD], [UNK], [CLS], [SEP], [MASK], then the words
};

/// Builds the model of (1).
/// @throws ShapeError if d_model or d_head cannot hold the waves and words, a layer has no heads or another
///         number of them, a head has another number of amplitudes, or one without amplitudes has no words to
///         read
PlantedModel planted_model(const PlantedSpec& spec);

/// The truth as Fields: planted/kind and planted/offset (layer, head), NaN where a head prefers no offset.
std::vector<Field> describe(const PlantedModel& planted);

/// The bank that `headwave demo` runs: 4 layers x 8 heads; adjacent (-1, +1), left (-3), right (+3) and broad
/// (-6, +6) heads in every layer, in another order each time, and two of sink, content and noise.
PlantedSpec planted_bank(std::uint64_t seed = 1);

/// Documents of random words between [CLS] and [SEP]. The model must outlive the source.
/// @param length  tokens per document, with both special ones
/// @throws ShapeError if the length is below 3 or beyond the model's positions
std::unique_ptr<Source> planted_documents(const PlantedModel& planted, Index documents, Index length,
                                          std::uint64_t seed);

}  // namespace headwave
