#include "rotary_intervention.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../attention/rotary_term.h"
#include "changed_model.h"

namespace headwave {

namespace {

/// What every channel of a projection reads of its input, and its bias: a row (W, b) for each.
Matrix channel_rows(const Linear& linear) {
  Matrix rows = Matrix::Zero(linear.d_out(), linear.d_in() + 1);
  rows.leftCols(linear.d_in()) = linear.weight.cast<double>();
  if (!linear.bias.empty()) rows.rightCols(1) = linear.bias.cast<double>();
  return rows;
}

/// Gives a projection these channels.
void set_channel_rows(Linear& linear, const Matrix& rows, ChangedModel& changed) {
  linear.weight = changed.kept(Matrix32(rows.leftCols(rows.cols() - 1).cast<float>()));
  if (!linear.bias.empty()) linear.bias = changed.kept(Vector32(rows.rightCols(1).cast<float>()));
}

/// @returns null where the layer turns nothing
const RotaryTerm* rotation_of(const Stack& stack, Index layer) {
  const RotaryTerm* term = stack.rotary(layer);
  if (term != nullptr && term->options().channels > stack.block.d_head)
    throw ShapeError(fmt::format("rotary positions turn {} channels, but a head has {}", term->options().channels,
                                 stack.block.d_head));
  return term;
}

[[noreturn]] void refuse_unturned(const char* who, const Model& model) {
  const Stack& stack = model.stack;
  throw ShapeError(fmt::format("{}: a {} has no rotary positions{}", who, model.family,
                               stack.position_term ? fmt::format("; its positions are {}", stack.position_term.name())
                               : !stack.embedding.positions.empty()
                                   ? "; its positions are a table, which re-aim and without-band change"
                                   : ""));
}

/// Equation (1) for one head.
/// @param frequency  radians per token
void turn_head(Matrix& rows, Index first, const RotaryTerm& rotation, const Vector& frequency, Index u) {
  const Vector angle = frequency * -static_cast<double>(u);
  for (Index m = 0; m < angle.size(); ++m) {
    const auto [a, b] = channels_of(rotation.options(), m);
    const double cosine = std::cos(angle[m]), sine = std::sin(angle[m]);
    const Eigen::RowVectorXd before = rows.row(first + a);
    rows.row(first + a) = cosine * before - sine * rows.row(first + b);
    rows.row(first + b) = cosine * rows.row(first + b) + sine * before;
  }
}

}  // namespace

Model turned(const Model& model, const std::vector<HeadName>& heads, Index u, AttentionKind kind) {
  ChangedModel changed(model);
  const Stack& stack = changed.stack_of(kind);
  if (stack.rotary() == nullptr) refuse_unturned("turned", model);
  if (model.decoder && kind == AttentionKind::cross)
    throw ShapeError("turned: cross-attention has no positions to turn; name heads of self or causal");
  if (stack.normalises_heads())
    throw ShapeError("turned: queries are normalised channel by channel after W_Q: no change of it turns them");
  if (stack.rotary()->options().scaling == RotaryScaling::dynamic)
    throw ShapeError(
        "turned: dynamic scaling makes the frequencies depend on the length of a text; no turn moves a "
        "head by the same tokens in all");
  if (u == 0) throw ShapeError("turned: by 0 tokens; expected a shift, such as +2 or -1");
  for (auto head = heads.begin(); head != heads.end(); ++head) {
    require_head(stack, *head, "turned");
    if (rotation_of(stack, head->layer) == nullptr)
      throw ShapeError(fmt::format("turned: layer {} has no rotary positions; others have", head->layer));
    if (std::find(heads.begin(), head, *head) != head)
      throw ShapeError(fmt::format("turned: {} is named twice", head_name(head->layer, head->head)));
  }
  for (Index layer = 0; layer < stack.layers(); ++layer) {
    if (std::none_of(heads.begin(), heads.end(), [&](const HeadName& head) { return head.layer == layer; })) continue;
    Linear& query = changed.attention_of(kind, layer).query;
    Matrix rows = channel_rows(query);
    for (const HeadName& head : heads)
      if (head.layer == layer)
        turn_head(rows, head.head * stack.block.d_head, *stack.rotary(layer), stack.rotary(layer)->frequency(0), u);
    set_channel_rows(query, rows, changed);
  }
  return changed.taken();
}

Matrix32 turned_queries(MatrixView32 query, const std::vector<Index>& heads, Index u, const RotaryTerm& rotation,
                        Index d_head) {
  if (rotation.options().channels > d_head || d_head <= 0 || query.cols() % d_head != 0)
    throw ShapeError(
        fmt::format("turned_queries: queries of {} columns and a rotation of {} channels; expected heads of {}",
                    query.cols(), rotation.options().channels, d_head));
  Matrix channels = query.transpose().cast<double>();
  const Vector frequency = rotation.frequency(query.rows());
  for (const Index head : heads) {
    if (head < 0 || (head + 1) * d_head > channels.rows())
      throw ShapeError(fmt::format("turned_queries: there is no head {} among {}", head, query.cols() / d_head));
    turn_head(channels, head * d_head, rotation, frequency, u);
  }
  return channels.transpose().cast<float>();
}

Model without_pairs(const Model& model, Index first, Index last) {
  ChangedModel changed(model);
  bool turns = false;
  changed.change_stacks([&](Stack& stack) {
    if (stack.rotary() == nullptr) return;
    turns = true;
    require_in_memory(stack);
    const Index pairs = stack.rotary()->options().channels / 2;
    if (first < 0 || last < first || last >= pairs)
      throw ShapeError(fmt::format("without_pairs: {} to {} of {} pairs of channels; expected pairs within 0 to {}",
                                   first, last, pairs, pairs - 1));
    for (Index layer = 0; layer < stack.layers(); ++layer) {
      AttentionWeights& self = stack.blocks[static_cast<std::size_t>(layer)].self;
      const RotaryTerm* rotation = rotation_of(stack, layer);
      if (self.query.empty() || rotation == nullptr) continue;
      // What is normalised is silenced by the norm's scale: without these channels it would be another norm.
      Matrix rows = self.query_norm.empty() ? channel_rows(self.query) : Matrix(self.query_norm.scale.cast<double>());
      for (Index at = 0; at < rows.rows(); at += stack.block.d_head)
        for (Index m = first; m <= last; ++m) {
          const auto [a, b] = channels_of(rotation->options(), m);
          rows.row(at + a).setZero();
          rows.row(at + b).setZero();
        }
      if (self.query_norm.empty())
        set_channel_rows(self.query, rows, changed);
      else
        self.query_norm.scale = changed.kept(Vector32(rows.col(0).cast<float>()));
    }
  });
  if (!turns) refuse_unturned("without_pairs", model);
  return changed.taken();
}

}  // namespace headwave
