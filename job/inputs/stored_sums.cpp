#include "stored_sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/attention/attention_distance.h"
#include "../../analysis/attention/head_types.h"
#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/predictions/attention_bits.h"
#include "../../analysis/predictions/head_account.h"
#include "../../analysis/registry/job_option_table.h"
#include "../../analysis/registry/registry.h"
#include "../../core/errors/error.h"
#include "../../data/files/digest.h"
#include "../../data/files/printable.h"
#include "../run/document_pass.h"

namespace headwave {

namespace {

/// Documents of which nothing is left but their lengths.
class SummedDocuments : public Source {
 public:
  /// @param ids  digest of the ids of all documents
  SummedDocuments(const std::vector<StoredProfiles>& profiles, std::string digests, std::string ids)
      : digests_(std::move(digests)), ids_(std::move(ids)) {
    const StoredProfiles& first = profiles.front();
    for (const Index layer : first.layers) layers_.push_back({layer, {}, {}, {}, {}});
    special_ = first.special == "[]"        ? "not known: none were named to the watch"
               : ids_ == documents_not_seen ? "named when the model was watched, and not seen in documents without ids"
                                            : "named when the model was watched";
    for (const StoredProfiles& each : profiles) {
      names_.push_back(each.path.string());
      lengths_.insert(lengths_.end(), each.lengths.begin(), each.lengths.end());
    }
  }

  [[nodiscard]] Index count() const override { return std::ssize(lengths_); }
  [[nodiscard]] Index length(Index i) const override { return lengths_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = fmt::format("document {}", i);
    document.stored = layers_;
    return document;
  }
  [[nodiscard]] Attributes provenance() const override {
    Attributes said{{"source", std::string("stored profiles")},
                    {"source_file", fmt::format("{}", fmt::join(names_, ", "))},
                    {"ids_sha256", ids_},
                    {"documents", std::int64_t{count()}},
                    {"length", std::int64_t{std::ranges::max(lengths_)}},
                    {"special_tokens", special_}};
    if (!digests_.empty()) said["source_sha256"] = digests_;
    return said;
  }

 private:
  std::string digests_;
  std::vector<StoredLayer> layers_;
  std::vector<Index> lengths_;
  std::vector<std::string> names_;
  std::string ids_;
  std::string special_;
};

/// How some layers attend: what AccountSums are read with.
struct Attending {
  double soft_cap = 0;
  Index window = 0;
  double gain = 1;                ///< of rotary positions
  bool neighbours = false;        ///< channels 2m and 2m + 1 turn together, not m and m + r/2
  std::vector<double> frequency;  ///< (r/2) of rotary positions, in radians per token; empty: none
  Matrix bias;                    ///< (heads, 2 T - 1) of scores by offset; or empty

  [[nodiscard]] bool is_like(const Attending& other) const {
    const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)); };
    return soft_cap == other.soft_cap && window == other.window && close(gain, other.gain) &&
           neighbours == other.neighbours && std::ranges::equal(frequency, other.frequency, close) &&
           bias.rows() == other.bias.rows() && (bias.size() == 0 || bias.isApprox(other.bias, 1e-6));
  }

  [[nodiscard]] PositionTerm term() const {
    PositionTerm term;
    if (bias.size() > 0) term.added = std::make_shared<OffsetBias>(bias);
    if (frequency.empty()) return term;
    RotaryOptions turned;
    turned.channels = 2 * std::ssize(frequency);
    turned.base = 1;
    turned.pairing = neighbours ? RotaryPairing::neighbours : RotaryPairing::halves;
    turned.scaling = RotaryScaling::longrope;  // a factor of its own for each frequency
    turned.attention_factor = gain;
    for (const double one : frequency) turned.short_factors.push_back(1 / one);
    turned.long_factors = turned.short_factors;
    term.turned = std::make_shared<RotaryTerm>(turned);
    return term;
  }
};

Attending attending_of(const StoredProfiles& profiles, std::size_t layer) {
  const auto row = [&](const char* name) {
    const ProfileArray& array = profiles.arrays.at(name);
    const std::size_t size = array.values.size() / profiles.layers.size();
    return std::span(array.values).subspan(layer * size, size);
  };
  Attending attending{row("soft_cap")[0],
                      static_cast<Index>(std::lround(row("account_window")[0])),
                      row("turn_gain")[0],
                      row("turn_neighbours")[0] != 0,
                      {},
                      {}};
  for (const double frequency : row("turn_frequency"))
    if (!std::isnan(frequency)) attending.frequency.push_back(frequency);
  if (profiles.arrays.contains("score_bias")) {
    const Index columns = profiles.arrays.at("score_bias").shape.back();
    attending.bias = Eigen::Map<const Matrix>(row("score_bias").data(), profiles.heads, columns);
    if (attending.bias.isZero(0)) attending.bias.resize(0, 0);
  }
  return attending;
}

