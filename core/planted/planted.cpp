#include "planted.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../algebra/decompositions.h"
#include "../algebra/product.h"
#include "../fields/fields.h"
#include "../numbers/random.h"

namespace headwave {

namespace {

constexpr float tiny_eps = 1e-12F;  // the norm's eps, small enough that the norm is a pure scaling to 3e-11

/// Everything the views of a planted Model look at.
struct Weights {
  Matrix32 words, positions, token_types;
  Vector32 ones, zeros;
  struct Layer {
    Matrix32 query, key, value, output, widen, narrow;
    Vector32 query_bias, widen_bias;
  };
  std::vector<Layer> layers;
};

/// Orthonormal columns orthogonal to the vector of ones: waves first, then words.
Matrix orthonormal_columns(Index d_model, Index columns, Random& random) {
  Matrix start(d_model, columns + 1);
  start.col(0).setOnes();
  for (Index j = 1; j <= columns; ++j)
    for (Index i = 0; i < d_model; ++i) start(i, j) = random.normal();
  return thin_qr(start).q.rightCols(columns);
}

/// The directions and gains that every head is built from.
struct Ground {
  Matrix waves;       ///< (d_model, 2 P)
  Matrix words;       ///< (d_model, special + words)
  Vector angular;     ///< (P) w_m in radians per token
  double power;       ///< P + rho^2: squared norm of a row before the norm
  double scale_root;  ///< sqrt(d_head)
  double word_norm;

