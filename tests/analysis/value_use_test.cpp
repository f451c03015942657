#include "../../analysis/attention/value_use.h"

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "../../core/model/model_pass.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "found_field.h"
#include "test_pass.h"

using namespace headwave;

namespace {

Document document_of_sevens(Index length, const std::vector<std::size_t>& special = {}) {
  Document document;
  for (Index i = 0; i < length; ++i) document.ids.push_back(static_cast<std::int32_t>(i % 7));
  if (!special.empty()) document.special.assign(static_cast<std::size_t>(length), 0);
  for (const std::size_t i : special) document.special[i] = 1;
  return document;
}

/// One layer's values, weights and outputs, given by hand.
struct Layer {
  Matrix32 values;
  std::vector<Matrix32> weights;  // head by head
  Matrix32 output_weight;         // (heads * d_value, d_model)
  Index kv_heads = 1;
  AttentionKind kind = AttentionKind::self;
  Index layer = 0;

  [[nodiscard]] Index heads() const { return static_cast<Index>(weights.size()); }
};

void show_layer(ValueProbe& probe, const Layer& given, Index tile_rows = 1000) {
  const Matrix32 weight = given.output_weight.transpose();
  const Linear output{weight, {}};
  probe.see(LayerValues{given.layer, given.kind, given.values, &output, given.heads(), given.kv_heads, nullptr});
  const Index queries = given.weights.front().rows(), width = given.values.cols() / given.kv_heads;
  Matrix32 outputs(queries, given.heads() * width);
  for (Index head = 0; head < given.heads(); ++head)
    outputs.middleCols(head * width, width) =
        given.weights[static_cast<std::size_t>(head)] *
        given.values.middleCols(head / (given.heads() / given.kv_heads) * width, width);
  show_heads(probe, given.weights, given.kind, tile_rows, given.layer);
  probe.see(LayerHeads{given.layer, given.kind, outputs, given.heads(), nullptr});
}

ValueUse use_of(const Layer& given, const Document& document, Index reach = 64) {
  ValueProbe probe({{0}, given.heads()}, document, given.kind, reach);
  show_layer(probe, given);
  return value_use(probe.taken(), {{0}, given.heads()}, given.kind);
}

/// Two heads of one channel over three tokens.
Layer by_hand() {
  Layer given;
  given.values.resize(3, 2);
  given.values << 1, 3, -2, 0, 2, 4;
  Matrix32 a(3, 3), b(3, 3);
  a << 0.5F, 0.25F, 0.25F, 0, 1, 0, 0.25F, 0.25F, 0.5F;
  b << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  given.weights = {a, b};
  given.output_weight.resize(2, 2);
  given.output_weight << 3, 4, 0, 2;
  given.kv_heads = 2;
  return given;
}

Matrix32 random_weights(Index rows, Index cols, double scale, Random& random) {
  Matrix32 m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(scale * random.normal());
  return m;
}

/// A transformer of random weights, and what keeps them alive.
class RandomModel {
 public:
  static constexpr Index words = 7, d_model = 12, d_head = 3, d_value = 4, heads = 4, layers = 2;

  RandomModel(bool causal, bool decoder, Index kv_heads, Index window) {
    fill(model.stack, causal, false, kv_heads, window);
    if (decoder) fill(model.decoder.emplace(), true, true, kv_heads, window);
  }

  Model model;