/// The ways in which layers attend, and that of each layer. A Stack can have two.
struct Attendings {
  std::vector<Attending> ways;
  std::vector<std::size_t> of_layer;
  explicit Attendings(const StoredProfiles& profiles) {
    for (std::size_t layer = 0; profiles.dealt_documents > 0 && layer < profiles.layers.size(); ++layer) {
      const Attending own = attending_of(profiles, layer);
      const auto like = std::ranges::find_if(ways, [&](const Attending& way) { return way.is_like(own); });
      of_layer.push_back(static_cast<std::size_t>(like - ways.begin()));
      if (like == ways.end()) ways.push_back(own);
    }
  }
  [[nodiscard]] bool fit() const {
    return !ways.empty() && ways.size() <= 2 && ways.front().soft_cap == ways.back().soft_cap;
  }
};

/// A model of which only its heads and masks are known; and how its heads attend, where queries and keys were kept.
Model model_of(const StoredProfiles& profiles) {
  Model model;
  model.family = profiles.model;
  model.stack.blocks.resize(static_cast<std::size_t>(profiles.layers.back() + 1));
  BlockSpec& block = model.stack.block;
  block.causal = profiles.kind == AttentionKind::causal;
  block.heads = profiles.heads;
  block.kv_heads = profiles.kv_heads;
  block.d_head = profiles.d_head;
  block.score_scale = not_defined;
  const Attendings attendings(profiles);
  if (!attendings.fit()) return model;
  block.score_scale = profiles.arrays.at("scale").values.front();
  block.soft_cap = attendings.ways.front().soft_cap;
  block.window = attendings.ways.front().window;
  model.stack.position_term = attendings.ways.front().term();
  model.stack.others.window = attendings.ways.back().window;
  model.stack.others.position_term = attendings.ways.back().term();
  for (std::size_t layer = 0; layer < profiles.layers.size(); ++layer)
    if (attendings.of_layer[layer] > 0) model.stack.others.layers.push_back(profiles.layers[layer]);
  if (!profiles.arrays.contains("sink_score")) return model;
  const std::vector<double>& scores = profiles.arrays.at("sink_score").values;
  const auto sinks = std::make_shared<const std::vector<float>>(scores.begin(), scores.end());
  for (std::size_t layer = 0; layer < profiles.layers.size(); ++layer) {
    const float* own = sinks->data() + static_cast<Index>(layer) * profiles.heads;
    if (!std::isnan(*own))
      model.stack.blocks[static_cast<std::size_t>(profiles.layers[layer])].self.sinks =
          VectorView32(own, profiles.heads);
  }
  model.storage = sinks;
  return model;
}

/// Reads arrays of one file as the matrices of sums. Rows are (layer, head).
class SumReader {
 public:
  explicit SumReader(const StoredProfiles& profiles)
      : profiles_(profiles), layers_(std::ssize(profiles.layers)), heads_(profiles.heads) {}

  /// One kind of pairs of an array (layers, kinds of pairs, heads, columns): (rows, columns).
  [[nodiscard]] Matrix of_pairs(const std::string& name, std::size_t pairs) const {
    const ProfileArray& array = at(name);
    const Index columns = array.shape.back();
    Matrix result(layers_ * heads_, columns);
    for (Index layer = 0; layer < layers_; ++layer)
      result.middleRows(layer * heads_, heads_) =
          block(array, (layer * static_cast<Index>(pairs_kinds) + static_cast<Index>(pairs)) * heads_, heads_);
    return result;
  }

  /// One kind of pairs of counts (layers, kinds of pairs, columns): of the layer whose mask allows most.
  [[nodiscard]] Vector counts(const std::string& name, std::size_t pairs) const {
    const ProfileArray& array = at(name);
    Vector most = Vector::Zero(array.shape.back());
    for (Index layer = 0; layer < layers_; ++layer)
      most = most.cwiseMax(
          block(array, layer * static_cast<Index>(pairs_kinds) + static_cast<Index>(pairs), 1).row(0).transpose());
    return most;
  }

