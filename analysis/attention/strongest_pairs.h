#pragma once

#include <array>
#include <string>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// Pairs that are kept of each head.
inline constexpr Index strongest_pairs_kept = 10;
/// Tokens that are kept to either side of a query and of a key.
inline constexpr Index tokens_around = 3;

/// A query-key pair of one document, with the tokens around both.
struct TokenPair {
  double weight = 0;
  Index document = 0;        ///< its number in the job, from 0
  Index query = 0, key = 0;  ///< positions in the document
  using Around = std::array<std::string, 2 * tokens_around + 1>;
  Around query_token, key_token;  ///< texts of the tokens at position - tokens_around ... ; "": outside the document
};

/// The pairs with the largest weights of every head, of one document or of several.
struct StrongestPairs {
  std::vector<std::vector<TokenPair>>
      of_head;  ///< (rows) lists, the largest weight first, strongest_pairs_kept at most

  /// Keeps the largest of both; ties go to the earlier document.
  void add(StrongestPairs&& next);
};

/// Finds the query-key pairs of a document with the largest attention weights, head by head.
///
///     the pairs (i, j) with the largest A[i, j], i and j in Pairs::without_sink                  (1)
///
/// Pairs with a special token or with the first token of the document are left out, since these draw attention that
/// has no better place, and so are pairs of weight 0. Ties go to the earlier query, then to the earlier key. No T x T
/// matrix is kept: a row is searched only if its largest weight exceeds the smallest kept.
class StrongestPairProbe : public Probe {
 public:
  /// @param document  the document that will be seen
  /// @param number    its number in the job
  /// @param kind      the kind of attention to look at; other kinds are ignored
  StrongestPairProbe(HeadGrid grid, const Document& document, Index number, AttentionKind kind = AttentionKind::self);

  using Probe::see;
  void see(const Tile& tile) override;

  /// Once all tiles have passed.
  [[nodiscard]] StrongestPairs taken() const;

 private:
  /// A pair as it is found.
  struct Found {
    float weight;
    Index query, key;
  };
  static void keep_largest(std::vector<Found>& strongest, const Eigen::Ref<const Eigen::RowVectorXf>& weights,
                           Index query, Index first_key);

  HeadGrid grid_;
  AttentionKind kind_;
  Index number_;
  std::vector<std::string> query_tokens_, key_tokens_;
  std::vector<bool> counted_queries_;
  std::vector<KeySpan> counted_keys_;          // as few spans as hold them
  std::vector<std::vector<Found>> strongest_;  // (rows)
};

/// Fields strongest_pairs/...
std::vector<Field> describe(const StrongestPairs& pairs, const HeadGrid& grid);

/// In a job: strongest_pairs/..., over all documents.
const AnalysisKind& strongest_pairs_analysis();

}  // namespace headwave
