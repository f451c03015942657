#include "stored_sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/attention/attention_distance.h"
#include "../../analysis/attention/head_types.h"
#include "../../analysis/attention/measured_offset.h"
#include "../../analysis/registry/job_option_table.h"
#include "../../analysis/registry/registry.h"
#include "../../analysis/why/attention_bits.h"
#include "../../analysis/why/head_account.h"
#include "../../core/errors/error.h"
#include "../../data/files/digest.h"
#include "../../data/files/printable.h"
#include "../run/document_pass.h"

namespace headwave {

namespace {

/// Documents of which only the lengths are known.
class SummedDocuments : public Source {
 public:
  /// @param digest  of the file; empty if the sums are in memory
  /// @param ids     digest of the ids of all documents
  SummedDocuments(const StoredProfiles& profiles, const std::string& digest, const std::string& ids)
      : lengths_(profiles.lengths),
        provenance_{{"source", std::string("stored profiles")},
                    {"source_file", profiles.path.string()},
                    {"ids_sha256", ids},
                    {"documents", std::int64_t{std::ssize(lengths_)}},
                    {"length", std::int64_t{std::ranges::max(lengths_)}},
                    {"special_tokens",
                     std::string(profiles.special == "[]"    ? "not known: none were given to headwave.watch"
                                 : ids == documents_not_seen ? "named when the model was watched, but not found in "
                                                               "documents without ids"
                                                             : "named when the model was watched")}} {
    for (const Index layer : profiles.layers) layers_.push_back({layer, {}, {}, {}, {}});
    if (!digest.empty()) provenance_["source_sha256"] = digest;
  }

  [[nodiscard]] Index count() const override { return std::ssize(lengths_); }
  [[nodiscard]] Index length(Index i) const override { return lengths_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = fmt::format("document {}", i);
    document.stored = layers_;
    return document;
  }
  [[nodiscard]] Attributes provenance() const override { return provenance_; }