  /// Rows first .. first + count - 1 of an array, its last axis being columns.
  [[nodiscard]] Matrix rows(const std::string& name, Index first, Index count) const {
    return block(at(name), first, count);
  }
  [[nodiscard]] Index columns(const std::string& name) const { return at(name).shape.back(); }
  [[nodiscard]] Vector vector(const std::string& name) const {
    const ProfileArray& array = at(name);
    return Eigen::Map<const Vector>(array.values.data(), std::ssize(array.values));
  }

 private:
  [[nodiscard]] const ProfileArray& at(const std::string& name) const { return profiles_.arrays.at(name); }
  static Matrix block(const ProfileArray& array, Index first, Index count) {
    const Index columns = array.shape.back();
    return Eigen::Map<const Matrix>(array.values.data() + first * columns, count, columns);
  }

  const StoredProfiles& profiles_;
  Index layers_, heads_;
};

/// Puts columns of offsets -m .. m in the middle of a wider range.
template <class Numbers>
Numbers widened(const Numbers& numbers, Index columns) {
  Numbers result;
  if constexpr (Numbers::ColsAtCompileTime == 1) {
    result = Numbers::Zero(columns);
    result.segment((columns - numbers.size()) / 2, numbers.size()) = numbers;
  } else {
    result = Numbers::Zero(numbers.rows(), columns);
    result.middleCols((columns - numbers.cols()) / 2, numbers.cols()) = numbers;
  }
  return result;
}

/// The sum over the documents of one file.
/// @param columns  offsets of the traces, of all files
OffsetTraceSum trace_sum(const StoredProfiles& profiles, Index columns) {
  const SumReader read(profiles);
  const Index rows = std::ssize(profiles.layers) * profiles.heads;
  OffsetTraceSum sum;
  sum.documents = std::ssize(profiles.lengths);
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs) {
    sum.trace[pairs] = widened(read.of_pairs("trace", pairs), columns);
    sum.weight[pairs] = widened(read.of_pairs("trace_mean", pairs), columns);
    sum.count[pairs] = widened(read.counts("trace_count", pairs), columns);
    sum.documents_with_pairs[pairs] = widened(read.counts("trace_documents", pairs), columns);
    sum.null_weight[pairs] = read.of_pairs("null_weight", pairs);
    sum.null[pairs] = NullMoments(read.of_pairs("null_variance", pairs), read.of_pairs("null_deviation", pairs),
                                  read.of_pairs("null_third", pairs), read.of_pairs("null_root", pairs));
    sum.documents_with_null[pairs] = read.counts("null_documents", pairs);
  }
  const Vector squares = read.vector("place_squares");
  sum.correlation = DocumentCorrelation(profiles.heads, read.rows("place_sum", 0, rows),
                                        read.rows("place_documents", 0, std::ssize(profiles.layers)), squares);
  for (Index document = 0; document < sum.documents; ++document)
    sum.by_document.push_back(read.rows("by_document", document * rows, rows));
  sum.lengths.assign(profiles.lengths.begin(), profiles.lengths.end());
  return sum;
}

/// The same at |t| <= reach.
OffsetTraceSum within(OffsetTraceSum sum, Index reach) {
  const auto cut = [&](Matrix& matrix) { matrix = middle_columns(matrix, reach); };
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs) {
    cut(sum.null_weight[pairs]);
    sum.null[pairs] = sum.null[pairs].within(reach);
    Vector& documents = sum.documents_with_null[pairs];
    documents = documents.segment((documents.size() - 1) / 2 - reach, 2 * reach + 1).eval();
  }
  for (Matrix& own : sum.by_document) cut(own);
  return sum;
}

/// Queries or keys of one half, or of one document, before rotary positions turn them: (T, heads * d_head).
/// @param at     which half or document, and the layer
/// @param factor  by which they are multiplied
Matrix32 kept_vectors(const StoredProfiles& profiles, const char* name, std::size_t at, double factor = 1) {
  const ProfileVectors& vectors = profiles.vectors.at(name);
  const Index rows = vectors.shape[2], columns = vectors.shape[3] * vectors.shape[4];
  const float* first = vectors.values.data() + static_cast<Index>(at) * rows * columns;
  Matrix32 matrix = Eigen::Map<const Matrix32>(first, rows, columns);
  if (factor != 1) matrix *= static_cast<float>(factor);
  return matrix;
}