 private:
  const Matrix32& kept(Index rows, Index cols, double scale) {
    weights_.push_back(std::make_unique<Matrix32>(random_weights(rows, cols, scale, random_)));
    return *weights_.back();
  }
  Linear linear_of(Index d_in, Index d_out) {
    const double scale = 1 / std::sqrt(static_cast<double>(d_in));
    return {kept(d_out, d_in, scale), {kept(1, d_out, 0.3).data(), d_out}};
  }
  AttentionWeights attention(Index kv_heads) {
    return {linear_of(d_model, heads * d_head), linear_of(d_model, kv_heads * d_head),
            linear_of(d_model, kv_heads * d_value), linear_of(heads * d_value, d_model)};
  }
  void fill(Stack& stack, bool causal, bool crosses, Index kv_heads, Index window) {
    stack.block.norm_place = NormPlace::pre;
    stack.block.causal = causal;
    stack.block.heads = heads;
    stack.block.kv_heads = kv_heads;
    stack.block.d_head = d_head;
    stack.block.window = window;
    stack.embedding.words = kept(words, d_model, 1);
    stack.embedding.positions = kept(100, d_model, 1);
    for (Index layer = 0; layer < layers; ++layer) {
      Block block;
      block.self = attention(kv_heads);
      if (crosses) block.cross = attention(kv_heads);
      block.feed_forward = {linear_of(d_model, 8), {}, linear_of(8, d_model)};
      stack.blocks.push_back(block);
    }
  }

  Random random_{5};
  std::vector<std::unique_ptr<Matrix32>> weights_;
};

/// Keeps inputs and weights, layer by layer, and counts what else it is shown.
class ValueRecorder : public Probe {
 public:
  explicit ValueRecorder(AttentionKind kind, bool wants = false) : kind_(kind), wants_(wants) {}
  [[nodiscard]] bool wants_values() const override { return wants_; }
  using Probe::see;
  void see(const LayerInput& input) override {
    if (input.kind == kind_) states.emplace_back(input.states.cast<double>());
  }
  void see(const LayerValues& /*values*/) override { ++shown; }
  void see(const LayerHeads& /*heads*/) override { ++shown; }
  void see(const Tile& tile) override {
    if (tile.kind != kind_) return;
    if (tile.first_row == 0)
      weights.emplace_back(static_cast<std::size_t>(tile.heads()), Matrix::Zero(tile.queries, tile.keys));
    for (std::size_t h = 0; h < tile.weights.size(); ++h)
      weights.back()[h].middleRows(tile.first_row, tile.rows()) = tile.weights[h].cast<double>();
  }
  std::vector<Matrix> states;
  std::vector<std::vector<Matrix>> weights;
  int shown = 0;

 private:
  AttentionKind kind_;
  bool wants_;
};

/// (d_in, d_out).
Matrix wide(const Linear& linear) {
  return linear.weight.transpose().cast<double>();
}

double direct_value_disagreement(const std::vector<Matrix>& heads) {
  double sum = 0;
  for (const Matrix& a : heads)
    for (const Matrix& b : heads)
      if (a.norm() > 0 && b.norm() > 0) sum += a.cwiseProduct(b).sum() / (a.norm() * b.norm());
  return -sum / static_cast<double>(heads.size() * heads.size());
}

double mean_or_nan(double sum, double count) {
  return count > 0 ? sum / count : not_defined;
}

/// The definitions written out for one layer: every vector that a key hands to a query is formed.
void set_direct(const Matrix& sources, const std::vector<Matrix>& weights, const AttentionWeights& layer,
                Index kv_heads, const Document& document, AttentionKind kind, Index window, Index reach, Index at,
                ValueUse& use) {
  const auto heads = static_cast<Index>(weights.size());
  Matrix all = sources * wide(layer.value);
  all.rowwise() += layer.value.bias.transpose().cast<double>();
  const Index width = all.cols() / kv_heads;
  std::vector<Matrix> values, outputs;
  for (Index head = 0; head < heads; ++head) {
    const Matrix& a = weights[static_cast<std::size_t>(head)];
    const Index row = at * heads + head;
    values.emplace_back(all.middleCols(head / (heads / kv_heads) * width, width));
    outputs.emplace_back(a * values.back());
    const Matrix handed = values.back() * wide(layer.output).middleRows(head * width, width);
    Matrix shares(a.rows(), a.cols());
    for (Index i = 0; i < a.rows(); ++i)
      for (Index j = 0; j < a.cols(); ++j) shares(i, j) = (a(i, j) * handed.row(j)).norm();
    for (Index i = 0; i < a.rows(); ++i) shares.row(i) /= shares.row(i).sum();
    for (Index t = -reach; t <= reach; ++t) {
      double sum = 0, count = 0;
      for (Index i = 0; i < a.rows(); ++i) {
        const Index j = i + t;
        if (j < 0 || j >= a.cols() || (kind == AttentionKind::causal && j > i) ||
            (window > 0 && std::abs(i - j) >= window))
          continue;
        sum += shares(i, j);
        count += 1;
      }
      use.norm_weight(row, reach + t) = mean_or_nan(sum, count);
    }
    use.norm_first[row] = shares.col(0).mean();
    use.weight_first[row] = a.col(0).mean();
    double special = 0;
    for (Index j = 0; j < a.cols(); ++j)
      if (document.is_special(j)) special += shares.col(j).mean();
    use.norm_special[row] = document.special.empty() ? not_defined : special;
  }
  use.subspace_disagreement[at] = direct_value_disagreement(values);
  use.output_disagreement[at] = direct_value_disagreement(outputs);
}

}  // namespace

