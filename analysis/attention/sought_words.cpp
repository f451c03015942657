#include "sought_words.h"

#include <array>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/model/head_weights.h"
#include "../../core/model/layer_positions.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/largest_entries.h"

namespace headwave {

namespace {

/// Keeps what enters one layer's projections, and the queries and keys that come of it.
class LayerStates : public Probe {
 public:
  explicit LayerStates(Index layer) : layer_(layer) {}
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const LayerInput& input) override {
    if (input.layer == layer_) states_ = input.states.cast<double>();
  }
  void see(const LayerProjections& seen) override {
    if (seen.layer != layer_) return;
    query_ = seen.query;
    key_ = seen.key;
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] const Matrix& states() const { return states_; }
  /// (T, T)  of one head, before mask and softmax
  [[nodiscard]] Matrix scores(const BlockSpec& spec, Index head) const {
    const Matrix32 query = query_.middleCols(head * spec.d_head, spec.d_head);
    const Matrix32 key = key_.middleCols(spec.key_head(head) * spec.d_head, spec.d_head);
    return (product(query, key.transpose()) * static_cast<float>(spec.score_scale)).cast<double>();
  }

 private:
  Index layer_;
  Matrix states_;
  Matrix32 query_, key_;
};

void require_key_free(const Model& model, const HeadName& head) {
  const Stack& stack = model.stack;
  if (head.layer < 0 || head.layer >= stack.layers() || head.head < 0 || head.head >= stack.block.heads)
    throw ShapeError(fmt::format("there is no {}; the model has {} layers of {} heads",
                                 head_name(head.layer, head.head), stack.layers(), stack.block.heads));
  if (stack.position_term.turned)
    throw ShapeError(
        fmt::format("a {} turns queries and keys by their positions: its queries cannot be carried back "
                    "to hidden states",
                    model.family));
  if (const std::string why = not_bilinear(stack); !why.empty())
    throw ShapeError(
        fmt::format("a {}: {}, so its queries cannot be carried back to hidden states", model.family, why));
}

/// (T, words) scores of (1), of states that a look at the head's layer has kept.
Matrix32 word_scores(const Stack& stack, const LayerStates& look, const HeadName& head) {
  const Matrix32 queries =
      key_free_queries(look.states(), stack.queries_and_keys(head.layer)->self, stack.block, head.head).cast<float>();
  Matrix32 words = layer_words(stack, head.layer);
  words.rowwise() -= words.colwise().mean().eval();
  return product(queries, words.transpose()) * static_cast<float>(stack.block.score_scale);
}

/// Squared correlation of scores with those of the words that stand at the keys, after each query's mean.
/// @param real  (T, T);  by_word  (T, words);  ids  of the document
double share_of_words(Matrix real, const Matrix32& by_word, const std::vector<std::int32_t>& ids) {
  Matrix of_words(real.rows(), real.cols());
  for (Index j = 0; j < of_words.cols(); ++j)
    of_words.col(j) = by_word.col(ids[static_cast<std::size_t>(j)]).cast<double>();
  for (Matrix* scores : {&real, &of_words}) scores->colwise() -= scores->rowwise().mean().eval();
  const double both = real.cwiseProduct(of_words).sum();
  return both * both / (real.squaredNorm() * of_words.squaredNorm());
}

}  // namespace

SoughtWords sought_words(const Model& model, const Document& document, const HeadName& head, Index top) {
  require_key_free(model, head);
  LayerStates look(head.layer);
  const std::array<Probe*, 1> probes{&look};
  model_pass(model, document, probes);
  const Matrix32 scores = word_scores(model.stack, look, head);
  SoughtWords sought{std::vector<std::vector<SoughtWord>>(static_cast<std::size_t>(scores.rows())),
                     share_of_words(look.scores(model.stack.block, head.head), scores, document.ids)};
  for (Index i = 0; i < scores.rows(); ++i)
    for (const Index id : largest_entries(scores.row(i).transpose().cast<double>(), top))
      sought.by_token[static_cast<std::size_t>(i)].push_back({id, static_cast<double>(scores(i, id))});
  return sought;
}

}  // namespace headwave