  /// Gain on both sides that makes a unit wave contribute `amplitude` to the score.
  [[nodiscard]] double wave_gain(double amplitude) const {
    return std::sqrt(amplitude * scale_root * power / static_cast<double>(waves.rows()));
  }
  /// Length of a word's part in the normalised state.
  [[nodiscard]] double word_length() const { return word_norm * std::sqrt(static_cast<double>(waves.rows()) / power); }
};

/// Equation (1): wave m read with the same gain on both sides, turned by -w_m t* on the key's.
void plant_wave(const PlantedHead& head, const Ground& ground, HeadWeights& weights) {
  for (Index m = 0; m < static_cast<Index>(head.amplitudes.size()); ++m) {
    const double gain = ground.wave_gain(head.amplitudes[static_cast<std::size_t>(m)]);
    const double angle = -ground.angular[m] * head.offset;
    const auto cosine = ground.waves.col(2 * m);
    const auto sine = ground.waves.col(2 * m + 1);
    weights.query.col(2 * m) = gain * cosine;
    weights.query.col(2 * m + 1) = gain * sine;
    weights.key.col(2 * m) = gain * (std::cos(angle) * cosine - std::sin(angle) * sine);
    weights.key.col(2 * m + 1) = gain * (std::sin(angle) * cosine + std::cos(angle) * sine);
  }
}

HeadWeights head_weights(const PlantedHead& head, const Ground& ground, Index d_head, Random& random) {
  const Index d_model = ground.waves.rows();
  HeadWeights weights{Matrix::Zero(d_model, d_head), Matrix::Zero(d_model, d_head), Vector::Zero(d_head)};
  if (head.positional()) {
    plant_wave(head, ground, weights);
    return weights;
  }
  const Index ordinary = ground.words.cols() - planted_special_words;
  const double length = ground.word_length();
  const double gain = std::sqrt(head.strength * ground.scale_root) / length;
  switch (head.kind) {
    case PlantedKind::sink:
      weights.query_bias[0] = std::sqrt(head.strength * ground.scale_root);
      weights.key.col(0) = gain * ground.words.col(planted_opening_word);
      break;
    case PlantedKind::content:
      weights.query.leftCols(ordinary) = gain * ground.words.rightCols(ordinary);
      weights.key.leftCols(ordinary) = weights.query.leftCols(ordinary);
      break;
    default: {
      // Query and key of a word are independent normal vectors; the score's spread is the strength.
      const double spread = std::sqrt(head.strength) / length;
      Matrix query(ground.words.cols(), d_head), key(ground.words.cols(), d_head);
      for (double& entry : query.reshaped()) entry = spread * random.normal();
      for (double& entry : key.reshaped()) entry = spread * random.normal();
      weights.query = product(ground.words, query);
      weights.key = product(ground.words, key);
    }
  }
  return weights;
}

Weights::Layer layer_weights(const std::vector<PlantedHead>& heads, const Ground& ground, Index d_head,
                             Random& random) {
  const Index d_model = ground.waves.rows();
  const auto width = static_cast<Index>(heads.size()) * d_head;
  constexpr Index d_feed_forward = 16;
  Weights::Layer layer{
      Matrix32::Zero(width, d_model), Matrix32::Zero(width, d_model),          Matrix32::Zero(width, d_model),
      Matrix32::Zero(d_model, width), Matrix32::Zero(d_feed_forward, d_model), Matrix32::Zero(d_model, d_feed_forward),
      Vector32::Zero(width),          Vector32::Zero(d_feed_forward)};
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const HeadWeights head = head_weights(heads[h], ground, d_head, random);
    const auto first = static_cast<Index>(h) * d_head;
    layer.query.middleRows(first, d_head) = head.query.transpose().cast<float>();
    layer.key.middleRows(first, d_head) = head.key.transpose().cast<float>();
    layer.query_bias.segment(first, d_head) = head.query_bias.cast<float>();
  }
  return layer;
}

void require_room(const PlantedSpec& spec) {
  const auto waves = static_cast<Index>(spec.frequencies.size());
  const Index words = spec.words > 0 ? spec.words + planted_special_words : 0;
  if (2 * waves + words + 1 > spec.d_model)
    throw ShapeError(fmt::format("planted_model: {} waves and {} words need d_model of at least {}, got {}", waves,
                                 words, 2 * waves + words + 1, spec.d_model));
  if (2 * waves > spec.d_head || spec.words > spec.d_head)
    throw ShapeError(fmt::format("planted_model: {} waves and {} words need d_head of at least {}, got {}", waves,
                                 spec.words, std::max(2 * waves, spec.words), spec.d_head));
  if (spec.heads.empty() || spec.heads.front().empty()) throw ShapeError("planted_model: there are no heads to plant");
  for (const auto& layer : spec.heads) {
    if (layer.size() != spec.heads.front().size())
      throw ShapeError(fmt::format("planted_model: layers have {} and {} heads, expected the same number", layer.size(),
                                   spec.heads.front().size()));
    for (const PlantedHead& head : layer) {
      if (head.positional() && head.amplitudes.size() != spec.frequencies.size())
        throw ShapeError(
            fmt::format("planted_model: a head has {} amplitudes for {} waves", head.amplitudes.size(), waves));
      if (!head.positional() && spec.words == 0)
        throw ShapeError(fmt::format("planted_model: a {} head needs words", name_of(head.kind)));
    }
  }
}

Matrix32 position_table(const Ground& ground, Index length) {
  Matrix table = Matrix::Zero(length, ground.waves.rows());
  for (Index n = 0; n < length; ++n)
    for (Index m = 0; m < ground.angular.size(); ++m) {
      const double phase = ground.angular[m] * static_cast<double>(n);
      table.row(n) += std::cos(phase) * ground.waves.col(2 * m).transpose() +
                      std::sin(phase) * ground.waves.col(2 * m + 1).transpose();
    }
  return table.cast<float>();
}

/// A description of the finished model: views into `weights`.
Model model_of(const PlantedSpec& spec, const std::shared_ptr<const Weights>& weights) {
  const VectorView32 no_shift(weights->zeros.data(), spec.d_model);
  const Norm norm{weights->ones, no_shift, tiny_eps, NormKind::layer};
  Model model;
  model.family = "bert";
  model.longest = spec.length;
  BlockSpec& block = model.stack.block;
  block.heads = block.kv_heads = static_cast<Index>(spec.heads.front().size());
  block.d_head = spec.d_head;
  block.score_scale = 1.0 / std::sqrt(static_cast<double>(spec.d_head));
  model.stack.embedding = {weights->words, 1.0F, weights->positions, weights->token_types, norm};
  for (const Weights::Layer& layer : weights->layers) {
    const VectorView32 no_bias(weights->zeros.data(), layer.query.rows());
    Block planted;
    planted.self = {
        {layer.query, layer.query_bias}, {layer.key, no_bias}, {layer.value, no_bias}, {layer.output, no_shift}};
    planted.self_norm = planted.feed_forward_norm = norm;
    planted.feed_forward = {{layer.widen, layer.widen_bias}, {}, {layer.narrow, no_shift}};
    model.stack.blocks.push_back(planted);
  }
  model.storage = weights;
  return model;
}

std::vector<std::string> planted_vocabulary(Index words) {
  std::vector<std::string> vocabulary{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  const std::string consonants = "bdfgklmn", vowels = "aeiou";
  for (Index i = 0; i < words; ++i) {
    const auto n = static_cast<std::size_t>(i);
    std::string word;
    for (std::size_t rest = n, place = 0; place < 2 || rest > 0; rest /= consonants.size() * vowels.size(), ++place) {
      const std::size_t syllable = (rest + 17 * place) % (consonants.size() * vowels.size());
      word += consonants[syllable % consonants.size()];
      word += vowels[syllable / consonants.size()];
    }
    vocabulary.push_back(word);
  }
  return vocabulary;
}

}  // namespace

const char* name_of(PlantedKind kind) {
  constexpr const char* names[] = {"adjacent", "left", "right", "broad", "sink", "content", "noise"};
  return names[static_cast<std::size_t>(kind)];
}

PlantedModel planted_model(const PlantedSpec& spec) {
  require_room(spec);
  Random random(spec.seed);
  const auto waves = static_cast<Index>(spec.frequencies.size());
  const Index words = spec.words > 0 ? spec.words + planted_special_words : 0;
  const Matrix basis = orthonormal_columns(spec.d_model, 2 * waves + words, random);
  const double rho = spec.words > 0 ? spec.word_norm : 0.0;
  Ground ground{
      basis.leftCols(2 * waves),
      basis.rightCols(words),
      Vector::Map(spec.frequencies.data(), waves) * (2.0 * std::numbers::pi / static_cast<double>(spec.length)),
      static_cast<double>(waves) + rho * rho,
      std::sqrt(static_cast<double>(spec.d_head)),
      rho};
  auto weights = std::make_shared<Weights>();
  weights->positions = position_table(ground, spec.length);
  weights->words =
      words > 0 ? Matrix32((rho * ground.words.transpose()).cast<float>()) : Matrix32::Zero(1, spec.d_model);
  weights->token_types = Matrix32::Zero(2, spec.d_model);
  weights->ones = Vector32::Ones(spec.d_model);
  weights->zeros = Vector32::Zero(std::max(spec.d_model, static_cast<Index>(spec.heads.front().size()) * spec.d_head));
  for (const auto& layer : spec.heads) weights->layers.push_back(layer_weights(layer, ground, spec.d_head, random));
  return {model_of(spec, weights), spec, planted_vocabulary(spec.words)};
}

std::vector<Field> describe(const PlantedModel& planted) {
  const Axis layer = layer_axis(planted.model.stack.layers()), head = head_axis(planted.model.stack.block.heads);
  std::vector<std::string> kinds;
  std::vector<double> offsets;
  for (const auto& heads : planted.spec.heads)
    for (const PlantedHead& one : heads) {
      kinds.emplace_back(name_of(one.kind));
      offsets.push_back(one.positional() ? one.offset : std::nan(""));
    }
  Fields fields("planted");
  fields.add("offset", {layer, head}, "token", "offset planted into the head; undefined where it prefers none", offsets)
      .undefined("sink, content and noise heads prefer no offset");
  return fields.add("kind", {layer, head}, "1", "what was planted into the head", kinds).taken();
}

namespace {

/// Random words between [CLS] and [SEP], each document from a stream of its own.
class PlantedDocuments : public Source {
 public:
  PlantedDocuments(const PlantedModel& planted, Index documents, Index length, std::uint64_t seed)
      : planted_(planted), documents_(documents), length_(length), seed_(seed) {}