TEST_CASE("value use of two heads and three tokens by hand") {
  const ValueUse use = use_of(by_hand(), document_of_sevens(3, {0, 2}), 2);
  CHECK(use.length == 3);
  // V_0 = (1, -2, 2), V_1 = (3, 0, 4): product 11, norms 3 and 5.
  CHECK(use.subspace_disagreement[0] == Approx(-(2 + 2 * 11.0 / 15) / 4).epsilon(8 * eps));
  // O_0 = (0.5, -2, 0.75), O_1 = (4, 3, 0): product -4.
  const double norm = std::sqrt(0.25 + 4 + 0.5625);
  CHECK(use.output_disagreement[0] == Approx(-(2 + 2 * -4 / (5 * norm)) / 4).epsilon(8 * eps));
  // |W_O| = 5 and 2: n = (5, 10, 10) and (6, 0, 8). Shares of head 0: (2, 2, 2)/... row by row below.
  // (0.5, 0.25, 0.25) n = (2.5, 2.5, 2.5); (0, 10, 0); (1.25, 2.5, 5) / 8.75.
  const double third = 1.0 / 3, last = 8.75;
  check_same(use.norm_weight.row(0),
             Eigen::RowVectorXd{{1.25 / last, 2.5 / last / 2, (third + 1 + 5 / last) / 3, third / 2, third}}, 8 * eps);
  CHECK(use.norm_first[0] == Approx((third + 1.25 / last) / 3).epsilon(8 * eps));
  CHECK(use.weight_first[0] == 0.25);
  CHECK(use.norm_special[0] == Approx((2 * third + 6.25 / last) / 3).epsilon(8 * eps));
  // Head 1: query 2 looks at key 1 alone, which hands on nothing: it is no row of N.
  check_same(use.norm_weight.row(1), Eigen::RowVectorXd{{not_defined, 1, 0, 0, 1}}, 0);
  CHECK(use.norm_first[1] == 0.5);
  CHECK(use.weight_first[1] == Approx(third).epsilon(4 * eps));
  CHECK(use.norm_special[1] == 1);
}

