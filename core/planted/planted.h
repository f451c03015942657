#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../fields/field.h"
#include "../model/model.h"
#include "../model/source.h"

namespace headwave {

/// The behaviour of a planted head. Only the first four kinds read waves and attend to an offset.
enum class PlantedKind { adjacent, left, right, broad, sink, content, noise };

/// "adjacent", "left", ...
const char* name_of(PlantedKind kind);

/// One head that is built to behave in a known way.
struct PlantedHead {
  PlantedKind kind = PlantedKind::noise;
  double offset = 0.0;             ///< t* in tokens, key minus query; only for heads that read waves
  std::vector<double> amplitudes;  ///< a_m >= 0, one per wave; empty for heads that do not read waves
  double strength = 0.0;           ///< score of the preferred key; for noise, standard deviation of scores

  [[nodiscard]] bool positional() const { return !amplitudes.empty(); }
};

constexpr Index planted_special_words = 5;  ///< [PAD] [UNK] [CLS] [SEP] [MASK], ids 0 to 4
constexpr Index planted_opening_word = 2;   ///< [CLS]
constexpr Index planted_closing_word = 3;   ///< [SEP]

/// What to plant. These numbers determine the whole model.
struct PlantedSpec {
  Index length = 512;  ///< T, rows of the position table
  Index d_model = 256;
  Index d_head = 32;                ///< at least twice the number of waves, and at least the number of words
  std::vector<double> frequencies;  ///< f_m in cycles per T tokens, not whole numbers
  Index words = 32;                 ///< words besides the five special tokens; 0: one token with a zero embedding
  double word_norm = 2.0;           ///< rho, norm of each word embedding
  std::vector<std::vector<PlantedHead>> heads;  ///< layers x heads
  std::uint64_t seed = 1;
};

/// A transformer encoder with known truth.
///
/// The position table holds P waves, PE[n] = sum_m cos(w_m n) b_2m + sin(w_m n) b_2m+1, with w_m = 2 pi f_m /
/// T and orthonormal b that are orthogonal to the vector of ones. Words are orthonormal directions,
/// orthogonal to these. A head that attends to offset t* has
///
///     S[i, j] = sum_m a_m cos(w_m (j - i - t*))                                              (1)
///
/// exactly: W_Q reads wave m with a gain, and W_K reads the same wave with the same gain and a phase of -w_m
/// t*. Layers do not change their input (W_O = 0, feed-forward 0), so all heads see the same waves. Other
/// heads prefer no offset: `content` heads attend to tokens with the query's word, `sink` heads to [CLS], and
/// `noise` heads to random words.
struct PlantedModel {
  Model model;
  PlantedSpec spec;
  std::vector<std::string> vocabulary;  ///< [PAD], [UNK], [CLS], [SEP], [MASK], then the words
};

/// Builds the model of (1).
/// @throws ShapeError if d_model or d_head cannot hold the waves and words, layers have no heads or different
///         numbers of heads, a head has a wrong number of amplitudes, or a head that reads words finds none
PlantedModel planted_model(const PlantedSpec& spec);

/// The truth as Fields planted/kind and planted/offset (layer, head), NaN if a head prefers no offset.
std::vector<Field> describe(const PlantedModel& planted);

/// The model of `headwave demo`: 4 layers with 8 heads each. Every layer has, in random order, adjacent heads
/// at offsets -1 and +1, a left head at -3, a right head at +3, broad heads at -6 and +6, and two heads of
/// the kinds sink, content and noise.
PlantedSpec planted_bank(std::uint64_t seed = 1);

/// Documents of random words between [CLS] and [SEP]. The model must outlive the source.
/// @param length  tokens per document, including both special tokens
/// @throws ShapeError if the length is below 3 or beyond the model's positions
std::unique_ptr<Source> planted_documents(const PlantedModel& planted, Index documents, Index length,
                                          std::uint64_t seed);

}  // namespace headwave