/// Queries and keys of all layers, of one half or document. Queries make up for scales that differ from the first
/// layer's.
std::vector<LayerQueriesKeys> layers_of(const StoredProfiles& profiles, const std::string& whose, std::size_t number) {
  const std::vector<double>& scale = profiles.arrays.at("scale").values;
  std::vector<LayerQueriesKeys> layers;
  for (std::size_t layer = 0; layer < profiles.layers.size(); ++layer) {
    const std::size_t at = number * profiles.layers.size() + layer;
    layers.push_back({kept_vectors(profiles, (whose + "_query").c_str(), at, scale[layer] / scale.front()),
                      kept_vectors(profiles, (whose + "_key").c_str(), at)});
  }
  return layers;
}

/// One document that was kept whole.
/// @param before  documents of files before, an even number
AccountDocument kept_document(const StoredProfiles& profiles, std::size_t number, Index before) {
  const auto length = static_cast<std::size_t>(profiles.lengths.front());
  const auto row = [&](const char* name) {
    return std::span(profiles.arrays.at(name).values).subspan(number * length, length);
  };
  AccountDocument document;
  document.number = before + std::lround(profiles.arrays.at("kept_number").values[number]);
  for (const double stays : row("kept_stays")) document.query_stays.push_back(stays != 0 ? 1 : 0);
  for (const double id : row("kept_token"))
    document.query_ids.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(id)));
  if (std::ranges::min(document.query_ids) < 0) document.query_ids.clear();
  document.key_stays = document.query_stays;
  document.key_ids = document.query_ids;
  document.first_key_special = profiles.arrays.at("kept_first_special").values[number] != 0 ? 1 : 0;
  document.layers = layers_of(profiles, "kept", number);
  return document;
}

Index account_documents_of(const StoredProfiles& profiles) {
  const std::vector<double>& parts = profiles.arrays.at("account_documents").values;
  return std::lround(std::accumulate(parts.begin(), parts.end(), 0.0));
}

/// The account's sums over the documents of one file, those of the first one's length.
/// @param before  as of kept_document()
AccountSums account_sum(const StoredProfiles& profiles, Index reach, Index before) {
  AccountSums sums;
  const SumReader read(profiles);
  const Index rows = std::ssize(profiles.layers) * profiles.heads;
  for (std::size_t h = 0; h < 2; ++h) {
    AccountHalf& half = sums.halves[h];
    for (std::size_t group = 0; group < account_groups; ++group) {
      const std::size_t part = 2 * group + h;
      half.group_documents.push_back(std::lround(profiles.arrays.at("account_documents").values[part]));
      half.documents += half.group_documents.back();
      half.group_weights.push_back(
          middle_columns(read.rows("account_weight", static_cast<Index>(part) * rows, rows), reach));
    }
    if (half.documents > 0) half.layers = layers_of(profiles, "half", h);
  }
  for (std::size_t number = 0; number < profiles.arrays.at("kept_number").values.size(); ++number) {
    AccountDocument document = kept_document(profiles, number, before);
    sums.halves[static_cast<std::size_t>(document.number % 2)].to_deal.push_back(std::move(document));
  }
  return sums;
}

/// What keys get, of one file; nothing if tokens were not known.
/// @param before  as of kept_document()
AttendedKeySums attended_sum(const StoredProfiles& profiles, Index before) {
  AttendedKeySums sums;
  const auto numbers = profiles.arrays.find("attended_number");
  if (numbers == profiles.arrays.end()) return sums;
  const Index length = profiles.lengths.front(), rows = std::ssize(profiles.layers) * profiles.heads;
  const ProfileVectors &got = profiles.vectors.at("attended_got"), &mass = profiles.vectors.at("attended_mass");
  if (const Index queries = std::ssize(queries_of(chosen_rows(length))); mass.shape.back() != queries)
    throw FormatError(fmt::format("{}: 'attended_mass' has {} queries of each document; expected {}",
                                  profiles.path.string(), mass.shape.back(), queries));
  const auto of = [&](const ProfileVectors& all, std::size_t document) {
    const Index columns = all.shape.back();
    return Eigen::Map<const Matrix32>(all.values.data() + static_cast<Index>(document) * rows * columns, rows, columns);
  };
  for (std::size_t d = 0; d < numbers->second.values.size(); ++d) {
    AttendedKeys keys;
    keys.number = before + std::lround(numbers->second.values[d]);
    const auto tokens = [&](const char* name) {
      return std::span(profiles.arrays.at(name).values)
          .subspan(d * static_cast<std::size_t>(length), static_cast<std::size_t>(length));
    };
    for (const double id : tokens("attended_token")) keys.ids.push_back(static_cast<std::int32_t>(std::lround(id)));
    for (const double text : tokens("attended_text")) keys.text.push_back(text != 0 ? 1 : 0);
    keys.got = of(got, d);
    keys.mass = of(mass, d);
    sums.documents.push_back(std::move(keys));
  }
  std::map<std::int32_t, std::string> texts;
  for (std::size_t w = 0; w < profiles.words.size(); ++w)
    texts.emplace(static_cast<std::int32_t>(std::lround(profiles.arrays.at("word_token").values[w])),
                  profiles.words[w]);
  for (auto& [id, text] : texts) {
    sums.texts.ids.push_back(id);
    sums.texts.texts.push_back(text);
  }
  return sums;
}