TEST_CASE("value use is the definitions written out, in every layer, kind of attention, mask and grouping") {
  struct Setting {
    AttentionKind kind;
    Index kv_heads, window;
    bool decoder;
  };
  constexpr auto self = AttentionKind::self, causal = AttentionKind::causal, cross = AttentionKind::cross;
  for (const Setting& setting : {Setting{self, 4, 0, false}, Setting{self, 2, 3, false}, Setting{causal, 4, 0, false},
                                 Setting{causal, 1, 5, false}, Setting{self, 2, 0, true}, Setting{causal, 2, 0, true},
                                 Setting{cross, 2, 0, true}, Setting{cross, 4, 0, true}})
    for (const Index length : {1, 2, 3, 17, 70}) {
      CAPTURE(name_of(setting.kind), setting.kv_heads, setting.window, setting.decoder, length);
      const Index reach = 6;
      const HeadGrid grid{{0, 1}, RandomModel::heads};
      RandomModel random(setting.kind == causal && !setting.decoder, setting.decoder, setting.kv_heads, setting.window);
      Document document = length == 2 ? document_of_sevens(length) : document_of_sevens(length, {0});
      if (setting.decoder) document.target = document_of_sevens(length / 2 + 1);
      const Document read = document_of_sevens(length);

      ValueProbe probe(grid, document, setting.kind, reach);
      ValueRecorder recorder(setting.kind);
      const std::array<Probe*, 2> both{&recorder, &probe};
      CHECK(model_pass(random.model, document, both).size() == 0);
      CHECK(recorder.shown == 0);
      const ValueUse found = value_use(probe.taken(), grid, setting.kind);

      Model encoder = random.model;
      encoder.decoder.reset();
      const Matrix memory = model_pass(encoder, read, {}, {true}).cast<double>();
      ValueUse expected = found;
      TokenSequence keys = document.key_tokens(setting.kind);
      Document of_keys;
      of_keys.special = keys.special;
      REQUIRE(recorder.weights.size() == 2);
      for (std::size_t layer = 0; layer < 2; ++layer) {
        const Block& block = random.model.stack_of(setting.kind).blocks[layer];
        set_direct(setting.kind == cross ? memory : recorder.states[layer], recorder.weights[layer],
                   setting.kind == cross ? block.cross : block.self, setting.kv_heads, of_keys, setting.kind,
                   setting.window, reach, static_cast<Index>(layer), expected);
      }
      // Values and outputs are computed in float; cosines and shares are at most 1.
      const double tolerance = 64 * float_eps;
      check_same(found.subspace_disagreement, expected.subspace_disagreement, tolerance);
      check_same(found.output_disagreement, expected.output_disagreement, tolerance);
      check_same(found.norm_weight, expected.norm_weight, tolerance);
      check_same(found.norm_first, expected.norm_first, tolerance);
      check_same(found.weight_first, expected.weight_first, 64 * eps + float_eps);
      check_same(found.norm_special, expected.norm_special, tolerance);
      CHECK(found.subspace_disagreement.allFinite());

      // Looking on changes nothing, whether or not what follows the last attention is computed.
      ValueProbe again(grid, document, setting.kind, reach);
      const std::array<Probe*, 1> alone{&again};
      const Matrix32 with = model_pass(random.model, document, alone, {true});
      CHECK(with == model_pass(random.model, document, {}, {true}));
      const ValueUse same = value_use(again.taken(), grid, setting.kind);
      CHECK(same.norm_first == found.norm_first);
      CHECK(same.output_disagreement == found.output_disagreement);
    }
}

TEST_CASE("who does not want values is not shown any, who does is, once before and once after every layer") {
  RandomModel random(false, true, 2, 0);
  Document document = document_of_sevens(9);
  document.target = document_of_sevens(4);
  ValueRecorder wants(AttentionKind::self, true), does_not(AttentionKind::self);
  const std::array<Probe*, 2> both{&wants, &does_not};
  model_pass(random.model, document, both);
  CHECK(wants.shown == 2 * 3 * 2);  // two events of three kinds in two layers
  CHECK(does_not.shown == 0);
  // Without value weights in the last layer, where nobody needs them, its attention can still be looked at.
  RandomModel bare(false, false, 2, 0);
  bare.model.stack.blocks.back().self.value = {};
  ValueRecorder first(AttentionKind::self, true);
  const std::array<Probe*, 1> one{&first};
  model_pass(bare.model, document_of_sevens(9), one);
  CHECK(first.shown == 2);
  CHECK(first.weights.size() == 2);
}

