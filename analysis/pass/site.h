#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/fields/head_name.h"

namespace headwave {

/// One kind of attention of a job, and its heads.
struct Site {
  AttentionKind kind = AttentionKind::self;
  HeadGrid grid;
  Index length = 0;  ///< T of the wave chain, the most common document length; in cross-attention, that of queries
  std::vector<Index> numbers;  ///< (all documents)  number among the documents of length T, from 0; -1: another length
  Index documents = 0;         ///< number of documents of length T
  std::string no_chain;        ///< why the wave chain cannot be followed here; otherwise empty
  std::string no_projections;  ///< why there are no queries, keys and scores here; otherwise empty
  Index key_length = 0;        ///< T; in cross-attention, the key length of the most common pair of lengths
  std::string only_sums = {};  ///< why only sums over documents exist, but no single documents; otherwise empty

  [[nodiscard]] Index longer() const { return std::max(length, key_length); }
  /// Number of the job's document i among those of length T; -1: another length.
  [[nodiscard]] Index number_of(Index i) const { return numbers[static_cast<std::size_t>(i)]; }
};

}  // namespace headwave
