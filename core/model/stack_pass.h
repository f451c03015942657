#pragma once

#include <span>

#include "../attention/document.h"
#include "../attention/finished_attention.h"
#include "../attention/probe.h"
#include "model.h"

namespace headwave {

/// A document on its way through one stack, block by block, probes looking on. Whatever it refers to outlives it.
class StackPass {
 public:
  /// @param memory  the encoder's final states, for a decoder that reads them
  StackPass(const Stack& stack, const Document& document, std::span<Probe* const> probes, MatrixView32 memory);

  /// One block in place.
  /// @param x  (T, d_model)
  /// @param needed  whether anybody wants what follows its attention
  void apply_block(Index layer, const Block& block, bool needed, Matrix32& x) const;

  /// Attention within the sequence, over queries and keys that are ready.
  /// @param weights  what the layer holds queries and keys against beside each other, where it does
  /// @returns (T, heads * d_head)
  /// @throws ShapeError as attend()
  Matrix32 attend_self(Index layer, const AttentionWeights& weights, MatrixView32 query, MatrixView32 key,
                       MatrixView32 value) const;

  /// The same from the states that enter it.
  /// @returns (T, d_model) what W_O makes of it, if needed
  /// @throws ShapeError also if keys are fixed at fewer positions than the document has
  [[nodiscard]] Matrix32 self_attention(Index layer, const AttentionWeights& weights, const Matrix32& input,
                                        bool needed) const;

  /// Attention that needs no queries and keys any more.
  /// @throws ShapeError if it has other heads than the stack
  void show_finished(Index layer, const FinishedAttention& attention) const;

  /// @param weights  what projects the states; null: not known
  void show_input(Index layer, AttentionKind kind, MatrixView32 states,
                  const AttentionWeights* weights = nullptr) const;

  [[nodiscard]] AttentionKind self_kind() const { return spec_.causal ? AttentionKind::causal : AttentionKind::self; }

 private:
  template <class Sublayer>
  void add_sublayer(const Norm& norm, const Norm& added_norm, Matrix32& x, const Sublayer& f) const;
  void add(Matrix32 change, const Norm& added_norm, Matrix32& x) const;
  [[nodiscard]] Matrix32 cross_attention(Index layer, const AttentionWeights& weights, const Matrix32& input,
                                         bool needed) const;
  /// Whether somebody wants values, and there are any: a checkpoint may hold queries and keys alone.
  [[nodiscard]] bool shows(const AttentionWeights& weights) const { return wants_values_ && !weights.value.empty(); }
  void show_addition(Index layer, Sublayer sublayer, MatrixView32 added, VectorView32 bias) const;
  void show_values(Index layer, AttentionKind kind, const AttentionWeights& weights, MatrixView32 values) const;
  void show_heads(Index layer, AttentionKind kind, const AttentionWeights& weights, MatrixView32 outputs) const;

  const Stack& stack_;
  const BlockSpec& spec_;
  const Document& document_;
  std::span<Probe* const> probes_;
  MatrixView32 memory_;
  bool wants_values_;
};

}  // namespace headwave
