#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

struct ComparisonOptions {
  double level = 0.05;  ///< chance that any head is called changed where none is
  Index draws = 999;    ///< assignments of blocks of documents that decide
  Index block = 0;      ///< documents in a row that stay together; 0: as many as leave the level within reach
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: one per core; does not change results
};

/// Which heads differ between two results, by how much, and whether by more than other documents would.
///
///     D_d[t] = attention summed along a diagonal / (T_d - |t|)                                  (1)
///     changed at t:  mean second D[t] - mean first D[t]  has a band that leaves 0 out            (2)
///     apart:  [a - k (a - a_low), a + k (a_high - a)] and the same of b have no point in common  (3)
///     k = z(level / 4m) / z((1 - coverage) / 2)                                                  (4)
///
/// (1) is a document's offset profile; the bands of (2) are mean_change()'s, for all heads and offsets
/// together, of pairs of documents where both results looked at the same ones. `profile` is where a head's
/// changed most; `weight_at_first` and `weight_at_second` are (1) at the offset that each result found. An
/// offset is beyond if it differs and one of these weights is. Predicted offsets and shares of the account
/// have intervals of their own: (3) asks for more than two intervals apart, they are widened by (4) as normal
/// ones would be for all m of them to hold together. So `level` bounds the chance of calling any head changed
/// where nothing is, by documents exactly, by (3) as far as the widening holds. Both get half of it.
///
/// Documents in a row are alike, so blocks of them decide, as long as the level allows. Texts by two authors,
/// or of two articles, differ all the same, and that is a change. Other models or options are a change too;
/// provenance says which. Of one source of which one result has more documents, those that both have are
/// compared. Profiles (1) change with the length of documents even where no head does, so two results whose
/// documents have different lengths are refused.
///
/// Source: (1) Yamamoto and Matsuzaki 2023, section 3.1; (2) see mean_change(); (3) and (4) are this
/// project's, with the normal quantile z and Bonferroni's division.
///
/// Fields comparison/first, second, lower, upper and verdict (measure, layer, head); changed, rank and
/// profile_offset (layer, head); first_word and second_word (word, layer, head); set_to (setting, result), what the
/// runs were told differently, if anything; first_profile and second_profile (layer, head, near_offset); and
/// change/NAME (layer, head), the difference in each measure. The provenance says in `comparable` whether what differs
/// may be read as a change of heads: "comparable head by head: one model, changed by an intervention, the same 100
/// documents of 512 tokens"; and in `decided_by` how many blocks of documents decided, if they did.
/// @param names  what the result and messages call the two
/// @throws ShapeError that names what cannot be compared: other layers, heads, reach, axes or lengths, another
///         kind of attention, or no measured offsets; NumericError as mean_change()
Result comparison(const Result& first, const Result& second,
                  const std::vector<std::string>& names = {"first", "second"}, const ComparisonOptions& options = {});

/// Names of the Fields that comparison() looks at, so that no more need be read.
std::vector<std::string> compared_fields();

}  // namespace headwave
