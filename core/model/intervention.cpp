#include "intervention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../algebra/decompositions.h"
#include "../algebra/product.h"
#include "../attention/position_term.h"
#include "../attention/probe.h"
#include "../numbers/random.h"
#include "../process/threads.h"
#include "layer_positions.h"
#include "model_pass.h"

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
    throw ShapeError("weights that are read layer by layer cannot be changed",
                     give("weights", "memory", "if they fit there"));
}

void require_head(const Stack& stack, const HeadName& head) {
  if (head.layer < 0 || head.layer >= stack.layers() || head.head < 0 || head.head >= stack.block.heads)
    throw ShapeError(fmt::format("there is no {}; the model has {} layers of {} heads",
                                 head_name(head.layer, head.head), stack.layers(), stack.block.heads));
}

namespace {

/// Rows that are all the same zero row in memory.
MatrixView32 zero_rows(const VectorView32& zero, Index rows) {
  return {zero.data(), rows, zero.size(), 0};
}

/// A copy of the output projection in which nothing of the head is left.
void silence(Linear& output, Index head, Index heads, ChangedModel& changed) {
  Matrix32 weight = output.weight;
  const Index width = output.d_in() / heads;
  weight.middleCols(head * width, width).setZero();
  output.weight = changed.kept(std::move(weight));
}

/// The part of every column at first <= f <= last cycles per rows of the table: projections on cosines and
/// sines, which are orthogonal over the rows.
Matrix band_of(const Matrix& table, Index first, Index last) {
  const Index length = table.rows();
  Matrix band = Matrix::Zero(length, table.cols());
  const Vector n = Vector::LinSpaced(length, 0.0, static_cast<double>(length - 1));
  for (Index f = first; f <= last; ++f) {
    const double w = 2 * std::numbers::pi * static_cast<double>(f) / static_cast<double>(length);
    for (const Vector& wave : {Vector((w * n).array().cos()), Vector((w * n).array().sin())}) {
      const double norm = wave.squaredNorm();
      // The sine of f = 0 and of f = T/2 is nothing but rounding.
      if (norm > 1e-6) band += wave * (product(wave.transpose(), table) / norm);
    }
  }
  return band;
}

/// T_u W: the columns that give at position n what W gives at n + u, of least norm.
Matrix shifted(const Matrix& positions, const Matrix& columns, Index u) {
  const Index rows = positions.rows() - std::abs(u);
  const Matrix there = u > 0 ? positions.bottomRows(rows) : positions.topRows(rows);
  const ThinSvd here = thin_svd(u > 0 ? positions.topRows(rows) : positions.bottomRows(rows));
  // The table is float32: what lies below its resolution is noise, whose inverse would drown everything.
  const double noise = static_cast<double>(std::numeric_limits<float>::epsilon()) *
                       static_cast<double>(std::max(here.u.rows(), here.v.rows())) * here.s[0];
  const auto rank = static_cast<Index>((here.s.array() > noise).count());
  const Matrix along = here.s.head(rank).cwiseInverse().asDiagonal() *
                       product(here.u.leftCols(rank).transpose(), product(there, columns));
  return product(here.v.leftCols(rank), along);
}

class ShuffledWords : public Source {
 public:
  ShuffledWords(std::unique_ptr<Source> source, std::uint64_t seed, Index shuffles)
      : source_(std::move(source)), seed_(seed), shuffles_(shuffles) {
    if (shuffles < 1) throw ShapeError(fmt::format("{} shuffles, expected at least one", shuffles));
  }

  [[nodiscard]] Index count() const override { return source_->count() * shuffles_; }
  [[nodiscard]] Index length(Index i) const override { return source_->length(i / shuffles_); }