 private:
  std::vector<StoredLayer> layers_;
  std::vector<Index> lengths_;
  Attributes provenance_;
};

/// How some layers attend, as AccountSums need it.
struct Attending {
  double soft_cap = 0;
  Index window = 0;
  double gain = 1;                ///< of rotary positions
  bool neighbours = false;        ///< channels 2m and 2m + 1 turn together, rather than m and m + r/2
  std::vector<double> frequency;  ///< (r/2) of rotary positions, radians per token; empty: none
  Matrix bias;                    ///< (heads, 2 T - 1)  scores by offset; or empty

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
  const auto row = [&](const char* name) { return profiles.part(name, layer, profiles.layers.size()); };
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

/// The different ways in which layers attend, and that of each layer. A Stack can have at most two.
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

/// A model with the heads and masks alone, and with how its heads attend if queries and keys were kept.
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
  block.score_scale = profiles.values("scale").front();
  block.soft_cap = attendings.ways.front().soft_cap;
  block.window = attendings.ways.front().window;
  model.stack.position_term = attendings.ways.front().term();
  model.stack.others.window = attendings.ways.back().window;
  model.stack.others.position_term = attendings.ways.back().term();
  for (std::size_t layer = 0; layer < profiles.layers.size(); ++layer)
    if (attendings.of_layer[layer] > 0) model.stack.others.layers.push_back(profiles.layers[layer]);
  if (!profiles.arrays.contains("sink_score")) return model;
  const std::vector<double>& scores = profiles.values("sink_score");
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

/// Rows first .. first + count - 1 of an array whose last axis gives the columns.
Matrix rows_of(const StoredProfiles& profiles, const char* name, Index first, Index count) {
  const ProfileArray& array = profiles.arrays.at(name);
  const Index columns = array.shape.back();
  return Eigen::Map<const Matrix>(array.values.data() + first * columns, count, columns);
}

/// A whole array as a matrix with this many rows.
Matrix whole(const StoredProfiles& profiles, const char* name, Index rows) {
  const std::vector<double>& values = profiles.values(name);
  return Eigen::Map<const Matrix>(values.data(), rows, std::ssize(values) / rows);
}

OffsetTraceSum trace_sum(const StoredProfiles& profiles) {
  const Index layers = std::ssize(profiles.layers), rows = layers * profiles.heads;
  OffsetTraceSum sum;
  sum.documents = std::ssize(profiles.lengths);
  for (std::size_t pairs = 0; pairs < pairs_kinds; ++pairs) {
    const auto kind = static_cast<Index>(pairs);
    const auto of_heads = [&](const char* name) { return rows_of(profiles, name, kind * rows, rows); };
    /// Counts of the layer whose mask allows most pairs.
    const auto counts = [&](const char* name) -> Vector {
      return rows_of(profiles, name, kind * layers, layers).colwise().maxCoeff().transpose();
    };
    sum.trace[pairs] = of_heads("trace");
    sum.weight[pairs] = of_heads("trace_mean");
    sum.count[pairs] = counts("trace_count");
    sum.documents_with_pairs[pairs] = counts("trace_documents");
    sum.null_weight[pairs] = of_heads("null_weight");
    sum.null[pairs] = NullMoments(of_heads("null_variance"), of_heads("null_deviation"), of_heads("null_third"),
                                  of_heads("null_root"));
    sum.documents_with_null[pairs] = counts("null_documents");
  }
  sum.correlation =
      DocumentCorrelation(profiles.heads, whole(profiles, "place_sum", rows),
                          whole(profiles, "place_documents", layers), whole(profiles, "place_squares", rows).col(0));
  for (Index document = 0; document < sum.documents; ++document)
    sum.by_document.push_back(rows_of(profiles, "by_document", document * rows, rows));
  sum.lengths.assign(profiles.lengths.begin(), profiles.lengths.end());
  return sum;
}

/// The same sum at |t| <= reach.
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
/// @param at      which half or document, and which layer
/// @param factor  multiplies them
Matrix32 kept_vectors(const StoredProfiles& profiles, const char* name, std::size_t at, double factor = 1) {
  const ProfileVectors& vectors = profiles.vectors.at(name);
  const Index rows = vectors.shape[2], columns = vectors.shape[3] * vectors.shape[4];
  const float* first = vectors.values.data() + static_cast<Index>(at) * rows * columns;
  Matrix32 matrix = Eigen::Map<const Matrix32>(first, rows, columns);
  if (factor != 1) matrix *= static_cast<float>(factor);
  return matrix;
}

/// Queries and keys of all layers, of one half or document. Scales that differ from the first layer's are put
/// into the queries.
std::vector<LayerQueriesKeys> layers_of(const StoredProfiles& profiles, const std::string& whose, std::size_t number) {
  const std::vector<double>& scale = profiles.values("scale");
  std::vector<LayerQueriesKeys> layers;
  for (std::size_t layer = 0; layer < profiles.layers.size(); ++layer) {
    const std::size_t at = number * profiles.layers.size() + layer;
    layers.push_back({kept_vectors(profiles, (whose + "_query").c_str(), at, scale[layer] / scale.front()),
                      kept_vectors(profiles, (whose + "_key").c_str(), at)});
  }
  return layers;
}

/// One document that was stored whole.
AccountDocument kept_document(const StoredProfiles& profiles, std::size_t number) {
  const auto row = [&](const char* name) { return profiles.part(name, number, profiles.values("kept_number").size()); };
  AccountDocument document;
  document.number = std::lround(profiles.values("kept_number")[number]);
  for (const double stays : row("kept_stays")) document.query_stays.push_back(stays != 0 ? 1 : 0);
  for (const double id : row("kept_token"))
    document.query_ids.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(id)));
  if (std::ranges::min(document.query_ids) < 0) document.query_ids.clear();
  document.key_stays = document.query_stays;
  document.key_ids = document.query_ids;
  document.first_key_special = profiles.values("kept_first_special")[number] != 0 ? 1 : 0;
  document.layers = layers_of(profiles, "kept", number);
  return document;
}

/// The account's sums over the documents that are as long as the first one.
AccountSums account_sum(const StoredProfiles& profiles, Index reach) {
  AccountSums sums;
  const Index rows = std::ssize(profiles.layers) * profiles.heads;
  for (std::size_t h = 0; h < 2; ++h) {
    AccountHalf& half = sums.halves[h];
    for (std::size_t group = 0; group < account_groups; ++group) {
      const std::size_t part = 2 * group + h;
      half.group_documents.push_back(std::lround(profiles.values("account_documents")[part]));
      half.documents += half.group_documents.back();
      half.group_weights.push_back(
          middle_columns(rows_of(profiles, "account_weight", static_cast<Index>(part) * rows, rows), reach));
    }
    if (half.documents > 0) half.layers = layers_of(profiles, "half", h);
  }
  for (std::size_t number = 0; number < profiles.values("kept_number").size(); ++number) {
    AccountDocument document = kept_document(profiles, number);
    sums.halves[static_cast<std::size_t>(document.number % 2)].to_deal.push_back(std::move(document));
  }
  return sums;
}

/// What keys receive; nothing if tokens are unknown.
AttendedKeySums attended_sum(const StoredProfiles& profiles) {
  AttendedKeySums sums;
  if (!profiles.arrays.contains("attended_number")) return sums;
  const std::vector<double>& numbers = profiles.values("attended_number");
  const Index length = profiles.lengths.front(), rows = std::ssize(profiles.layers) * profiles.heads;
  const ProfileVectors &got = profiles.vectors.at("attended_got"), &mass = profiles.vectors.at("attended_mass");
  if (const Index queries = std::ssize(queries_of(chosen_rows(length))); mass.shape.back() != queries)
    throw FormatError(fmt::format("{}: 'attended_mass' has {} queries per document; expected {}",
                                  profiles.path.string(), mass.shape.back(), queries));
  const auto of = [&](const ProfileVectors& all, std::size_t document) {
    const Index columns = all.shape.back();
    return Eigen::Map<const Matrix32>(all.values.data() + static_cast<Index>(document) * rows * columns, rows, columns);
  };
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    const auto tokens = [&](const char* name) { return profiles.part(name, d, numbers.size()); };
    AttendedKeys keys;
    keys.number = std::lround(numbers[d]);
    for (const double id : tokens("attended_token")) keys.ids.push_back(static_cast<std::int32_t>(std::lround(id)));
    for (const double text : tokens("attended_text")) keys.text.push_back(text != 0 ? 1 : 0);
    keys.got = of(got, d);
    keys.mass = of(mass, d);
    sums.documents.push_back(std::move(keys));
  }
  std::map<std::int32_t, std::string> texts;
  for (std::size_t w = 0; w < profiles.words.size(); ++w)
    texts.emplace(static_cast<std::int32_t>(std::lround(profiles.values("word_token")[w])), profiles.words[w]);
  for (auto& [id, text] : texts) {
    sums.texts.ids.push_back(id);
    sums.texts.texts.push_back(text);
  }
  return sums;
}

}  // namespace