/// Distances of one file, of both sides.
DistanceBins distance_bins(const StoredProfiles& profiles) {
  const std::vector<double>&first = profiles.arrays.at("first_offset").values,
        &last = profiles.arrays.at("last_offset").values;
  std::map<Index, Index> ends;
  for (std::size_t bin = 0; bin < first.size(); ++bin) {
    const auto [near, far] = std::minmax({std::abs(first[bin]), std::abs(last[bin])});
    ends[static_cast<Index>(near)] = static_cast<Index>(far);
  }
  DistanceBins bins;
  for (const auto& [near, far] : ends) {
    if (near != (bins.last.empty() ? 0 : bins.last.back() + 1) || far < near)
      throw FormatError(fmt::format("{}: its offset bins leave out the distance {}; expected all from 0 on",
                                    profiles.path.string(), bins.last.empty() ? 0 : bins.last.back() + 1));
    bins.first.push_back(near);
    bins.last.push_back(far);
  }
  return bins;
}

/// The sum over the documents of one file.
/// @param bins  of all files
DistanceSum distance_sum_of(const StoredProfiles& profiles, const DistanceBins& bins) {
  const SumReader read(profiles);
  const std::vector<double>& first = profiles.arrays.at("first_offset").values;
  const Index layers = std::ssize(profiles.layers), heads = profiles.heads, rows = layers * heads,
              blocks = profiles.arrays.at("kept").shape.front();
  std::vector<Index> column;
  for (std::size_t bin = 0; bin < first.size(); ++bin) {
    const double last = profiles.arrays.at("last_offset").values[bin];
    const auto near = static_cast<Index>(std::min(std::abs(first[bin]), std::abs(last)));
    column.push_back(std::ranges::find(bins.first, near) - bins.first.begin());
  }
  const auto binned = [&](Eigen::Ref<Matrix> sums, const Matrix& by_offset) {
    for (std::size_t bin = 0; bin < column.size(); ++bin)
      sums.col(column[bin]) += by_offset.col(static_cast<Index>(bin));
  };
  DistanceSum sum;
  sum.bins = bins;
  sum.weight = Matrix::Zero(rows, bins.count());
  sum.pairs = Matrix::Zero(layers, bins.count());
  for (Index block = 0; block < blocks; ++block) {
    Matrix& regular = sum.regular.emplace_back(Matrix::Zero(rows, bins.count()));
    Matrix& regular_pairs = sum.regular_pairs.emplace_back(Matrix::Zero(layers, bins.count()));
    sum.kept.push_back(Eigen::Map<const Vector>(profiles.arrays.at("kept").values.data() + block * rows, rows));
    for (Index layer = 0; layer < layers; ++layer)
      for (Index apart = 0; apart < 2; ++apart) {
        const Index at = (block * layers + layer) * 2 + apart;
        const Matrix weights = read.rows("weight", at * heads, heads);
        const Matrix pairs = read.rows("pairs", at, 1);
        if (apart == 0) {
          binned(regular.middleRows(layer * heads, heads), weights);
          binned(regular_pairs.row(layer), pairs);
        }
        binned(sum.weight.middleRows(layer * heads, heads), weights);
        binned(sum.pairs.row(layer), pairs);
      }
  }
  return sum;
}

