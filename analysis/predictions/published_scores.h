#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "../../core/fields/field.h"
#include "../attention/offset_trace.h"
#include "../pass/analysis_kind.h"
#include "swapped_keys.h"
#include "vector_scores.h"

namespace headwave {

struct PublishedScoreOptions {
  SwappedKeysOptions swapped;
  double massive = 5;  ///< a channel is massive from so many times the mean channel on
};

/// What others have published about heads, from the documents of the account (head_account.h), to compare
/// with it; the slash score alone from documents of every length.
///
/// Positional and symbolic scores: swapped_keys.h. Rank-one share, mean resultant length and massive values
/// of queries and keys: vector_scores.h. Average slash score, the largest mean weight along a diagonal:
///
///     slash_score = max over |t| <= reach of the mean over documents of 1/(T-|t|) sum_i A[i, i+t]       (1)
///
/// It is published for t <= 0 under a causal mask; where there is none, t > 0 counts too. It is the weight
/// of measured_offset over all pairs. The first token and special tokens count as any other, as published;
/// swaps alone leave them where they are.
///
/// Source: Urrutia et al. 2026, arXiv:2511.11579; Cheng et al. 2026, arXiv:2601.08297 (1, rank-one share);
/// Mao et al. 2026, arXiv:2604.04921; Jin et al. 2025, arXiv:2502.01563.
struct PublishedScores {
  HeadGrid grid;
  PublishedScoreOptions options;
  Index documents = 0;
  SwappedKeys swapped;
  Index reach = 0;
  Vector slash_score, slash_offset;  ///< (rows)  NaN: no pair
  VectorScores query, key;
  bool turns = false;  ///< whether any layer turns its queries and keys
};

/// Sets equation (1).
/// @param reach  in tokens
void set_slash_scores(PublishedScores& scores, const OffsetTraces& traces, Index reach, bool causal);

/// Fields published_scores/... Without rotary positions there is no resultant length of pairs.
std::vector<Field> describe(const PublishedScores& scores);

/// In a job, only where it is asked for by name: published_scores/...
const AnalysisKind& published_scores_analysis();

}  // namespace headwave
