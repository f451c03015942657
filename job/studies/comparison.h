#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

struct ComparisonOptions {
  double level = 0.05;  ///< largest probability that any head is called changed although none is
  Index draws = 999;    ///< number of random assignments of document blocks to the two results
  Index block = 0;      ///< neighbouring documents that form a block; 0: as many as the level allows
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: one per core; does not change results
};

/// Compares two results head by head: which heads differ, by how much, and whether by more than a change of
/// documents would explain.
///
///     D_d[t] = attention summed along a diagonal / (T_d - |t|)                                  (1)
///     changed at t:  mean second D[t] - mean first D[t]  has a band that leaves 0 out            (2)
///     apart:  [a - k (a - a_low), a + k (a_high - a)] and the same of b have no point in common  (3)
///     k = max(1, z(level / 4m) / z((1 - coverage) / 2))                                          (4)
///
/// (1) is a document's offset profile. (2) uses the bands of mean_change(), which hold for all heads and
/// offsets together. If both results looked at the same documents, mean_change() compares the documents in
/// pairs. The measure `profile` is (1) at the offset where the profile changed most. The measures
/// `weight_at_first` and `weight_at_second` are (1) at the offset that the first result found, and at the
/// offset that the second result found. The measure `offset` counts as changed if the two offsets differ and
/// the interval of the change of one of these weights excludes 0.
///
/// Predicted offsets and the parts of the account have intervals in both results. They count as changed if
/// (3) holds after the intervals are widened by (4), which makes all m intervals hold together if estimates
/// are normally distributed. (2) and (3) get half of `level` each, so `level` bounds the probability that any
/// head is called changed although none is.
///
/// Neighbouring documents are alike, so the test permutes blocks of documents, as long as the level allows.
/// Texts by two authors, or of two articles, still differ, and such a difference counts as a change. A
/// difference between models or options also counts as a change; the provenance says which settings differ.
/// If both results read one source, only the documents that both have are compared. Profiles (1) depend on
/// the length of documents, so two results are refused if each has documents of one length and these lengths
/// differ.
///
/// Source: (1) Yamamoto and Matsuzaki 2023, section 3.1; (2) see mean_change(); (3) and (4) are this
/// project's, with the normal quantile z and a Bonferroni correction.
///
/// Fields: comparison/first, second, lower, upper and verdict (measure, layer, head); changed, rank and
/// profile_offset (layer, head); first_word and second_word (word, layer, head); set_to (setting, result),
/// the settings in which the runs differ; first_profile and second_profile (layer, head, near_offset); and
/// change/NAME (layer, head), the difference in each measure. The provenance says in `comparable` whether
/// differences are due to heads: "comparable head by head: one model, changed by an intervention, the same
/// 100 documents of 512 tokens". It says in `decided_by` how many blocks of documents were used.
/// @param names  names of the two results, for the provenance and for messages
/// @throws ShapeError naming what makes the results incomparable: different layers, heads, reach, axes,
///         lengths or kinds of attention, or no measured offsets; NumericError as mean_change()
Result comparison(const Result& first, const Result& second,
                  const std::vector<std::string>& names = {"first", "second"}, const ComparisonOptions& options = {});

/// Names of the Fields that comparison() uses, so that only these need be read from a file.
std::vector<std::string> compared_fields();

}  // namespace headwave