/// Scores of heads of one file.
HeadTypeSum head_type_sum(const StoredProfiles& profiles) {
  const SumReader read(profiles);
  const Index layers = std::ssize(profiles.layers), heads = profiles.heads, scores = head_scores;
  const auto of_scores = [&](const char* name) {
    Matrix matrix(scores, layers * heads);
    for (Index layer = 0; layer < layers; ++layer)
      matrix.middleCols(layer * heads, heads) = read.rows(name, layer * scores, scores);
    return matrix;
  };
  HeadTypeSum sum;
  sum.documents = std::ssize(profiles.lengths);
  sum.scores = {of_scores("head_score"), of_scores("head_score_documents")};
  const std::vector<double>& windows = profiles.arrays.at("window").values;
  std::map<Index, Index> documents_of_length;
  for (const Index length : profiles.lengths) ++documents_of_length[length];
  Matrix even = Matrix::Zero(static_cast<Index>(even_scores), layers * heads), count = even;
  for (const auto& [length, documents] : documents_of_length)
    for (Index layer = 0; layer < layers; ++layer) {
      const auto window =
          static_cast<Index>(std::min(windows[static_cast<std::size_t>(layer)], static_cast<double>(length)));
      const Vector one = even_attention(length, length, profiles.kind, window);
      for (Index score = 0; score < one.size(); ++score) {
        if (std::isnan(one[score])) continue;
        even.row(score).segment(layer * heads, heads).array() += static_cast<double>(documents) * one[score];
        count.row(score).segment(layer * heads, heads).array() += static_cast<double>(documents);
      }
    }
  sum.even = {even, count};
  const Index offsets = read.columns("argmax_share");
  sum.argmax_share = {read.rows("argmax_share", 0, layers * heads),
                      read.vector("argmax_documents").replicate(1, offsets)};
  const std::vector<double>& sinks = profiles.arrays.at("sink_position").values;
  sum.sink_position.value.emplace(sinks.begin(), sinks.end());
  return sum;
}

/// Refuses files that are not of one model and one way of watching it.
void require_alike(const StoredProfiles& one, const StoredProfiles& other) {
  const auto require = [&](const char* what, const auto& first, const auto& second) {
    if (first == second) return;
    throw ShapeError(
        fmt::format("{}: has {} {}, and {} has {}; expected files of one model, watched with the same "
                    "options",
                    other.path.string(), what, second, one.path.string(), first));
  };
  require("the model", one.model, other.model);
  require("the stack", one.name, other.name);
  require("the number of layers", one.layers.size(), other.layers.size());
  require("heads", one.heads, other.heads);
  require("key heads", one.kv_heads, other.kv_heads);
  require("heads of width", one.d_head, other.d_head);
  require("blocks", one.blocks, other.blocks);
  require("special tokens", one.special, other.special);
  require("bins of their own up to the offset", one.exact, other.exact);
  require("contents dealt (1) or not (0):", one.dealing, other.dealing);
  const auto size = [](const StoredProfiles& of, const char* array) { return of.arrays.at(array).shape.back(); };
  require("offsets of the null", size(one, "null_weight"), size(other, "null_weight"));
  require("a first document with this many tokens:", one.lengths.front(), other.lengths.front());
  require("pairs of places", size(one, "place_sum"), size(other, "place_sum"));
}

}  // namespace

DistanceSum distance_sum(const StoredProfiles& profiles) {
  return distance_sum_of(profiles, distance_bins(profiles));
}

Gather StoredSums::gather(const JobOptions& options) const {
  const Index reach = traces_.null_weight[all_pairs].cols() / 2;
  if (options.reach > reach)
    throw ShapeError(
        fmt::format("{}: the null reaches {} tokens, and the job's reach is {}; expected at most {}, or a file "
                    "watched with exact={}",
                    files(), reach, options.reach, reach, 2 * options.reach),
        give("reach", fmt::format("{}", reach)));
  return [this, reach = options.reach](DocumentPass& pass, StageReport& report) {
    report.begin("preparation");
    pass.prepare();
    BlockSums sums = pass.new_block();
    for (std::size_t a = 0; a < pass.kinds().size(); ++a)
      if (auto sum = sum_of(*pass.kinds()[a], pass.sites().front(), reach)) sums.front()[a] = std::move(sum);
    pass.join(std::move(sums));
  };
}

std::string StoredSums::no_account() const {
  const StoredProfiles& first = profiles_.front();
  if (!first.dealing) return "needs queries and keys of documents; watch with deal=True";
  if (const Attendings attendings(first); !attendings.ways.empty() && !attendings.fit())
    return "its layers attend in more than two ways, by windows, positions or soft caps";
  return "needs documents of the most common length, and queries and keys were kept of those as long as the first; "
         "give "
         "documents of one length";
}

std::string StoredSums::files() const {
  const std::string first = printable(profiles_.front().path.string());
  return profiles_.size() == 1 ? first : fmt::format("{} and {} more", first, profiles_.size() - 1);
}