TEST_CASE("heads that share values agree wholly, heads without common channels not at all") {
  Random random(3);
  Layer given = by_hand();
  given.weights = {given.weights[0], given.weights[1], given.weights[0], given.weights[1]};
  given.kv_heads = 1;
  given.values = random_weights(3, 5, 1, random);
  given.output_weight = random_weights(20, 6, 1, random);
  const ValueUse shared = use_of(given, document_of_sevens(3));
  CHECK(shared.subspace_disagreement[0] == -1);
  // Outputs: each head twice changes no mean over pairs.
  Layer once = given;
  once.weights.resize(2);
  once.output_weight = given.output_weight.topRows(10);
  CHECK(shared.output_disagreement[0] ==
        Approx(use_of(once, document_of_sevens(3)).output_disagreement[0]).epsilon(64 * eps));
  given.kv_heads = 2;
  given.values = Matrix32::Zero(3, 2);
  given.values(0, 0) = given.values(1, 1) = 2;
  given.output_weight = random_weights(4, 6, 1, random);
  CHECK(use_of(given, document_of_sevens(3)).subspace_disagreement[0] == -0.5);
  // Opposite values: every cosine has a partner of the other sign.
  given.values.col(1) = -given.values.col(0);
  CHECK(use_of(given, document_of_sevens(3)).subspace_disagreement[0] == 0);
}

TEST_CASE("where all keys hand on the same length, shares are the weights, where the sink has none, it is cancelled") {
  Layer given = by_hand();
  given.weights.pop_back();
  given.kv_heads = 1;
  given.values = Matrix32::Constant(3, 2, 0.7F);
  const ValueUse even = use_of(given, document_of_sevens(3), 1);
  CHECK(even.norm_first[0] == Approx(even.weight_first[0]).epsilon(16 * eps));
  check_same(even.norm_weight, Eigen::RowVectorXd{{0.125, 2.0 / 3, 0.125}}, 16 * eps);
  given.values.row(0).setZero();
  const ValueUse cancelled = use_of(given, document_of_sevens(3), 1);
  CHECK(cancelled.norm_first[0] == 0);
  CHECK(cancelled.weight_first[0] == 0.25);
  // Scale does not matter.
  Layer tiny = by_hand(), plain = by_hand();
  tiny.values *= 0x1p-40F;
  CHECK(use_of(tiny, document_of_sevens(3), 2).norm_first == use_of(plain, document_of_sevens(3), 2).norm_first);
  CHECK(use_of(tiny, document_of_sevens(3), 2).subspace_disagreement ==
        use_of(plain, document_of_sevens(3), 2).subspace_disagreement);
}

TEST_CASE("rows that the mask empties are no queries, and tiles can be of any height") {
  Layer given = by_hand();
  given.weights[0].row(1).setZero();
  const ValueUse use = use_of(given, document_of_sevens(3), 2);
  CHECK(use.weight_first[0] == 0.375);
  CHECK(use.norm_weight(0, 1) == Approx(2.5 / 8.75).epsilon(8 * eps));  // of query 2 alone
  ValueProbe probe({{0}, 2}, document_of_sevens(3), AttentionKind::self, 2);
  show_layer(probe, given, 1);
  check_same(value_use(probe.taken(), {{0}, 2}).norm_weight, use.norm_weight, 0);
}

TEST_CASE("zero values hand on nothing: lengths are undefined and say why, cosines are 0") {
  Layer given = by_hand();
  given.values.setZero();
  const ValueUse use = use_of(given, document_of_sevens(3, {0}), 2);
  CHECK(use.subspace_disagreement[0] == 0);
  CHECK(use.output_disagreement[0] == 0);
  CHECK(use.weight_first[0] == 0.25);
  const std::vector<Field> fields = describe(use);
  for (const char* name : {"norm_weight", "norm_offset", "norm_first", "norm_special"}) {
    CAPTURE(name);
    CHECK(std::isnan(field_of(fields, std::string("value_use/") + name).doubles().front()));
    CHECK(field_of(fields, std::string("value_use/") + name).attributes.contains("undefined"));
  }
  CHECK_FALSE(field_of(fields, "value_use/weight_first").attributes.contains("undefined"));
}

