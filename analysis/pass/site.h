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
  Index length = 0;            ///< T of the wave chain: the most common length; of two sequences the query length
  std::vector<Index> numbers;  ///< (documents) which of those documents each one is, from 0; -1: of another length
  Index documents = 0;         ///< how many there are
  std::string no_chain;        ///< why the wave chain cannot be followed here; otherwise empty
  std::string no_projections;  ///< why there are no queries, keys and scores here; otherwise empty
  Index key_length = 0;        ///< T but in cross-attention, where lengths of queries and keys count in pairs
  std::string only_sums = {};  ///< why no document can be looked at, only sums over documents; otherwise empty

  [[nodiscard]] Index longer() const { return std::max(length, key_length); }
  /// Number of the job's document i among the documents of length T, from 0; -1: it has another length.
  [[nodiscard]] Index number_of(Index i) const { return numbers[static_cast<std::size_t>(i)]; }
};

}  // namespace headwave
