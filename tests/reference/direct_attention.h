#pragma once

// Attention written out entry by entry: slow, and plain enough to be believed.

#include <cmath>
#include <limits>

#include "../../core/attention/attend.h"
#include "multi_head.h"

namespace headwave::reference {

inline Attention direct_attention(const HeadInputs<double>& in, const Mask<double>& mask) {
  const Index n_query = in.query.rows(), n_key = in.key.rows();
  const Index d_head = in.query.cols() / in.heads, d_value = in.value.cols() / in.kv_heads;
  Attention result{Matrix::Zero(n_query, in.heads * d_value), {}, {}};
  for (Index h = 0; h < in.heads; ++h) {
    const Index shared = h / (in.heads / in.kv_heads);
    Matrix weights = Matrix::Zero(n_query, n_key);
    for (Index i = 0; i < n_query; ++i) {
      double total = 0.0, top = -std::numeric_limits<double>::infinity();
      if (!in.sinks.empty()) top = in.sinks[h];
      for (const bool sum : {false, true})
        for (Index j = 0; j < n_key; ++j) {
          if (mask.causal && j > i) continue;
          if (mask.chunk > 0 && j / mask.chunk != i / mask.chunk) continue;
          double score = 0.0;
          for (Index c = 0; c < d_head; ++c) score += in.query(i, h * d_head + c) * in.key(j, shared * d_head + c);
          score = in.scale * score + (mask.additive.empty() ? 0.0 : mask.additive(i, j));
          if (!sum)
            top = std::max(top, score);
          else if (top > -std::numeric_limits<double>::infinity())
            total += weights(i, j) = std::exp(score - top);
        }
      if (!in.sinks.empty()) total += std::exp(in.sinks[h] - top);
      if (total > 0) weights.row(i) /= total;
      for (Index j = 0; j < n_key; ++j)
        for (Index c = 0; c < d_value; ++c)
          result.output(i, h * d_value + c) += weights(i, j) * in.value(j, shared * d_value + c);
    }
    result.weights.push_back(weights);
  }
  return result;
}

}  // namespace headwave::reference