  [[nodiscard]] Index count() const override { return documents_; }
  [[nodiscard]] Index length(Index /*i*/) const override { return length_; }

  [[nodiscard]] Document document(Index i) const override {
    Random random = Random(seed_).stream(static_cast<std::uint64_t>(i));
    Document document;
    document.name = fmt::format("planted words, document {}", i);
    for (Index n = 0; n < length_; ++n) {
      Index id = planted_.spec.words > 0 ? planted_special_words + random.below(planted_.spec.words) : 0;
      if (planted_.spec.words > 0 && n == 0) id = planted_opening_word;
      if (planted_.spec.words > 0 && n + 1 == length_) id = planted_closing_word;
      document.ids.push_back(static_cast<std::int32_t>(id));
      document.tokens.push_back(planted_.vocabulary[static_cast<std::size_t>(id)]);
      document.special.push_back(id < planted_special_words ? 1 : 0);
    }
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("planted words")},
            {"length", static_cast<std::int64_t>(length_)},
            {"documents", static_cast<std::int64_t>(documents_)},
            {"document_seed", static_cast<std::int64_t>(seed_)},
            {"special_tokens", std::string("[CLS] first, [SEP] last")}};
  }

 private:
  const PlantedModel& planted_;
  Index documents_, length_;
  std::uint64_t seed_;
};

}  // namespace

