#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Sums over documents of one number for each item, such as a word. A document without the item has no number for it.
struct ItemSums {
  Vector documents;  ///< (items)  n: in how many documents the number is defined
  Vector sum;        ///< (items)
  Vector squares;    ///< (items)  sum of squares

  explicit ItemSums(Index items = 0) : documents(Vector::Zero(items)), sum(documents), squares(documents) {}
  void add(Index item, double number) {
    documents[item] += 1;
    sum[item] += number;
    squares[item] += number * number;
  }
  [[nodiscard]] double mean(Index item) const { return sum[item] / documents[item]; }
};

struct ModeratedTestOptions {
  Index least_documents = 3;  ///< fewer test nothing
  bool two_sided = false;     ///< false: only a mean above 0 counts
};

/// Tests whether each item's mean over documents is above 0, for many items with few documents each.
///
///     t = mean sqrt(n) / s~,   s~^2 = (d_0 s_0^2 + (n - 1) s^2) / (d_0 + n - 1)                  (1)
///
/// compared with Student's t of d_0 + n - 1 degrees of freedom. s^2 is the item's variance over its documents, and s_0^2 and
/// d_0 describe how variances spread over items, estimated by the method of moments for log s^2. Three documents alone give
/// a variance nobody can rely on; together the items say what is usual.
///
/// Where fewer than 5 items are tested, d_0 = 0: every item has its own variance. One-sided p-values above 0.1 are given as 1,
/// since no rate of false discoveries that is of use reads them.
///
/// Source: Smyth 2004, doi:10.2202/1544-6115.1027.
/// @returns (items)  p-values; NaN: not tested
Vector moderated_p_values(const ItemSums& sums, const ModeratedTestOptions& options = {});

}  // namespace headwave