TEST_CASE("stored queries and keys have no values: everything is undefined and says why") {
  RandomModel random(false, false, 4, 0);
  Random numbers(2);
  Document document;
  const Index width = RandomModel::heads * RandomModel::d_head;
  document.stored.push_back({0, {}, random_weights(5, width, 1, numbers), random_weights(5, width, 1, numbers)});
  const HeadGrid grid{{0}, RandomModel::heads};
  ValueProbe probe(grid, document);
  const std::array<Probe*, 1> probes{&probe};
  model_pass(random.model, document, probes);
  const std::vector<Field> fields = describe(value_use(probe.taken(), grid));
  CHECK(fields.size() == 7);
  for (const Field& field : fields) {
    CAPTURE(field.name);
    for (const double value : field.doubles()) CHECK(std::isnan(value));
    CHECK(field.attributes.contains("undefined"));
  }
  CHECK(field_of(fields, "value_use/norm_weight").axis("offset").size() == 129);
}

TEST_CASE("without output weights the disagreements are known, the lengths are not") {
  const Layer given = by_hand();
  ValueProbe probe({{0}, 2}, document_of_sevens(3));
  probe.see(LayerValues{0, AttentionKind::self, given.values, nullptr, 2, 2, nullptr});
  Tile tile;
  tile.queries = tile.keys = 3;
  tile.weights = {given.weights[0], given.weights[1]};
  probe.see(tile);
  const ValueUse use = value_use(probe.taken(), {{0}, 2});
  CHECK(use.subspace_disagreement.allFinite());
  CHECK(std::isnan(use.norm_first[0]));
  CHECK(std::isnan(use.weight_first[0]));
}

TEST_CASE("a job's value use is the mean over the documents that define it, its offset the nearest of the largest") {
  const HeadGrid grid{{3}, 1};
  const auto document = [](Index length, double first, std::initializer_list<double> weights) {
    Matrix norm_weight(1, 7);
    Index column = 0;
    for (const double weight : weights) norm_weight(0, column++) = weight;
    return ValueUseSum{1,
                       {length},
                       DefinedMean(Matrix::Constant(1, 2, -first)),
                       DefinedMean(norm_weight),
                       DefinedMean(Matrix::Constant(1, 3, first))};
  };
  ValueUseSum sum = document(3, 0.5, {0.1, 0.9, 0.2, 0.1, 0.2, 0.2, 0.1});
  CHECK(
      std::isnan(value_use(sum, grid).norm_offset[0]));  // of three tokens only |t| <= 1 is searched, and -1 is its end
  add_to(sum, document(9, not_defined, {0.1, 0.3, 0.4, 0.1, not_defined, not_defined, not_defined}));
  const ValueUse use = value_use(sum, grid);
  CHECK(use.documents == 2);
  CHECK(use.length == 9);
  CHECK(use.norm_first[0] == 0.5);
  CHECK(use.subspace_disagreement[0] == -0.5);
  CHECK(use.norm_offset[0] == -2);
  check_same(use.norm_weight, Eigen::RowVectorXd{{0.1, 0.6, 0.3, 0.1, 0.2, 0.2, 0.1}}, 4 * eps);
  const Layer causal = [] {
    Layer given = by_hand();
    given.kind = AttentionKind::causal;
    given.weights[0] << 1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.5F, 0.25F;
    given.weights[1] = given.weights[0];
    return given;
  }();
  const ValueUse triangle = use_of(causal, document_of_sevens(3), 2);
  CHECK(std::isnan(triangle.norm_weight(0, 3)));
  CHECK_FALSE(triangle.norm_offset[0] > 0);
  CHECK(field_of(describe(triangle), "value_use/norm_weight").attributes.contains("undefined"));
}

