#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

struct ComparisonOptions {
  double level = 0.05;  ///< chance that any head is called changed although none is
  Index draws = 999;    ///< random assignments of blocks of documents to the two results
  Index block = 0;      ///< neighbouring documents that stay together; 0: as many as the level allows
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: one per core; does not change results
};

/// Compares two results head by head: which heads differ, by how much, and whether by more than other
/// documents would make them differ.
///
///     D_d[t] = attention summed along a diagonal / (T_d - |t|)                                  (1)
///     changed at t:  mean second D[t] - mean first D[t]  has a band that leaves 0 out            (2)
///     apart:  [a - k (a - a_low), a + k (a_high - a)] and the same of b have no point in common  (3)
///     k = max(1, z(level / 4m) / z((1 - coverage) / 2))                                          (4)
///
/// (1) is a document's offset profile. The bands of (2) are those of mean_change() for all heads and offsets
/// together, of pairs of documents if both results looked at the same ones. `profile` is (1) at the offset
/// where it changed most; `weight_at_first` and `weight_at_second` are (1) at the offset that each result
/// found. An offset has changed if it differs and one of these weights is beyond its interval. Predicted
/// offsets and shares of the account have intervals of their own: (3) requires that they lie apart after
/// widening by (4), which makes all m intervals hold together if they are normal. (2) and (3) get half of
/// `level` each, so it bounds the chance that any head is called changed although none is.
///
/// Neighbouring documents are alike, so blocks of them decide, as long as the level allows. Texts by two
/// authors, or of two articles, still differ, and that counts as a change. So do other models or options; the
/// provenance says which. Of one source, only the documents that both results have are compared. Profiles (1)
/// change with the length of documents, so results whose documents differ in length are refused.
///
/// Source: (1) Yamamoto and Matsuzaki 2023, section 3.1; (2) see mean_change(); (3) and (4) are this
/// project's, with the normal quantile z and Bonferroni's division.
///
/// Fields comparison/first, second, lower, upper and verdict (measure, layer, head); changed, rank and
/// profile_offset (layer, head); first_word and second_word (word, layer, head); set_to (setting, result),
/// settings in which the runs differ; first_profile and second_profile (layer, head, near_offset); and
/// change/NAME (layer, head), the difference in each measure. The provenance says in `comparable` whether
/// differences are changes of heads: "comparable head by head: one model, changed by an intervention, the
/// same 100 documents of 512 tokens"; and in `decided_by` how many blocks of documents decided.
/// @param names  of the two in the result and in messages
/// @throws ShapeError naming what cannot be compared: other layers, heads, reach, axes or lengths, another
///         kind of attention, or no measured offsets; NumericError as mean_change()
Result comparison(const Result& first, const Result& second,
                  const std::vector<std::string>& names = {"first", "second"}, const ComparisonOptions& options = {});

/// Names of the Fields that comparison() reads, so that no others need be read.
std::vector<std::string> compared_fields();

}  // namespace headwave