DistanceSum distance_sum(const StoredProfiles& profiles) {
  const std::vector<double>&first = profiles.values("first_offset"), &last = profiles.values("last_offset");
  const Index layers = std::ssize(profiles.layers), heads = profiles.heads, rows = layers * heads,
              blocks = profiles.arrays.at("kept").shape.front();
  // Bins of distances, for both sides together, and the bin of each bin of offsets.
  std::map<Index, Index> ends;
  std::vector<Index> near;
  for (std::size_t bin = 0; bin < first.size(); ++bin) {
    const auto [least, most] = std::minmax({std::abs(first[bin]), std::abs(last[bin])});
    near.push_back(static_cast<Index>(least));
    ends[near.back()] = static_cast<Index>(most);
  }
  DistanceBins bins;
  for (const auto& [begin, end] : ends) {
    const Index next = bins.last.empty() ? 0 : bins.last.back() + 1;
    if (begin != next || end < begin)
      throw FormatError(fmt::format("{}: its offset bins omit the distance {}; expected every distance from 0 on",
                                    profiles.path.string(), next));
    bins.first.push_back(begin);
    bins.last.push_back(end);
  }
  std::vector<Index> column;
  for (const Index begin : near) column.push_back(std::ranges::find(bins.first, begin) - bins.first.begin());
  const auto binned = [&](Eigen::Ref<Matrix> sums, const Matrix& by_offset) {
    for (std::size_t bin = 0; bin < column.size(); ++bin)
      sums.col(column[bin]) += by_offset.col(static_cast<Index>(bin));
  };
  DistanceSum sum;
  sum.bins = bins;
  sum.weight = Matrix::Zero(rows, bins.count());
  sum.pairs = Matrix::Zero(layers, bins.count());
  for (Index block = 0; block < blocks; ++block) {
    auto& [regular, regular_pairs, kept] = sum.blocks.emplace_back(
        DistanceBlock{Matrix::Zero(rows, bins.count()), Matrix::Zero(layers, bins.count()), {}});
    kept = Eigen::Map<const Vector>(profiles.values("kept").data() + block * rows, rows);
    for (Index layer = 0; layer < layers; ++layer)
      for (Index apart = 0; apart < 2; ++apart) {
        const Index at = (block * layers + layer) * 2 + apart;
        const Matrix weights = rows_of(profiles, "weight", at * heads, heads);
        const Matrix pairs = rows_of(profiles, "pairs", at, 1);
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

namespace {

HeadTypeSum head_type_sum(const StoredProfiles& profiles) {
  const Index layers = std::ssize(profiles.layers), heads = profiles.heads;
  HeadTypeSum sum;
  sum.documents = std::ssize(profiles.lengths);
  const std::vector<double>& windows = profiles.values("window");
  std::map<Index, Index> documents_of_length;
  for (const Index length : profiles.lengths) ++documents_of_length[length];
  Matrix even = Matrix::Zero(even_scores, layers * heads), count = even;
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
  Matrix scores(head_scores + even_scores, layers * heads), defined = scores;
  scores << whole(profiles, "head_score", head_scores), even;
  defined << whole(profiles, "head_score_documents", head_scores), count;
  sum.scores = {std::move(scores), std::move(defined)};
  const Matrix shares = whole(profiles, "argmax_share", layers * heads);
  sum.argmax_share = {shares, whole(profiles, "argmax_documents", layers * heads).replicate(1, shares.cols())};
  const std::vector<double>& sinks = profiles.values("sink_position");
  sum.sink_position.value.emplace(sinks.begin(), sinks.end());
  return sum;
}

}  // namespace

Gather StoredSums::gather(const JobOptions& options) const {
  const Index reach = traces_.null_weight[all_pairs].cols() / 2;
  if (options.reach > reach)
    throw ShapeError(
        fmt::format("{}: the null reaches {} tokens, but the job's reach is {}; expected at most {}, or a file "
                    "watched with exact={}",
                    file(), reach, options.reach, reach, 2 * options.reach),
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
  if (!profiles_.dealing) return "needs queries and keys of documents; watch with deal=True";
  if (const Attendings attendings(profiles_); !attendings.ways.empty() && !attendings.fit())
    return "its layers attend in more than two ways, by windows, positions or soft caps";
  return "needs documents of the most common length, but queries and keys were kept only of documents as long as the "
         "first; give documents of one length";
}

std::string StoredSums::file() const {
  return printable(profiles_.path.string());
}

std::unique_ptr<DocumentSum> StoredSums::sum_of(const AnalysisKind& kind, const Site& site, Index reach) const {
  const auto of = []<class Sum>(Sum sum) { return std::make_unique<DocumentSumOf<Sum>>(std::move(sum)); };
  if (&kind == &measured_offset_analysis) return of(within(traces_, reach));
  if (&kind == &attention_distance_analysis) return of(distance_sum(profiles_));
  if (&kind == &head_types_analysis) return of(head_type_sum(profiles_));
  const bool account = &kind == &head_account_analysis;
  if (!account && &kind != &attention_bits_analysis) return nullptr;
  const Index length = profiles_.lengths.front();
  if (profiles_.dealt_documents == 0 || site.length != length || !Attendings(profiles_).fit()) return nullptr;
  if (account) return of(account_sum(profiles_, std::min(reach, (length - 1) / 2)));
  return of(attended_sum(profiles_));
}

void require_options_of_sums(const JobOptions& options) {
  require_in_range(options);
  (void)chosen_analyses(options);  // refuses unknown names
  constexpr auto needs_documents = "needs documents or weights, but profiles hold only sums over documents";
  const JobOptions usual;
  for (const auto& [name, differs] : {std::pair("draws", options.draws != usual.draws),
                                      {"parallel_documents", options.parallel_documents != usual.parallel_documents}})
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
    throw ShapeError(fmt::format("{}: {}", fmt::join(options.only, ", "), needs_documents), omit("only"));
}

namespace {

/// The input of one kind of attention.
JobInput input_of_stack(StoredProfiles profiles, const std::string& digest, const std::string& ids) {
  OffsetTraceSum traces = trace_sum(profiles);
  for (const char* taken : {"trace", "trace_mean", "null_weight", "null_variance", "null_deviation", "null_third",
                            "null_root", "by_document", "place_sum"})
    profiles.arrays.erase(taken);
  Attributes provenance{{"watched", std::string("headwave.watch")}};
  for (const auto& [key, text] : {std::pair("model", &profiles.checkpoint),
                                  {"model_revision", &profiles.revision},
                                  {"model_weights_digest", &profiles.weights_digest}})
    if (!text->empty()) provenance[key] = printable(*text);
  if (!profiles.left_out.empty())
    provenance["left_out_stacks"] = printable(fmt::format("{}", fmt::join(profiles.left_out, ", ")));
  Model model = model_of(profiles);
  auto source = std::make_unique<SummedDocuments>(profiles, digest, ids);
  return {std::move(model), std::move(source), std::move(provenance),
          std::make_shared<const StoredSums>(std::move(traces), std::move(profiles))};
}

/// A digest of the ids of all documents, in encoder and decoder; documents_not_seen if some are unknown.
std::string digest_of_documents(const std::vector<StoredProfiles>& stacks) {
  std::string list;
  for (const StoredProfiles& stack : stacks)
    for (const double digest : stack.arrays.at("document_digest").values) {
      if (!(digest > 0)) return documents_not_seen;
      list += fmt::format("{:013x}\n", static_cast<std::int64_t>(digest));
    }
  return sha256_of_text(list);
}

}  // namespace

JobInput profiles_input(GivenProfiles given, const Attributes& about) {
  const auto* path = std::get_if<std::filesystem::path>(&given);
  const std::string digest = path != nullptr ? sha256_list({*path}) : std::string();
  std::vector<StoredProfiles> stacks =
      path != nullptr ? stored_profiles(*path) : stored_profiles(std::get<NamedProfiles>(std::move(given)));
  const std::string ids = digest_of_documents(stacks);
  JobInput input = input_of_stack(std::move(stacks.front()), digest, ids);
  for (std::size_t s = 1; s < stacks.size(); ++s)
    input.others.push_back(input_of_stack(std::move(stacks[s]), digest, ids));
  input.provenance.insert(about.begin(), about.end());
  for (JobInput& other : input.others) other.provenance.insert(about.begin(), about.end());
  return input;
}

}  // namespace headwave