  [[nodiscard]] Document document(Index i) const override {
    Document document = source_->document(i / shuffles_);
    if (document.ids.empty())
      throw ShapeError(fmt::format("{}: only states are stored, whose words cannot be shuffled", document.name));
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
      throw ShapeError(fmt::format("a {} has no position table; without words its input would be zero", model.family));
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

Model without_band(const Model& model, Index first, Index last, Index length) {
  ChangedModel changed(model);
  changed.change_stacks([&](Stack& stack) {
    const Matrix table = stack.embedding.positions.cast<double>();
    const Index rows = table.rows(), tokens = length > 0 ? length : rows;
    if (rows == 0 || tokens > rows || first < 0 || last < first || last > tokens / 2)
      throw ShapeError(
          fmt::format("{} to {} cycles per T = {} tokens, of a table of {} positions; expected a band "
                      "within 0 to {}",
                      first, last, tokens, rows, tokens / 2));
    // Equation (2), doubled to whole numbers: k from ceil((2 first - 1) R / 2T), and below (2 last + 1) R /
    // 2T.
    const auto from = [&](Index halves) { return (std::max<Index>(halves, 0) * rows + 2 * tokens - 1) / (2 * tokens); };
    const Index lowest = from(2 * first - 1), highest = std::min(from(2 * last + 1) - 1, rows / 2);
    stack.embedding.positions = changed.kept(Matrix32((table - band_of(table, lowest, highest)).cast<float>()));
  });
  return changed.taken();
}

Model re_aimed(const Model& model, const std::vector<HeadName>& heads, Index u) {
  ChangedModel changed(model);
  const BlockSpec& block = model.stack.block;
  const Index trained = trained_rows(model.stack.embedding.positions).trained;
  for (const HeadName& head : heads) {
    require_head(model.stack, head);
    const Matrix positions = layer_positions(model.stack, head.layer).topRows(trained);
    if (u == 0 || std::abs(u) >= positions.rows())
      throw ShapeError(
          fmt::format("by {} tokens with {} positions; expected a shift within them, not 0", u, positions.rows()));
    Linear& key = changed.attention_of(AttentionKind::self, head.layer).key;
    const Index first = block.key_head(head.head) * block.d_head;
    Matrix32 weight = key.weight;
    const Matrix columns = weight.middleRows(first, block.d_head).transpose().cast<double>();
    weight.middleRows(first, block.d_head) = shifted(positions, columns, u).cast<float>().transpose();
    key.weight = changed.kept(std::move(weight));
  }
  return changed.taken();
}

Model moved_text(const Model& model, Index u, AttentionKind kind) {
  ChangedModel changed(model);
  MatrixView32& table = changed.stack_of(kind).embedding.positions;
  if (table.empty())
    throw ShapeError(fmt::format("a {} has no position table of which other rows could be read", model.family));
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

[[noreturn]] void refuse_unturned(const Model& model) {
  const Stack& stack = model.stack;
  throw ShapeError(fmt::format("a {} has no rotary positions{}", model.family,
                               stack.position_term ? fmt::format("; its positions are {}", stack.position_term.name())
                               : !stack.embedding.positions.empty()
                                   ? "; its positions are a table, which re-aim and without-band change"
                                   : ""));
}

/// Equation (5) for one head.
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
  if (stack.rotary() == nullptr) refuse_unturned(model);
  if (model.decoder && kind == AttentionKind::cross)
    throw ShapeError("cross-attention has no positions to turn; name heads of self or causal");
  if (stack.normalises_heads())
    throw ShapeError("queries are normalised channel by channel after W_Q: no change of it turns them");
  if (stack.rotary()->options().follows_length())
    throw ShapeError(
        "dynamic scaling and longrope make the frequencies depend on the length of a text; no turn moves a "
        "head by the same tokens in all");
  if (u == 0) throw ShapeError("by 0 tokens; expected a shift, such as +2 or -1");
  for (auto head = heads.begin(); head != heads.end(); ++head) {
    require_head(stack, *head);
    if (rotation_of(stack, head->layer) == nullptr)
      throw ShapeError(fmt::format("layer {} has no rotary positions; others have", head->layer));
    if (std::find(heads.begin(), head, *head) != head)
      throw ShapeError(fmt::format("{} is named twice", head_name(head->layer, head->head)));
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
      throw ShapeError(fmt::format("{} to {} of {} pairs of channels; expected pairs within 0 to {}", first, last,
                                   pairs, pairs - 1));
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
      if (self.query_norm.empty()) {
        set_channel_rows(self.query, rows, changed);
        continue;
      }
      const Vector32 scale = rows.col(0).cast<float>();
      if (!self.query_norm.shift.empty())
        self.query_norm.shift = changed.kept(Vector32((scale.array() == 0).select(0.0F, self.query_norm.shift)));
      self.query_norm.scale = changed.kept(scale);
    }
  });
  if (!turns) refuse_unturned(model);
  return changed.taken();
}

namespace {

/// A key head of one layer.
struct KeyHead {
  Index layer, head;
  auto operator<=>(const KeyHead&) const = default;
};

using Keys = std::map<KeyHead, Matrix32>;

/// Keeps the keys of some heads of one document.
class KeyProbe : public Probe {
 public:
  /// @param keys  heads that are looked at; takes their (T, d_head)
  KeyProbe(AttentionKind kind, Index d_head, Keys& keys) : kind_(kind), d_head_(d_head), keys_(keys) {}