PlantedSpec planted_bank(std::uint64_t seed) {
  PlantedSpec spec;
  spec.seed = seed;
  spec.frequencies = {7.3, 12.6, 21.4, 29.8, 37.3, 41.6, 46.2, 50.4, 53.7, 61.8};
  const std::vector<double> sharp(10, 1.0), soft(10, 0.7), low{1.0, 1.6, 1.6, 1.2, 0.5, 0, 0, 0, 0, 0};
  const std::vector<PlantedHead> positional{{PlantedKind::adjacent, -1, sharp, 0}, {PlantedKind::adjacent, 1, sharp, 0},
                                            {PlantedKind::left, -3, soft, 0},      {PlantedKind::right, 3, soft, 0},
                                            {PlantedKind::broad, -6, low, 0},      {PlantedKind::broad, 6, low, 0}};
  const std::vector<PlantedHead> flat{
      {PlantedKind::sink, 0, {}, 8.0}, {PlantedKind::content, 0, {}, 4.0}, {PlantedKind::noise, 0, {}, 1.0}};
  Random random = Random(seed).stream(1);
  for (std::size_t layer = 0; layer < 4; ++layer) {
    std::vector<PlantedHead> heads = positional;
    heads.push_back(flat[(2 * layer) % 3]);
    heads.push_back(flat[(2 * layer + 1) % 3]);
    std::vector<Index> order{0, 1, 2, 3, 4, 5, 6, 7};
    random.shuffle(order);
    std::vector<PlantedHead> shuffled;
    for (const Index h : order) shuffled.push_back(heads[static_cast<std::size_t>(h)]);
    spec.heads.push_back(shuffled);
  }
  return spec;
}

std::unique_ptr<Source> planted_documents(const PlantedModel& planted, Index documents, Index length,
                                          std::uint64_t seed) {
  if (length < 3 || length > planted.spec.length)
    throw ShapeError(
        fmt::format("planted_documents: {} tokens asked for, expected 3 to {}", length, planted.spec.length));
  return std::make_unique<PlantedDocuments>(planted, documents, length, seed);
}

}  // namespace headwave
