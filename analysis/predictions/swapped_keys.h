#pragma once

#include <cstdint>
#include <vector>

#include "../../core/attention/key_span.h"
#include "../../core/numbers/random.h"
#include "account_documents.h"

namespace headwave {

/// What is swapped: whole keys, or only what a token adds to the mean key of its place.
enum class SwappedPart : std::uint8_t { keys, contents };

struct SwappedKeysOptions {
  SwappedPart part = SwappedPart::keys;
  double temperature = 0.05;  ///< of the swaps' weights, in attention weight: ours
  Index queries = 128;        ///< of each document that are looked at, at most, evenly spread
  std::uint64_t seed = 1;
  int threads = 1;  ///< changes no digit
};

/// Two places whose keys are swapped.
struct KeySwap {
  Index a = 0, b = 0;
};

/// How far attention stays at its place, or moves with the token, when keys are swapped.
struct SwapScores {
  double positional = not_defined, symbolic = not_defined;  ///< in 0 .. 1; NaN: no swap says anything
};

/// Scores of one query. A are its attention weights, A' the same after the swaps:
///
///     v = (A_a, A_b),  v' = (A'_a, A'_b),  w = softmax over swaps of |A_a - A_b| / temperature     (1)
///     positional = sum over swaps of w cos(v', v),  symbolic = sum of w cos(v', (A_b, A_a))         (2)
///
/// Attention that stays at its place has positional 1; attention that moves with the token has symbolic 1;
/// uniform attention has both. Keys that the query may not look at, and pairs without any weight, are left
/// out.
///
/// All swaps are made at once: other keys change both entries of v' by one factor, which no cosine sees.
///
/// Source: Urrutia et al. 2026, section 3, where blocks of tokens are swapped; here a block is one token.
/// @param before  (n)  A
/// @param after   (n)  A'
/// @param open    keys that the query may look at
SwapScores swap_scores(VectorView32 before, VectorView32 after, const std::vector<KeySwap>& swaps, KeySpan open,
                       double temperature);

/// Every free place with another one, at random; of an odd number one stays.
/// @param stays  (n)  1: never moves
std::vector<KeySwap> random_swaps(const std::vector<std::uint8_t>& stays, Random& random);

/// Positional and symbolic scores of every head: equation (2), means over queries, then over documents.
struct SwappedKeys {
  Vector positional, symbolic;  ///< (rows)  NaN: no document, or, of contents, fewer than two documents
  Index documents = 0;          ///< whose keys were swapped
};

/// Swaps keys before a rotary term turns them, so that the place stays and the token moves, and attends as
/// the model does, with every mask and position term. In a model with a position table the key itself holds
/// its place and would carry it along: every head would be symbolic. There SwappedPart::contents swaps
/// d^K = k - m^K (head_account.h), with the mean keys of the other half of the documents. That is ours, after
/// the paper's idea; the paper is about rotary models.
///
/// Special tokens and the first token stay, and are no queries. Only documents kept whole
/// (AccountHalf::to_deal) count.
SwappedKeys swapped_keys(const AccountSums& sums, const AccountSite& site, const SwappedKeysOptions& options = {});

}  // namespace headwave
