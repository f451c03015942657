#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "../../core/numbers/matrix.h"
#include "attention_words.h"

namespace headwave {

struct HeadWritesOptions {
  Index documents = 16;       ///< at most, spread evenly over all
  Index most_words = 1024;    ///< words that are compared: those of the most documents
  Index least_documents = 3;  ///< in which a raised word is tested
  double fdr = 0.05;          ///< of words that are named, over all words and heads
  int threads = 1;            ///< over heads; does not change results
};

/// A word whose logit a head raises, or lowers. The default: no word.
struct WrittenWord {
  std::int32_t id = -1;
  double logit = not_defined;    ///< (4)
  double q_value = not_defined;  ///< chance that the name is false, adjusted for all words of all heads
};
constexpr Index words_written = 4;  ///< raised, and lowered, of each head, at most

/// What heads write, as logits of words.
struct HeadWrites {
  HeadGrid grid;
  Index documents = 0, words = 0;
  Vector copying;                                         ///< (rows)  (2)
  Vector p_value, q_value;                                ///< (rows)  of (2) with permuted words, two-sided
  std::vector<std::vector<WrittenWord>> raised, lowered;  ///< [row]  the largest first
  TokenTexts texts;
  std::string undefined;  ///< why what heads write is no sum of logits, and all else is empty; empty: it is
};

/// What each head writes when it attends to a word, in logits, by the direct path to the output with norms held.
///
/// With v_w the mean value of word w's tokens in a layer (through its norm as computed, biases included), u_b the row of the
/// prediction head of word b, gain the final norm's scale and r the mean over tokens of its 1 / sigma,
///
///     L_wb = (v_w W_O) . (gain r (u_b - mean over channels, where the norm subtracts a mean))             (1)
///
/// less its mean over w: what attending to w rather than to another word adds. Later layers and the soft cap are omitted.
///
///     copying = mean over w of (L_ww - mean_b L_wb) / sd_b L_wb                                           (2)
///
/// Above 0: the head raises the word that it attends to; below 0: it lowers it. The null permutes which word is whose own,
/// n words: the mean of a_{w,pi(w)} with random pi, a the fraction in (2) for every pair, has exactly
///
///     variance = 1 / (n^2 (n - 1)) sum over w, b of (a_wb - row mean - column mean + mean)^2               (3)
///
/// and is close to normal for as many words.
///
/// Words that are raised or lowered, whatever is attended to: y_db = mean over queries of document d of (o W_O) . (as in (1)),
/// less its mean over words,                                                                                (4)
/// and a word is named if its mean over documents differs from 0 by moderated_p_values().
///
/// Source: copying and the OV circuit: Elhage et al. 2021; (3): Hoeffding 1951, doi:10.1214/aoms/1177729545.
/// @throws Error as the source and the model pass
HeadWrites head_writes(const Model& model, const Source& source, const HeadGrid& grid,
                       const HeadWritesOptions& options = {});

}  // namespace headwave
