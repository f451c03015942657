#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Sums over documents of one number per item, for example per word. Documents without the item do not count.
struct ItemSums {
  Vector documents;  ///< (items)  n, the number of documents in which the number is defined
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
  Index least_documents = 3;  ///< items in fewer documents are not tested
  bool two_sided = false;     ///< false: tests only for a mean above 0
};

/// Tests whether each item's mean over documents is above 0, for many items with few documents each.
///
///     t = mean sqrt(n) / s~,   s~^2 = (d_0 s_0^2 + (n - 1) s^2) / (d_0 + n - 1)                  (1)
///
/// t is compared with Student's t of d_0 + n - 1 degrees of freedom. s^2 is the item's variance over its
/// documents. s_0^2 and d_0 describe how variances are distributed over items, and are estimated by the
/// method of moments for log s^2. A variance from three documents is unreliable, so s~^2 also uses the
/// variances of all items.
///
/// If fewer than 5 tested items have a variance above 0, d_0 is 0, and each item has only its own variance.
/// The p-value is set to 1 if t, or |t| if two-sided, is at most 1.28, since its tail is then 0.1 or more.
///
/// Source: Smyth 2004, doi:10.2202/1544-6115.1027.
/// @returns (items)  p-values; NaN: not tested
Vector moderated_p_values(const ItemSums& sums, const ModeratedTestOptions& options = {});

}  // namespace headwave