std::unique_ptr<DocumentSum> StoredSums::sum_of(const AnalysisKind& kind, const Site& site, Index reach) const {
  if (&kind == &measured_offset_analysis())
    return std::make_unique<DocumentSumOf<OffsetTraceSum>>(within(traces_, reach));
  if (&kind == &attention_distance_analysis()) {
    auto sum = std::make_unique<DocumentSumOf<DistanceSum>>();
    for (const StoredProfiles& each : profiles_) sum->value.bins.add(distance_bins(each));
    for (const StoredProfiles& each : profiles_) add_to(sum->value, distance_sum_of(each, sum->value.bins));
    return sum;
  }
  if (&kind == &head_types_analysis()) {
    auto sum = std::make_unique<DocumentSumOf<HeadTypeSum>>();
    for (const StoredProfiles& each : profiles_) add_to(sum->value, head_type_sum(each));
    return sum;
  }
  const Index length = profiles_.front().lengths.front();
  if (site.length != length || !Attendings(profiles_.front()).fit()) return nullptr;
  /// Sums of all files, documents numbered one file after the other.
  const auto over_files = [&]<class Sum>(const auto& of_file) {
    auto sum = std::make_unique<DocumentSumOf<Sum>>();
    Index before = 0;
    for (const StoredProfiles& each : profiles_) {
      if (each.dealt_documents == 0) continue;
      add_to(sum->value, of_file(each, before));
      before += (account_documents_of(each) + 1) / 2 * 2;
    }
    return sum;
  };
  if (&kind == &head_account_analysis())
    return over_files.operator()<AccountSums>([&](const StoredProfiles& each, Index before) {
      return account_sum(each, std::min(reach, (length - 1) / 2), before);
    });
  if (&kind == &attention_bits_analysis())
    return over_files.operator()<AttendedKeySums>(
        [](const StoredProfiles& each, Index before) { return attended_sum(each, before); });
  return nullptr;
}

void require_options_of_sums(const JobOptions& options) {
  require_in_range(options);
  (void)chosen_analyses(options);  // refuses names that there are not
  constexpr auto needs_documents = "is about documents or weights, and profiles are sums over documents";
  const JobOptions usual;
  for (const auto& [name, differs] :
       {std::pair("draws", options.draws != usual.draws), {"together", options.together != usual.together}})
    if (differs) throw ShapeError(fmt::format("the option {} {}", name, needs_documents), omit(name));
  const auto reads = [](const OwnOption* own) {
    return std::ranges::any_of(analysis_kinds(), [&](const AnalysisKind* kind) {
      return kind->of_sums && std::ranges::count(kind->options, own) > 0;
    });
  };
  for (const AnalysisKind* kind : analysis_kinds())
    for (const OwnOption* own : kind->options)
      if (options[*own] != own->usual && !reads(own))
        throw ShapeError(fmt::format("the option {} {}", own->name, needs_documents), omit(std::string(own->name)));
  if (!options.only.empty() && std::ranges::none_of(analysis_kinds(), [&](const AnalysisKind* kind) {
        return kind->of_sums && std::ranges::count(options.only, kind->name) > 0;
      }))
    throw ShapeError(fmt::format("{}: needs documents or weights, and profiles are sums over documents",
                                 fmt::join(options.only, ", ")),
                     omit("only"));
}

