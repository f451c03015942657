#include "planted.h"

#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "../algebra/decompositions.h"
#include "../algebra/product.h"
#include "../fields/fields.h"
#include "../model/random_documents.h"

namespace headwave {

namespace {

constexpr float tiny_eps = 1e-12F;  // the norm's eps, small enough that the norm is a pure scaling to 3e-11

constexpr Index d_feed_forward = 16;

/// Owns the memory behind the views of a planted Model.
struct Weights {
  Matrix32 words, positions;
  Vector32 ones, zeros;
  struct Layer {
    Matrix32 query, key;
    Vector32 query_bias;
  };
  std::vector<Layer> layers;

  [[nodiscard]] VectorView32 zero(Index size) const { return {zeros.data(), size}; }
  [[nodiscard]] MatrixView32 zero(Index rows, Index columns) const { return {zeros.data(), rows, columns}; }
};

/// Orthonormal columns that are orthogonal to the vector of ones: waves first, then words.
Matrix orthonormal_columns(Index d_model, Index columns, Random& random) {
  Matrix start(d_model, columns + 1);
  start.col(0).setOnes();
  for (Index j = 1; j <= columns; ++j)
    for (Index i = 0; i < d_model; ++i) start(i, j) = random.normal();
  return thin_qr(start).q.rightCols(columns);
}

/// The directions and gains from which all heads are built.
struct Ground {
  Matrix waves;       ///< (d_model, 2 P)
  Matrix words;       ///< (d_model, special + words)
  Vector angular;     ///< (P) w_m in radians per token
  double power;       ///< P + rho^2: squared norm of a row before the norm
  double scale_root;  ///< sqrt(d_head)
  double word_norm;

  /// The gain of queries and keys with which a wave of the table contributes `amplitude` to the score.
  [[nodiscard]] double wave_gain(double amplitude) const {
    return std::sqrt(amplitude * scale_root * power / static_cast<double>(waves.rows()));
  }
  /// Length of a word's part in the normalised state.
  [[nodiscard]] double word_length() const { return word_norm * std::sqrt(static_cast<double>(waves.rows()) / power); }
};

/// Equation (1): queries and keys read wave m with the same gain; keys turn it by -w_m t*.
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
      // Query and key of a word are independent normal vectors; `strength` is the scores' standard deviation.
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
  const Index d_model = ground.waves.rows(), width = std::ssize(heads) * d_head;
  Weights::Layer layer{Matrix32::Zero(width, d_model), Matrix32::Zero(width, d_model), Vector32::Zero(width)};
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
  const Index waves = std::ssize(spec.frequencies), words = spec.words > 0 ? spec.words + planted_special_words : 0;
  if (2 * waves + words + 1 > spec.d_model)
    throw ShapeError(fmt::format("planted_model: {} waves and {} words need d_model of at least {}, found {}", waves,
                                 words, 2 * waves + words + 1, spec.d_model));
  if (2 * waves > spec.d_head || spec.words > spec.d_head)
    throw ShapeError(fmt::format("planted_model: {} waves and {} words need d_head of at least {}, found {}", waves,
                                 spec.words, std::max(2 * waves, spec.words), spec.d_head));
  const std::size_t heads = spec.heads.empty() ? 0 : spec.heads.front().size();
  for (const auto& layer : spec.heads)
    for (const PlantedHead& head : layer)
      if (layer.size() != heads || (head.positional() ? std::ssize(head.amplitudes) != waves : spec.words == 0))
        throw ShapeError(fmt::format(
            "planted_model: a {} head with {} amplitudes and {} words in a layer of {} heads; expected {} heads in "
            "every layer, {} amplitudes for a positional head, and words for any other",
            name_of(head.kind), head.amplitudes.size(), spec.words, layer.size(), heads, waves));
  if (heads == 0) throw ShapeError("planted_model: there are no heads to plant");
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

/// Describes the finished model by views into `weights`.
Model model_of(const PlantedSpec& spec, const std::shared_ptr<const Weights>& weights) {
  const Index d = spec.d_model, width = std::ssize(spec.heads.front()) * spec.d_head;
  const Norm norm{weights->ones, weights->zero(d), tiny_eps, NormKind::layer};
  Model model;
  model.family = "bert";
  model.longest = spec.length;
  BlockSpec& block = model.stack.block;
  block.heads = block.kv_heads = std::ssize(spec.heads.front());
  block.d_head = spec.d_head;
  block.score_scale = 1.0 / std::sqrt(static_cast<double>(spec.d_head));
  model.stack.embedding = {weights->words, 1.0F, weights->positions, weights->zero(2, d), norm};
  for (const Weights::Layer& layer : weights->layers) {
    Block planted;
    planted.self = {{layer.query, layer.query_bias},
                    {layer.key, weights->zero(width)},
                    {weights->zero(width, d), weights->zero(width)},
                    {weights->zero(d, width), weights->zero(d)}};
    planted.self_norm = planted.feed_forward_norm = norm;
    planted.feed_forward = {{weights->zero(d_feed_forward, d), weights->zero(d_feed_forward)},
                            {},
                            {weights->zero(d, d_feed_forward), weights->zero(d)}};
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
  weights->ones = Vector32::Ones(spec.d_model);
  const Index width = std::ssize(spec.heads.front()) * spec.d_head;
  weights->zeros = Vector32::Zero(spec.d_model * std::max(width, d_feed_forward));  // as many as the largest view has
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
        fmt::format("planted_documents: expected 3 to {} tokens per document, found {}", planted.spec.length, length));
  const auto draw = [&planted, length](Index i, Random random) {
    const Index words = planted.spec.words;
    Document document;
    document.name = fmt::format("planted words, document {}", i);
    for (Index n = 0; n < length; ++n) {
      Index id = words > 0 ? planted_special_words + random.below(words) : 0;
      if (words > 0 && n == 0) id = planted_opening_word;
      if (words > 0 && n + 1 == length) id = planted_closing_word;
      document.ids.push_back(static_cast<std::int32_t>(id));
      document.tokens.push_back(planted.vocabulary[static_cast<std::size_t>(id)]);
      document.special.push_back(words > 0 && id < planted_special_words ? 1 : 0);
    }
    return document;
  };
  const char* const special = planted.spec.words > 0 ? "[CLS] first, [SEP] last" : "none";
  return std::make_unique<RandomDocuments>(documents, length, seed, draw,
                                           Attributes{{"source", std::string("planted words")},
                                                      {"document_seed", static_cast<std::int64_t>(seed)},
                                                      {"special_tokens", std::string(special)}});
}

}  // namespace headwave