TEST_CASE("one token hands everything to itself") {
  Layer given;
  given.values = Matrix32::Constant(1, 4, 2);
  given.weights = {Matrix32::Ones(1, 1), Matrix32::Ones(1, 1)};
  given.output_weight = Matrix32::Identity(4, 4);
  given.kv_heads = 2;
  const ValueUse use = use_of(given, document_of_sevens(1));
  CHECK(use.norm_offset[0] == 0);
  CHECK(use.norm_first[1] == 1);
  CHECK(use.subspace_disagreement[0] == Approx(-1).epsilon(8 * eps));
  CHECK(std::isnan(use.norm_special[0]));
}

TEST_CASE("value use refuses what was not announced, and numbers that are none") {
  const Document three = document_of_sevens(3);
  const HeadGrid grid{{0}, 2};
  CHECK_THROWS_AS(ValueProbe(grid, three, AttentionKind::self, -1), ShapeError);
  Document marked = three;
  marked.special = {1};
  CHECK_THROWS_AS(ValueProbe(grid, marked), ShapeError);

  const auto shown = [&](auto change) {
    Layer given = by_hand();
    change(given);
    ValueProbe probe(grid, three);
    show_layer(probe, given);
  };
  CHECK_NOTHROW(shown([](Layer&) {}));
  CHECK_NOTHROW(shown([](Layer& given) {  // another kind passes unseen
    given.kind = AttentionKind::cross;
    given.layer = 9;
  }));
  CHECK_THROWS_AS(shown([](Layer& given) { given.layer = 1; }), ShapeError);
  CHECK_THROWS_AS(shown([](Layer& given) { given.weights.pop_back(); }), ShapeError);
  CHECK_THROWS_AS(shown([](Layer& given) { given.output_weight = Matrix32::Ones(3, 2); }), ShapeError);
  CHECK_THROWS_AS(shown([](Layer& given) { given.values = Matrix32::Ones(4, 2); }), ShapeError);
  CHECK_THROWS_AS(shown([](Layer& given) {
                    given.weights = {Matrix32::Ones(2, 3), Matrix32::Ones(2, 3)};
                  }),
                  ShapeError);
  CHECK_THROWS_AS(shown([](Layer& given) { given.values(1, 0) = std::nanf(""); }), NumericError);
  CHECK_THROWS_AS(shown([](Layer& given) { given.output_weight(1, 0) = std::nanf(""); }), NumericError);
  CHECK_THROWS_AS(shown([](Layer& given) { given.weights[1](0, 0) = std::nanf(""); }), NumericError);

  ValueProbe probe(grid, three);
  const Matrix32 odd = Matrix32::Ones(3, 3), good = Matrix32::Ones(3, 4);
  const Matrix32 bad = Matrix32::Constant(3, 4, std::nanf(""));
  const auto self = AttentionKind::self;
  CHECK_THROWS_AS(probe.see(LayerValues{0, self, odd, nullptr, 2, 2, nullptr}), ShapeError);
  CHECK_THROWS_AS(probe.see(LayerValues{0, self, good, nullptr, 2, 0, nullptr}), ShapeError);
  CHECK_THROWS_AS(probe.see(LayerHeads{0, self, odd, 2, nullptr}), ShapeError);
  CHECK_THROWS_AS(probe.see(LayerHeads{0, self, good, 4, nullptr}), ShapeError);
  CHECK_THROWS_AS(probe.see(LayerHeads{1, self, good, 2, nullptr}), ShapeError);
  CHECK_THROWS_AS(probe.see(LayerHeads{0, self, bad, 2, nullptr}), NumericError);
}