namespace {

/// One kind of attention of all files.
JobInput input_of_stack(std::vector<StoredProfiles> profiles, const std::string& digests, const std::string& ids) {
  Index columns = 1;
  for (const StoredProfiles& each : profiles) columns = std::max(columns, each.arrays.at("trace").shape.back());
  OffsetTraceSum traces;
  for (StoredProfiles& each : profiles) {
    add_to(traces, trace_sum(each, columns));
    for (const char* taken : {"trace", "trace_mean", "null_weight", "null_variance", "null_deviation", "null_third",
                              "null_root", "by_document", "place_sum"})
      each.arrays.erase(taken);
  }
  Attributes provenance{{"watched", std::string("headwave.watch")}};
  const StoredProfiles& first = profiles.front();
  for (const auto& [key, text] : {std::pair("model", &first.checkpoint),
                                  {"model_revision", &first.revision},
                                  {"model_weights_digest", &first.weights_digest}})
    if (!text->empty()) provenance[key] = printable(*text);
  if (!first.left_out.empty())
    provenance["left_out_stacks"] = printable(fmt::format("{}", fmt::join(first.left_out, ", ")));
  Model model = model_of(first);
  auto source = std::make_unique<SummedDocuments>(profiles, digests, ids);
  return {std::move(model), std::move(source), std::move(provenance),
          std::make_shared<const StoredSums>(std::move(traces), std::move(profiles))};
}

/// A digest of the ids of all documents, of the encoder as of the decoder, the same in however many files they
/// are; documents_not_seen if some are not known.
std::string digest_of_documents(const std::vector<std::vector<StoredProfiles>>& stacks) {
  std::string list;
  for (const std::vector<StoredProfiles>& stack : stacks)
    for (const StoredProfiles& each : stack)
      for (const double digest : each.arrays.at("document_digest").values) {
        if (!(digest > 0)) return documents_not_seen;
        list += fmt::format("{:013x}\n", static_cast<std::int64_t>(digest));
      }
  return sha256_of_text(list);
}

/// The documents of one file, each by the digests of its ids in every stack; none if some are not known.
std::set<std::vector<double>> documents_of(const std::vector<std::vector<StoredProfiles>>& stacks, std::size_t file) {
  std::set<std::vector<double>> documents;
  for (std::size_t d = 0; d < stacks.front()[file].lengths.size(); ++d) {
    std::vector<double> digests;
    for (const std::vector<StoredProfiles>& stack : stacks) {
      const std::vector<double>& of_stack = stack[file].arrays.at("document_digest").values;
      digests.push_back(d < of_stack.size() ? of_stack[d] : 0);
      if (!(digests.back() > 0)) return {};
    }
    documents.insert(std::move(digests));
  }
  return documents;
}

/// Refuses a file of other weights than one before, or whose documents are all among that one's, or the other way
/// round.
void require_other_documents(const std::vector<std::vector<StoredProfiles>>& stacks) {
  const std::size_t last = stacks.front().size() - 1;
  const auto other = documents_of(stacks, last);
  for (std::size_t f = 0; f < last; ++f) {
    const StoredProfiles &before = stacks.front()[f], &now = stacks.front()[last];
    if (!before.weights_digest.empty() && !now.weights_digest.empty() && before.weights_digest != now.weights_digest)
      throw ShapeError(
          fmt::format("{}: has weights with the digest {:.12}..., and {} has {:.12}...; expected profiles "
                      "of the same weights, in the same dtype",
                      now.path.string(), now.weights_digest, before.path.string(), before.weights_digest));
    const auto one = documents_of(stacks, f);
    if (!one.empty() && !other.empty() && (std::ranges::includes(one, other) || std::ranges::includes(other, one)))
      throw FormatError(
          fmt::format("{}: holds documents of {} again ({}); expected other documents, since each counts once",
                      now.path.string(), before.path.string(), std::min(one.size(), other.size())));
  }
}

}  // namespace

JobInput profiles_input(std::vector<GivenProfiles> given, const Attributes& about) {
  std::vector<std::filesystem::path> files;
  for (const GivenProfiles& each : given)
    if (const auto* path = std::get_if<std::filesystem::path>(&each)) files.push_back(*path);
  const std::string digests = files.empty() ? std::string() : sha256_list(files);
  std::vector<std::vector<StoredProfiles>> stacks;  // by kind of attention, then by file
  for (GivenProfiles& each : given) {
    const auto* path = std::get_if<std::filesystem::path>(&each);
    std::vector<StoredProfiles> read =
        path != nullptr ? stored_profiles(*path) : stored_profiles(std::get<NamedProfiles>(std::move(each)));
    if (stacks.empty()) stacks.resize(read.size());
    if (read.size() != stacks.size())
      throw ShapeError(
          fmt::format("{}: has {} stacks of layers, and {} has {}; expected files of one model, watched "
                      "with the same options",
                      read.front().path.string(), read.size(), stacks.front().front().path.string(), stacks.size()));
    for (std::size_t s = 0; s < stacks.size(); ++s) {
      if (!stacks[s].empty()) require_alike(stacks[s].front(), read[s]);
      stacks[s].push_back(std::move(read[s]));
    }
    require_other_documents(stacks);
  }
  const std::string ids = digest_of_documents(stacks);
  JobInput input = input_of_stack(std::move(stacks.front()), digests, ids);
  for (std::size_t s = 1; s < stacks.size(); ++s)
    input.others.push_back(input_of_stack(std::move(stacks[s]), digests, ids));
  input.provenance.insert(about.begin(), about.end());
  for (JobInput& other : input.others) other.provenance.insert(about.begin(), about.end());
  return input;
}

JobInput profiles_input(const std::vector<std::filesystem::path>& files) {
  return profiles_input(std::vector<GivenProfiles>(files.begin(), files.end()), {});
}

}  // namespace headwave
