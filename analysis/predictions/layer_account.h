#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "../../core/attention/position_term.h"
#include "../../core/numbers/random.h"
#include "account_sums.h"
#include "shuffled_places.h"

namespace headwave {

/// What is taken together to account for a head, each with those before it.
enum class AccountTerm : std::uint8_t {
  position,  ///< what queries and keys would do if every token were the average token of its place: the mean of a place
             ///< holds its position, and what texts have in common there
  content,   ///< how query and key vary together at a distance: equal words at t = 0, words that follow each other
  spread,    ///< half the variance of the scores over documents
};
constexpr std::size_t account_terms = 3;

/// How scores come about in the layers that are accounted for: one for all heads.
struct AccountSite {
  HeadGrid grid;
  AttentionKind kind = AttentionKind::self;
  Index length = 0;  ///< T
  Index reach = 64;  ///< offsets |t| <= reach are accounted for, in tokens; (T - 1) / 2 where that is less
  Index kv_heads = 1;
  Index window = 0;  ///< of the mask; 0: no limit
  double score_scale = 1;
  double soft_cap = 0;                  ///< of scaled scores; 0: none
  const PositionTerm* added = nullptr;  ///< a term that is added to the scores; null: none, or one that turns
  std::vector<Index> others = {};       ///< layers that have the following in place of window and added
  Index other_window = 0;
  const PositionTerm* other_added = nullptr;
  bool no_positions = false;  ///< every place is the same to the model

  /// Whether a head of that layer can know places at all. Under a causal mask layers above 0 may count their keys.
  /// @param place  of the layer, in the grid
  [[nodiscard]] bool tells_places(Index place) const {
    return !no_positions || (kind == AttentionKind::causal && grid.layers[static_cast<std::size_t>(place)] > 0);
  }
  /// The same of one layer.
  /// @param place  in the grid
  [[nodiscard]] AccountSite layer(Index place) const;
};

/// What two halves of the documents, taken by turns, were summed up to: queries of one against keys of the other have
/// nothing in common but their places.
struct AccountHalves {
  AccountSite site;
  std::array<AccountSums, 2> halves;  ///< queries, keys and numbers of documents; of one document the second is empty
};

/// The term that is added to a site's scores at every offset; zero where there is none.
/// @returns (heads, 2 T - 1)
Matrix added_kernel(const AccountSite& site);

/// Attention of mean queries and keys, a kernel added to their scores, as a probe sees it in layer 0.
/// @param query   (T, heads * d_head)     mean over documents
/// @param key     (T, kv_heads * d_head)
/// @param kernel  (heads, 2 T - 1)
void attend_means(const Matrix32& query, const Matrix32& key, const Matrix& kernel, const AccountSite& site,
                  Probe& probe);

/// The account of one layer over some documents, heads in rows.
struct LayerAccount {
  Matrix measured;                              ///< (heads, 2 reach + 1)  mean weight; NaN: no pair, or masked
  std::array<Matrix, account_terms> kernel;     ///< (heads, 2 T - 1)      of each term by itself
  std::array<Matrix, account_terms> predicted;  ///< (heads, 2 reach + 1)  mean weight, each term with those before it
  Vector alignment;                             ///< (heads)
};

/// Explained share of a profile p by another p^, over the offsets at which both are positive:
///
///     1 - sum_t (log p^ - log p)^2 / sum_t (log p - mean log p)^2                              (1)
///
/// Nothing is fitted: 1 is every weight right, 0 no better than one weight for all offsets, below 0 worse than that.
/// @param centred  take the mean off log p^ too: the shape of the profile, whatever its level
/// @returns NaN where fewer than three offsets are left, or p is the same everywhere
double explained_share(Eigen::Ref<const Vector> measured, Eigen::Ref<const Vector> predicted, bool centred);

/// Accounts for one layer after another; equations (2) to (5) of head_account().
class Accountant {
 public:
  explicit Accountant(const AccountSite& site);

  /// @param sums  over `documents` documents
  [[nodiscard]] LayerAccount account(const LayerAccountSums& sums, Index documents) const;

  /// The same, position by itself less what of content is left in means over few documents: c(t) / (n - 1), since means
  /// of queries and keys over the same documents still vary together by 1 / n of what single ones do.
  [[nodiscard]] LayerAccount unmixed(const LayerAccountSums& sums, Index documents) const;

  /// What weights the mean queries and keys give with something added to their scores.
  /// @param bias  (heads, 2 T - 1)
  /// @returns (heads, 2 reach + 1)
  [[nodiscard]] Matrix profile(const LayerAccountSums& sums, Index documents, const Matrix& bias) const;

  /// What the position term gives with places in random order.
  struct Shuffled {
    std::vector<Vector> alignment;  ///< [draw] (heads)
    std::vector<Matrix> predicted;  ///< [draw] (heads, 2 reach + 1)
  };
  [[nodiscard]] Shuffled shuffled(const LayerAccountSums& sums, Index documents, Index draws,
                                  const Random& random) const;

  /// A kernel with the offsets at which there are pairs in random order, one for all heads.
  [[nodiscard]] Matrix shuffled_offsets(const Matrix& kernel, Random& random) const;

  /// Columns |t| <= reach of a matrix over all offsets.
  [[nodiscard]] Matrix near(const Matrix& lags) const;

 private:
  /// What one pass over mean queries and keys shows: means over i.
  struct Look {
    Matrix scores, squares;  ///< (heads, 2 T - 1)
    Matrix weight;           ///< (heads, 2 reach + 1)
  };
  void attend_sums(const LayerAccountSums& sums, Index documents, const Matrix& kernel, Probe& probe) const;
  [[nodiscard]] Look look(const LayerAccountSums& sums, Index documents, const Matrix& bias, bool scores) const;
  [[nodiscard]] Matrix with_ends(Matrix kernel) const;
  [[nodiscard]] Vector near_pairs() const;

  AccountSite site_;
  Vector pairs_;  ///< (2 T - 1)  left at every offset
  Matrix added_;  ///< (heads, 2 T - 1)
};

}  // namespace headwave
