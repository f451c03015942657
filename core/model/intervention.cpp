#include "intervention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../attention/position_term.h"
#include "../numbers/random.h"
#include "layer_positions.h"

namespace headwave {

ChangedModel::ChangedModel(const Model& before) : model_(before), storage_(std::make_shared<Storage>()) {
  storage_->before = before.storage;
}

Stack& ChangedModel::stack_of(AttentionKind kind) {
  return !model_.decoder || kind == AttentionKind::self ? model_.stack : *model_.decoder;
}

AttentionWeights& ChangedModel::attention_of(AttentionKind kind, Index layer) {
  require_in_memory(stack_of(kind));
  Block& block = stack_of(kind).blocks[static_cast<std::size_t>(layer)];
  return model_.decoder && kind == AttentionKind::cross ? block.cross : block.self;
}

MatrixView32 ChangedModel::kept(Matrix32 weights) {
  return storage_->matrices.emplace_back(std::move(weights));
}

VectorView32 ChangedModel::kept(Vector32 weights) {
  return storage_->vectors.emplace_back(std::move(weights));
}

Model ChangedModel::taken() {
  model_.storage = std::move(storage_);
  return std::move(model_);
}

void require_in_memory(const Stack& stack) {
  if (stack.store)
    throw ShapeError("interventions cannot change weights that are read layer by layer",
                     give("weights", "memory", "if they fit there"));
}

void require_head(const Stack& stack, const HeadName& head) {
  if (head.layer < 0 || head.layer >= stack.layers() || head.head < 0 || head.head >= stack.block.heads)
    throw ShapeError(fmt::format("there is no {}; the model has {} layers of {} heads (counted from 0)",
                                 head_name(head.layer, head.head), stack.layers(), stack.block.heads));
}

namespace {

/// A zero matrix that stores a single row: its stride is 0.
MatrixView32 zero_rows(const VectorView32& zero, Index rows) {
  return {zero.data(), rows, zero.size(), 0};
}

/// Replaces an output projection by a copy whose columns of one head are zero.
void silence(Linear& output, Index head, Index heads, ChangedModel& changed) {
  Matrix32 weight = output.weight;
  const Index width = output.d_in() / heads;
  weight.middleCols(head * width, width).setZero();
  output.weight = changed.kept(std::move(weight));
}

class ShuffledWords : public Source {
 public:
  ShuffledWords(std::unique_ptr<Source> source, std::uint64_t seed, Index shuffles)
      : source_(std::move(source)), seed_(seed), shuffles_(shuffles) {
    if (shuffles < 1) throw ShapeError(fmt::format("expected at least 1 shuffle of each document, found {}", shuffles));
  }

  [[nodiscard]] Index count() const override { return source_->count() * shuffles_; }
  [[nodiscard]] Index length(Index i) const override { return source_->length(i / shuffles_); }

  [[nodiscard]] Document document(Index i) const override {
    Document document = source_->document(i / shuffles_);
    if (document.ids.empty())
      throw ShapeError(fmt::format("{}: holds stored states, whose words cannot be shuffled; give text or token ids",
                                   document.name));
    document.name += fmt::format(", shuffle {}", i % shuffles_);
    shuffle(document, Random(seed_).stream(static_cast<std::uint64_t>(i)));
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    Attributes provenance = source_->provenance();
    provenance["shuffles"] = static_cast<std::int64_t>(shuffles_);
    provenance["shuffle_seed"] = static_cast<std::int64_t>(seed_);
    return provenance;
  }

 private:
  static void shuffle(TokenSequence& tokens, Random random) {
    std::vector<Index> places;
    for (Index i = 0; i < static_cast<Index>(tokens.ids.size()); ++i)
      if (!tokens.is_special(i)) places.push_back(i);
    std::vector<Index> from = places;
    random.shuffle(from);
    const TokenSequence before = tokens;
    for (std::size_t n = 0; n < places.size(); ++n) {
      const auto to = static_cast<std::size_t>(places[n]);
      const auto old = static_cast<std::size_t>(from[n]);
      tokens.ids[to] = before.ids[old];
      if (!tokens.tokens.empty()) tokens.tokens[to] = before.tokens[old];
    }
  }

  std::unique_ptr<Source> source_;
  std::uint64_t seed_;
  Index shuffles_;
};

/// Equation (3) for one head.
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

Model words_only(const Model& model) {
  ChangedModel changed(model);
  changed.change_stacks([&](Stack& stack) {
    stack.position_term = {};
    stack.others.position_term = {};
    stack.others.temperature = {};
    MatrixView32& positions = stack.embedding.positions;
    if (!positions.empty())
      positions = zero_rows(changed.kept(Vector32(Vector32::Zero(positions.cols()))), positions.rows());
  });
  return changed.taken();
}

Model positions_only(const Model& model) {
  ChangedModel changed(model);
  changed.change_stacks([&](Stack& stack) {
    if (stack.embedding.positions.empty())
      throw ShapeError(
          fmt::format("a {} model has no position table: without words its input would be zero", model.family));
    WordTable& words = stack.embedding.words;
    words = zero_rows(changed.kept(Vector32(Vector32::Zero(words.cols()))), words.rows());
  });
  return changed.taken();
}

Model without_heads(const Model& model, const std::vector<HeadName>& heads, AttentionKind kind) {
  ChangedModel changed(model);
  const Stack& stack = changed.stack_of(kind);
  for (const HeadName& head : heads) {
    require_head(stack, head);
    silence(changed.attention_of(kind, head.layer).output, head.head, stack.block.heads, changed);
  }
  return changed.taken();
}

Model moved_text(const Model& model, Index u, AttentionKind kind) {
  ChangedModel changed(model);
  MatrixView32& table = changed.stack_of(kind).embedding.positions;
  if (table.empty())
    throw ShapeError(fmt::format("a {} model has no position table whose rows could be moved", model.family));
  const Index trained = trained_rows(table).trained;
  Matrix32 rows(table.rows(), table.cols());
  for (Index n = 0; n < rows.rows(); ++n)
    rows.row(n) = table.row(std::clamp(n + u, Index{0}, (n < trained ? trained : rows.rows()) - 1));
  table = changed.kept(std::move(rows));
  return changed.taken();
}

std::unique_ptr<Source> shuffled_words(std::unique_ptr<Source> source, std::uint64_t seed, Index shuffles) {
  return std::make_unique<ShuffledWords>(std::move(source), seed, shuffles);
}

Matrix32 turned_queries(MatrixView32 query, const std::vector<Index>& heads, Index u, const RotaryTerm& rotation,
                        Index d_head) {
  const Index turned = rotation.options().first + rotation.options().channels;
  if (turned > d_head || d_head <= 0 || query.cols() % d_head != 0)
    throw ShapeError(fmt::format(
        "turned_queries: expected a head width that divides the {} columns of the queries and is at least {}, "
        "the channels up to the last that turns, found {}",
        query.cols(), turned, d_head));
  Matrix channels = query.transpose().cast<double>();
  const Vector frequency = rotation.frequency(query.rows());
  for (const Index head : heads) {
    if (head < 0 || (head + 1) * d_head > channels.rows())
      throw ShapeError(fmt::format("turned_queries: there is no head {} among {} heads (counted from 0)", head,
                                   query.cols() / d_head));
    turn_head(channels, head * d_head, rotation, frequency, u);
  }
  return channels.transpose().cast<float>();
}

}  // namespace headwave
