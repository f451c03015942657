#pragma once

// What a position term does within attend(), which alone includes this.

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "../algebra/product.h"
#include "attend.h"
#include "disentangled_term.h"
#include "rotary_term.h"

namespace headwave {

/// Equation (1) of DisentangledTerm, for tiles of scores.
template <class Scalar>
class Compared {
 public:
  /// @param reach  of the furthest offset
  Compared(const HeadInputs<Scalar>& inputs, Index reach) : inputs_(inputs), reach_(reach) {
    for (Index t = -reach; t <= reach; ++t) rows_.push_back(inputs.position_term.compared->row(t));
  }

  /// Adds to the scores of query rows first, first + 1, ..., key block by key block: a block meets few of the rows.
  /// @param query  (rows, d_head) of the head, scaled
  template <class Scores>
  void add(Index head, Index first, const MatrixOf<Scalar>& query, Scores scores) const {
    const Index d = query.cols(), shared = inputs_.key_head(head);
    constexpr Index keys_at_once = 64;
    for (Index at = 0; at < scores.cols(); at += keys_at_once) {
      auto block = scores.middleCols(at, std::min(keys_at_once, scores.cols() - at));
      const Index low = row(at + block.cols() - 1 - first), high = row(at - first - block.rows() + 1);
      const auto rows_of = [&](const MatrixViewOf<Scalar>& all) { return all.block(low, head * d, high - low + 1, d); };
      MatrixOf<Scalar> seen;
      if (!inputs_.position_key.empty()) {
        seen = product(query, rows_of(inputs_.position_key).transpose());
        for (Index i = 0; i < block.rows(); ++i)
          for (Index j = 0; j < block.cols(); ++j) block(i, j) += seen(i, row(at + j - first - i) - low);
      }
      if (!inputs_.position_query.empty()) {
        const MatrixOf<Scalar> key =
            inputs_.key.block(at, shared * d, block.cols(), d) * static_cast<Scalar>(inputs_.scale);
        seen = product(rows_of(inputs_.position_query), key.transpose());
        for (Index i = 0; i < block.rows(); ++i)
          for (Index j = 0; j < block.cols(); ++j) block(i, j) += seen(row(at + j - first - i) - low, j);
      }
    }
  }

 private:
  [[nodiscard]] Index row(Index offset) const { return rows_[static_cast<std::size_t>(offset + reach_)]; }

  const HeadInputs<Scalar>& inputs_;  // of the same Positioned
  std::vector<Index> rows_;           // (2 reach + 1)
  Index reach_;
};

/// Queries and keys turned by a rotary term, or the biases an additive term gives to every offset.
template <class Scalar>
class Positioned {
 public:
  explicit Positioned(const HeadInputs<Scalar>& inputs) : inputs_(inputs) {
    const PositionTerm& term = inputs.position_term;
    reach_ = std::max(inputs.query.rows(), inputs.key.rows()) - 1;
    bias_ = inputs.added;
    if (term.compared) compared_.emplace(inputs_, reach_);
    if (term.turned) {
      query_ = inputs.query;
      key_ = inputs.key;
      const Index d_head = inputs.query.cols() / inputs.heads;
      term.turned->turn(query_, d_head);
      term.turned->turn(key_, d_head);
      inputs_.query = query_;
      inputs_.key = key_;
    }
    if (!term.added) return;
    if (bias_.size() == 0) bias_ = MatrixOf<Scalar>::Zero(inputs.heads, 2 * reach_ + 1);
    for (Index head = 0; head < inputs.heads; ++head)
      bias_.row(head) += term.added->kernel(head, reach_).template cast<Scalar>().transpose();
  }

  [[nodiscard]] const HeadInputs<Scalar>& inputs() const { return inputs_; }

  /// Shows queries and keys, rounded to float, to the probes that want them.
  void show(const HeadInputs<Scalar>& given, const AttentionSite& site, std::span<Probe* const> probes) const {
    if (std::none_of(probes.begin(), probes.end(), [](const Probe* p) { return p->wants_projections(); })) return;
    const Matrix32 query = given.query.template cast<float>(), key = given.key.template cast<float>();
    const bool turns = query_.size() > 0;
    const Matrix32 turned_query = query_.template cast<float>(), turned_key = key_.template cast<float>();
    const LayerProjections shown{
        site.layer, site.kind, query, key, turns ? turned_query : query, turns ? turned_key : key, site.document};
    for (Probe* probe : probes)
      if (probe->wants_projections()) probe->see(shown);
  }

  /// Adds what the term gives one head to the scores of query rows first, first + 1, ...
  /// @param query  (rows, d_head) scaled
  template <class Scores>
  void add_term(Index head, Index first, const MatrixOf<Scalar>& query, Scores scores) const {
    if (compared_) compared_->add(head, first, query, scores);
    if (bias_.size() == 0) return;
    for (Index i = 0; i < scores.rows(); ++i)
      scores.row(i) += bias_.row(head).segment(reach_ - first - i, scores.cols());
  }

 private:
  HeadInputs<Scalar> inputs_;
  MatrixOf<Scalar> query_, key_;
  MatrixOf<Scalar> bias_;  // (heads, 2 reach + 1)
  std::optional<Compared<Scalar>> compared_;
  Index reach_ = 0;
};

}  // namespace headwave
