#include "intervention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "../algebra/product.h"
#include "../algebra/thin_svd.h"
#include "../numbers/random.h"
#include "changed_model.h"
#include "layer_positions.h"
#include "trained_rows.h"

namespace headwave {

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

/// The part of every column at first <= f <= last cycles per rows of the table: projections on cosines and sines, which
/// are orthogonal over the rows.
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
    if (shuffles < 1) throw ShapeError(fmt::format("shuffled_words: {} shuffles, expected at least one", shuffles));
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
      throw ShapeError(fmt::format("positions_only: a {} has no position table; without words its input would be zero",
                                   model.family));
    WordTable& words = stack.embedding.words;
    words = zero_rows(changed.kept(Vector32(Vector32::Zero(words.cols()))), words.rows());
    if (Linear& last = stack.embedding.frames.second; !last.empty()) {  // gelu(0) is 0
      last.weight = zero_rows(changed.kept(Vector32(Vector32::Zero(last.d_in()))), last.weight.rows());
      last.bias = changed.kept(Vector32(Vector32::Zero(last.d_out())));
    }
    Linear& patches = stack.embedding.patches;
    if (patches.empty()) return;
    patches.weight = zero_rows(changed.kept(Vector32(Vector32::Zero(patches.d_in()))), patches.weight.rows());
    patches.bias = changed.kept(Vector32(Vector32::Zero(patches.d_out())));
    stack.embedding.opening = zero_rows(patches.bias, stack.embedding.opening.rows());
  });
  return changed.taken();
}

Model without_heads(const Model& model, const std::vector<HeadName>& heads, AttentionKind kind) {
  ChangedModel changed(model);
  const Stack& stack = changed.stack_of(kind);
  for (const HeadName& head : heads) {
    require_head(stack, head, "without_heads");
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
          fmt::format("without_band: {} to {} cycles per T = {} tokens, of a table of {} positions; expected a band "
                      "within 0 to {}",
                      first, last, tokens, rows, tokens / 2));
    // Equation (2), doubled to whole numbers: k from ceil((2 first - 1) R / 2T), and below (2 last + 1) R / 2T.
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
    require_head(model.stack, head, "re_aimed");
    const Matrix positions = layer_positions(model.stack, head.layer).topRows(trained);
    if (u == 0 || std::abs(u) >= positions.rows())
      throw ShapeError(fmt::format("re_aimed: by {} tokens with {} positions; expected a shift within them, not 0", u,
                                   positions.rows()));
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
    throw ShapeError(
        fmt::format("moved_text: a {} has no position table of which other rows could be read", model.family));
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

}  // namespace headwave