  [[nodiscard]] bool wants_projections() const override { return true; }
  using Probe::see;
  void see(const LayerProjections& projections) override {
    if (projections.kind != kind_) return;
    for (auto& [head, keys] : keys_)
      if (head.layer == projections.layer) keys = projections.key.middleCols(head.head * d_head_, d_head_);
  }
  void see(const Tile& /*tile*/) override {}

 private:
  AttentionKind kind_;
  Index d_head_;
  Keys& keys_;
};

/// Keys of one head summed over documents, and how many documents reach a position.
struct KeySum {
  Matrix sum;
  Vector documents;

  void add(const Matrix32& keys) {
    if (const Index before = sum.rows(); keys.rows() > before) {
      sum.conservativeResize(keys.rows(), keys.cols());
      sum.bottomRows(keys.rows() - before).setZero();
      documents.conservativeResize(keys.rows());
      documents.tail(keys.rows() - before).setZero();
    }
    sum.topRows(keys.rows()) += keys.cast<double>();
    documents.head(keys.rows()).array() += 1;
  }
  [[nodiscard]] Matrix32 mean() const { return (sum.array().colwise() / documents.array()).cast<float>(); }
};

/// The key heads that these heads read.
Keys key_heads(const Stack& stack, const std::vector<HeadName>& heads) {
  const Index group = stack.block.heads / stack.block.kv_heads;
  Keys keys;
  for (const HeadName& head : heads) {
    require_head(stack, head);
    const KeyHead read{head.layer, head.head / group};
    std::string all, others;
    for (Index sharing = read.head * group; sharing < (read.head + 1) * group; ++sharing) {
      const HeadName other{head.layer, sharing};
      const std::string name = head_name(other.layer, other.head);
      all += (all.empty() ? "" : ",") + name;
      if (std::find(heads.begin(), heads.end(), other) == heads.end()) others += (others.empty() ? "" : ", ") + name;
    }
    if (!others.empty())
      throw ShapeError(fmt::format("{} reads the same keys as {}; name all of them: {}",
                                   head_name(head.layer, head.head), others, all));
    keys[read] = {};
  }
  return keys;
}

}  // namespace

Model mean_keys(const Model& model, const Source& documents, const std::vector<HeadName>& heads,
                const MeanKeysOptions& options) {
  ChangedModel changed(model);
  const Stack& stack = changed.stack_of(options.kind);
  const Keys wanted = key_heads(stack, heads);
  if (documents.count() < 2) throw ShapeError("the mean over a single document is its own key; give two or more");
  const AttentionKind kind = model.decoder ? options.kind : model.kinds().front();
  std::map<KeyHead, KeySum> sums;
  parallel_in_order(documents.count(), thread_count(options.threads), [&](Index i) -> std::function<void()> {
    Keys keys = wanted;
    KeyProbe probe(kind, stack.block.d_head, keys);
    const std::array<Probe*, 1> probes{&probe};
    model_pass(model, documents.document(i), probes);
    return [&sums, keys = std::move(keys)] {
      for (const auto& [head, of_document] : keys)
        if (of_document.size() > 0) sums[head].add(of_document);
    };
  });
  for (const auto& [head, nothing] : wanted) {
    const auto found = sums.find(head);
    if (found == sums.end())
      throw ShapeError(fmt::format("no document has keys of layer {}; was it stored?", head.layer));
    changed.attention_of(options.kind, head.layer)
        .fixed_keys.push_back({head.head, changed.kept(found->second.mean())});
  }
  return changed.taken();
}

}  // namespace headwave
