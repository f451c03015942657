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
  if (linear.in_out)
    rows.leftCols(linear.d_in()) = linear.weight.transpose().cast<double>();
  else
    rows.leftCols(linear.d_in()) = linear.weight.cast<double>();
  if (!linear.bias.empty()) rows.rightCols(1) = linear.bias.cast<double>();
  return rows;
}

/// The projection whose channels are these, stored as it was.
void set_channel_rows(Linear& linear, const Matrix& rows, ChangedModel& changed) {
  const Matrix32 weight = rows.leftCols(rows.cols() - 1).cast<float>();
  linear.weight = changed.kept(linear.in_out ? Matrix32(weight.transpose()) : weight);
  if (!linear.bias.empty()) linear.bias = changed.kept(Vector32(rows.rightCols(1).cast<float>()));
}

/// @returns null where nothing turns
const RotaryTerm* rotation_of(const Stack& stack) {
  const RotaryTerm* term = stack.rotary();
  if (term != nullptr && term->options().channels > stack.block.d_head)
    throw ShapeError(fmt::format("rotary positions turn {} channels, but a head has {}", term->options().channels,
                                 stack.block.d_head));
  return term;
}

[[noreturn]] void refuse_unturned(const char* who, const Model& model) {
  const Stack& stack = model.stack;
  throw ShapeError(fmt::format(
      "{}: a {} has no rotary positions{}", who, model.family,
      stack.position_term != nullptr       ? fmt::format("; its positions are {}", stack.position_term->name())
      : !stack.embedding.positions.empty() ? "; its positions are a table, which re-aim and without-band change"
                                           : ""));
}

/// Equation (1) for one head.
void turn_head(Matrix& rows, Index first, const RotaryTerm& rotation, Index u) {
  const Vector angle = rotation.frequency(0) * -static_cast<double>(u);
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
  const RotaryTerm* rotation = rotation_of(stack);
  if (rotation == nullptr) refuse_unturned("turned", model);
  if (model.decoder && kind == AttentionKind::cross)
    throw ShapeError("turned: cross-attention has no positions to turn; name heads of self or causal");
  if (rotation->options().scaling == RotaryScaling::dynamic)
    throw ShapeError(
        "turned: dynamic scaling makes the frequencies depend on the length of a text; no turn moves a "
        "head by the same tokens in all");
  if (u == 0) throw ShapeError("turned: by 0 tokens; expected a shift, such as +2 or -1");
  for (auto head = heads.begin(); head != heads.end(); ++head) {
    require_head(stack, *head, "turned");
    if (std::find(heads.begin(), head, *head) != head)
      throw ShapeError(fmt::format("turned: {} is named twice", head_name(head->layer, head->head)));
  }
  for (Index layer = 0; layer < stack.layers(); ++layer) {
    if (std::none_of(heads.begin(), heads.end(), [&](const HeadName& head) { return head.layer == layer; })) continue;
    Linear& query = changed.attention_of(kind, layer).query;
    Matrix rows = channel_rows(query);
    for (const HeadName& head : heads)
      if (head.layer == layer) turn_head(rows, head.head * stack.block.d_head, *rotation, u);
    set_channel_rows(query, rows, changed);
  }
  return changed.taken();
}

Model without_pairs(const Model& model, Index first, Index last) {
  ChangedModel changed(model);
  bool turns = false;
  changed.change_stacks([&](Stack& stack) {
    const RotaryTerm* rotation = rotation_of(stack);
    if (rotation == nullptr) return;
    turns = true;
    const Index pairs = rotation->options().channels / 2;
    if (first < 0 || last < first || last >= pairs)
      throw ShapeError(fmt::format("without_pairs: {} to {} of {} pairs of channels; expected pairs within 0 to {}",
                                   first, last, pairs, pairs - 1));
    for (Block& block : stack.blocks) {
      if (block.self.query.empty()) continue;
      Matrix rows = channel_rows(block.self.query);
      for (Index head = 0; head < stack.block.heads; ++head)
        for (Index m = first; m <= last; ++m) {
          const auto [a, b] = channels_of(rotation->options(), m);
          rows.row(head * stack.block.d_head + a).setZero();
          rows.row(head * stack.block.d_head + b).setZero();
        }
      set_channel_rows(block.self.query, rows, changed);
    }
  });
  if (!turns) refuse_unturned("without_pairs", model);
  return changed.taken();
}

}  // namespace headwave
