// Which part of the network wrote what a head's queries and keys read.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/layer.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/source.h"
#include "../../core/numbers/largest_entries.h"
#include "../../core/process/threads.h"
#include "../pass/analysis.h"
#include "../pass/even_spread.h"
#include "../pass/mean_over_documents.h"
#include "head_account.h"
#include "stream_parts.h"

namespace headwave {

namespace {

// The scores of every head as a sum over the sources of its queries and keys.
//
// The state that enters a layer is a sum x = sum_s c_s over sources s (stream_parts.h). With norms held,
// queries and keys are linear in it, also after rotation, so that exactly
//
//     s_ij = scale sum_ss' (c_s,i W_Q) . (c_s',j W_K)                                          (1)
//
// m^Q and m^K are mean queries and keys of a place over other documents. On the query side the kernel is
//
//     F_s(t) = mean over documents and i of scale (c_s,i W_Q) . m^K_(i+t), rows centred        (2)
//     K(t) = sum_s F_s(t),   share of s = cov_t(F_s, K) / var_t(K),   |t| <= reach             (3)
//
// The key side is the mean of scale m^Q_i . (c_s,i+t W_K). Rows are centred over the followed keys that the
// mask allows, special ones too, since softmax ignores what a query's keys have in common. The content is
//
//     C_s(t) = 1/2 mean over pairs of documents and i of scale (c_s,i - c'_s,i) W_Q . (k_(i+t) - k'_(i+t))   (4)
//     c(t) = sum_s C_s(t),   share of s = C_s(t) / c(t)                                        (5)
//
// with c' and k' of the other document, so that what a place has in all documents cancels. It says how
// queries and keys vary together at t = 0 (a token with itself), -1 and +1 (with its neighbours). The key
// side is analogous. Pairs with a special token or the first token are omitted.
//
// Scores are after rotation, before a soft cap, and without a position term of T5, ALiBi or DeBERTa.
//
// Source: this project, after Franco and Crovella 2025, NeurIPS, who decompose single scores of one prompt.

constexpr Index documents_followed = 8;  // evenly spread; they pass through the model once more, in pairs
constexpr Index places_followed = 128;   // in the middle of each document
constexpr double most_missed = 1e-4;     // largest error of the sum over sources, see SourceProbe::miss()
constexpr double least_errors = 3;       // standard errors below which a content has no shares
constexpr std::array<Index, 3> content_offsets{-1, 0, 1};
constexpr auto offsets_of_content = static_cast<Index>(content_offsets.size());

/// Sums for one layer over documents; for content, over pairs of documents.
struct LayerSums {
  std::array<Matrix, 2> kernel;                ///< [0: queries, 1: keys] (heads * sources, 2 reach + 1)  F
  std::array<std::vector<Matrix>, 2> earlier;  ///< [side][chosen head] (sources by head, 2 reach + 1)  F
  Largest<double> missed;
  std::array<Matrix, 2> parts;  ///< [side] (heads * sources, offsets_of_content)  C
  MeanOverDocuments content;    ///< (heads, offsets_of_content)  c; a pair counts as a document
};

/// The followed places, the query-key pairs of them that count, and sums over all documents.
struct Followed {
  const AccountSite& site;
  Index first = 0, count = 0, reach = 0;
  std::vector<Index> places;               ///< (count)  first, first + 1, ...
  Eigen::RowVectorXf ordinary;             ///< (count)  1: no document has a special or first token there
  std::vector<LayerQueriesKeys> sums;      ///< [layer] (count, width)  over all documents of the site, rotated
  Index all = 0;                           ///< number of these documents
  std::vector<std::vector<Index>> chosen;  ///< [layer]  heads for which each earlier head is a source
  bool by_head = false;                    ///< whether there are such heads

  Followed(const AccountHalves& halves, const std::vector<HeadName>& heads, const std::vector<Document>& documents)
      : site(halves.site),
        count(std::min(site.length, places_followed)),
        all(halves.halves[0].documents + halves.halves[1].documents),
        chosen(site.grid.layers.size()) {
    first = (site.length - count) / 2;
    reach = std::min(site.reach, (count - 1) / 2);
    ordinary.setOnes(count);
    places.resize(static_cast<std::size_t>(count));
    std::iota(places.begin(), places.end(), first);
    for (Index i = 0; i < count; ++i)
      for (const Document& document : documents)
        if (first + i == 0 || document.query_tokens(site.kind).is_special(first + i)) ordinary[i] = 0;
    for (std::size_t place = 0; place < site.grid.layers.size(); ++place) {
      LayerQueriesKeys& sum = sums.emplace_back();
      for (const AccountHalf& half : halves.halves) {
        if (half.documents == 0) continue;
        add_to(sum.query, Matrix32(half.layers[place].query.middleRows(first, count)));
        add_to(sum.key, Matrix32(half.layers[place].key.middleRows(first, count)));
      }
      turn(place, sum.query);
      turn(place, sum.key);
    }
    for (const HeadName& name : heads)
      if (const Index place = site.grid.place_of(name.layer); place >= 0) {
        chosen[static_cast<std::size_t>(place)].push_back(name.head);
        by_head = true;
      }
  }

  [[nodiscard]] const Stack& stack() const { return *site.stack; }
  /// Followed keys that the mask allows query i.
  [[nodiscard]] KeySpan open(std::size_t place, Index i) const {
    return allowed_keys(i, count, site.kind == AttentionKind::causal, site.window(place));
  }
  /// The same keys within reach.
  [[nodiscard]] KeySpan near(std::size_t place, Index i) const {
    const KeySpan open = this->open(place, i);
    const Index from = std::max(open.first, i - reach), end = std::min(open.end(), i + reach + 1);
    return {from, std::max<Index>(0, end - from)};
  }
  /// Number of pairs of ordinary tokens at each offset.
  [[nodiscard]] Vector pairs(std::size_t place) const {
    Vector pairs = Vector::Zero(2 * reach + 1);
    for (Index i = 0; i < count; ++i) {
      if (ordinary[i] == 0) continue;
      const KeySpan near = this->near(place, i);
      pairs.segment(near.first - i + reach, near.count) +=
          ordinary.segment(near.first, near.count).transpose().cast<double>();
    }
    return pairs;
  }
  /// Rotates queries or keys of the followed places.
  void turn(std::size_t place, Eigen::Ref<Matrix32> rows) const {
    rows = Turning(site, place).turned(rows, places, site.length, false);
  }
  /// Adds scores along diagonals |t| <= reach, each row centred over the keys that the mask allows.
  /// @param scores  (count, count)
  void add_centred(std::size_t place, const Matrix32& scores, Eigen::Ref<Eigen::RowVectorXd> by_offset) const {
    for (Index i = 0; i < count; ++i) {
      const KeySpan open = this->open(place, i), near = this->near(place, i);
      if (ordinary[i] == 0 || near.count == 0) continue;
      const auto row = scores.row(i);
      const float mean = row.segment(open.first, open.count).mean();
      by_offset.segment(near.first - i + reach, near.count) +=
          ((row.segment(near.first, near.count).array() - mean) * ordinary.segment(near.first, near.count).array())
              .matrix()
              .cast<double>();
    }
  }
};

/// Adds up the parts of an attention that was split by head.
/// @param fine     sources of `parts`
/// @param sources  without_heads(fine)
Matrix32 together(const Matrix32& parts, const std::vector<StreamSource>& fine,
                  const std::vector<StreamSource>& sources, Index count) {
  Matrix32 sum = Matrix32::Zero(static_cast<Index>(sources.size()) * count, parts.cols());
  for (std::size_t f = 0; f < fine.size(); ++f) {
    StreamSource of = fine[f];
    of.head = -1;
    const Index at = std::find(sources.begin(), sources.end(), of) - sources.begin();
    sum.middleRows(at * count, count) += parts.middleRows(static_cast<Index>(f) * count, count);
  }
  return sum;
}

/// Sources with all heads of an attention together.
std::vector<StreamSource> without_heads(const std::vector<StreamSource>& fine) {
  std::vector<StreamSource> sources;
  for (StreamSource source : fine) {
    source.head = -1;
    if (sources.empty() || !(sources.back() == source)) sources.push_back(source);
  }
  return sources;
}

/// Splits the queries and keys of one document by source during its pass.
class SourceProbe : public Probe {
 public:
  /// @param when_read  called after each layer with its index in the grid
  SourceProbe(const Followed& followed, const TokenSequence& tokens, std::function<void(std::size_t)> when_read)
      : found(followed.site.grid.layers.size()),
        followed_(followed),
        spec_(followed.stack().block),
        stream_(followed.stack(), tokens, followed.first, followed.count, followed.by_head),
        when_read_(std::move(when_read)) {}

  [[nodiscard]] bool wants_projections() const override { return true; }
  [[nodiscard]] bool wants_values() const override { return followed_.by_head; }
  using Probe::see;
  void see(const Tile& /*tile*/) override {}

  void see(const LayerInput& input) override {
    if (input.kind != followed_.site.kind) return;
    fine_ = stream_.entering(input.layer);
    fine_sources = stream_.sources();
    sources = without_heads(fine_sources);
    const bool split = fine_sources.size() > sources.size();
    const Matrix32 parts = split ? together(fine_, fine_sources, sources, count()) : Matrix32();
    weights_ = input.weights;
    made.query = query_parts(split ? parts : fine_, *weights_, count(), spec_);
    warm_parts(made.query, input.layer);
    made.key = key_parts(split ? parts : fine_, *weights_, count(), spec_);
  }

  void see(const LayerProjections& projections) override {
    if (projections.kind != followed_.site.kind) return;
    const auto place = static_cast<std::size_t>(followed_.site.grid.place_of(projections.layer));
    LayerSums& sums = found[place];
    sums.missed.value = std::max(miss(made.query, projections.query), miss(made.key, projections.key));
    turn(place, made);
    const LayerQueriesKeys& all = followed_.sums[place];
    const auto others = static_cast<float>(followed_.all - 1);
    others_ = {(all.query - projections.turned_query.middleRows(followed_.first, count())) / others,
               (all.key - projections.turned_key.middleRows(followed_.first, count())) / others};
    const auto number = static_cast<Index>(sources.size());
    sums.kernel.fill(Matrix::Zero(spec_.heads * number, 2 * followed_.reach + 1));
    for (Index head = 0; head < spec_.heads; ++head)
      add_kernels(place, head, made.query.middleCols(head * spec_.d_head, spec_.d_head),
                  made.key.middleCols(spec_.key_head(head) * spec_.d_head, spec_.d_head),
                  sums.kernel[0].middleRows(head * number, number), sums.kernel[1].middleRows(head * number, number));
    for (const Index head : followed_.chosen[place]) add_earlier(projections.layer, place, head, sums);
    when_read_(place);
  }

  void see(const LayerValues& values) override {
    if (values.kind == followed_.site.kind) output_ = values.output;
  }
  void see(const LayerHeads& heads) override {
    if (heads.kind == followed_.site.kind && output_ != nullptr) stream_.add_heads(heads, *output_);
  }
  void see(const StreamAddition& addition) override {
    if (addition.kind == followed_.site.kind) stream_.add(addition);
  }

  std::vector<LayerSums> found;  ///< [layer]
  /// Of the current layer: its sources, the same with attention by head, and the queries and keys of
  /// `sources`, (sources * count, width), rotated.
  std::vector<StreamSource> sources, fine_sources;
  LayerQueriesKeys made;

 private:
  [[nodiscard]] Index count() const { return followed_.count; }

  /// Applies the query temperature to the parts of queries.
  void warm_parts(Matrix32& parts, Index layer) const {
    const QueryTemperature temperature = followed_.stack().temperature(layer);
    if (temperature.strength == 0) return;
    for (Index row = 0; row < parts.rows(); ++row)
      parts.row(row) *= static_cast<float>(temperature.at(followed_.first + row % count()));
  }

  void turn(std::size_t place, LayerQueriesKeys& parts) const {
    for (Matrix32* side : {&parts.query, &parts.key})
      for (Index row = 0; row < side->rows(); row += count()) followed_.turn(place, side->middleRows(row, count()));
  }

  /// Largest error of the sum over parts, relative to the root mean square of the real rows.
  [[nodiscard]] double miss(const Matrix32& parts, const MatrixView32& real) const {
    const auto rows = real.middleRows(followed_.first, count());
    Matrix32 rest = rows;
    for (Index row = 0; row < parts.rows(); row += count()) rest -= parts.middleRows(row, count());
    const double scale = std::sqrt(rows.cast<double>().squaredNorm() / static_cast<double>(rows.size()));
    const double largest = rest.cwiseAbs().maxCoeff();
    return largest == 0 ? 0 : largest / scale;
  }

  /// Equation (2) and its key side, for every part of one head's queries and keys.
  /// @param query, key  (parts * count, d_head)
  void add_kernels(std::size_t place, Index head, const Eigen::Ref<const Matrix32>& query,
                   const Eigen::Ref<const Matrix32>& key, Eigen::Ref<Matrix> query_sums,
                   Eigen::Ref<Matrix> key_sums) const {
    const Index d = spec_.d_head;
    const auto scale = static_cast<float>(spec_.score_scale);
    const Matrix32 others_query = others_.query.middleCols(head * d, d) * scale;
    const Matrix32 others_key = others_.key.middleCols(spec_.key_head(head) * d, d) * scale;
    Matrix32 scores(count(), count());
    for (Index s = 0; s < query_sums.rows(); ++s) {
      multiply(scores, query.middleRows(s * count(), count()), others_key.transpose());
      followed_.add_centred(place, scores, query_sums.row(s));
      multiply(scores, others_query, key.middleRows(s * count(), count()).transpose());
      followed_.add_centred(place, scores, key_sums.row(s));
    }
  }

  /// The same with the attention of earlier layers split by head.
  void add_earlier(Index layer, std::size_t place, Index head, LayerSums& sums) const {
    LayerQueriesKeys parts{query_parts(fine_, *weights_, count(), spec_, head),
                           key_parts(fine_, *weights_, count(), spec_, spec_.key_head(head))};
    warm_parts(parts.query, layer);
    turn(place, parts);
    const Matrix none = Matrix::Zero(std::ssize(fine_sources), sums.kernel[0].cols());
    for (std::vector<Matrix>& side : sums.earlier) side.push_back(none);
    add_kernels(place, head, parts.query, parts.key, sums.earlier[0].back(), sums.earlier[1].back());
  }

  const Followed& followed_;
  const BlockSpec& spec_;
  StreamParts stream_;
  std::function<void(std::size_t)> when_read_;
  Matrix32 fine_;
  const AttentionWeights* weights_ = nullptr;
  const Linear* output_ = nullptr;
  LayerQueriesKeys others_;
};

/// Two documents that pass through the model side by side, layer by layer.
class SourcePair {
 public:
  SourcePair(const Followed& followed, const Document& a, const Document& b)
      : followed_(followed), spec_(followed.stack().block), layers_(followed.site.grid.layers.size()) {
    for (const Document* document : {&a, &b})
      probes.push_back(std::make_unique<SourceProbe>(followed, document->query_tokens(followed.site.kind),
                                                     [this](std::size_t place) { read(place); }));
  }

  /// Adds the sums of both documents.
  void add_sums_to(std::vector<LayerSums>& sums) const {
    for (std::size_t l = 0; l < sums.size(); ++l) {
      for (const auto& probe : probes) add_to(sums[l], LayerSums(probe->found[l]));
      add_to(sums[l], LayerSums(layers_[l]));
    }
  }

  std::vector<std::unique_ptr<SourceProbe>> probes;

 private:
  /// Called by both documents after each layer, from any thread. The second call computes the content.
  void read(std::size_t place) {
    const std::lock_guard lock(mutex_);
    one_is_there_ = !one_is_there_;
    if (one_is_there_) return;
    const LayerQueriesKeys &a = probes[0]->made, &b = probes[1]->made;
    const LayerQueriesKeys difference{a.query - b.query, a.key - b.key};
    LayerSums& sums = layers_[place];
    sums.parts.fill(Matrix::Zero(spec_.heads * std::ssize(probes.front()->sources), offsets_of_content));
    Matrix all = Matrix::Zero(spec_.heads, offsets_of_content);
    for (Index head = 0; head < spec_.heads; ++head) add_head(place, head, difference, sums, all);
    sums.content = MeanOverDocuments(all);
  }

  /// Equation (4) of one head and one pair of documents.
  /// @param all  (heads, offsets_of_content)  receives the sum over sources
  void add_head(std::size_t place, Index head, const LayerQueriesKeys& difference, LayerSums& sums, Matrix& all) const {
    const Index d = spec_.d_head, count = followed_.count, shared = spec_.key_head(head) * d,
                number = sums.parts[0].rows() / spec_.heads;
    Matrix32 all_query = Matrix32::Zero(count, d), all_key = Matrix32::Zero(count, d);
    for (Index s = 0; s < number; ++s) {
      all_query += difference.query.block(s * count, head * d, count, d);
      all_key += difference.key.block(s * count, shared, count, d);
    }
    for (Index s = 0; s < number; ++s)
      for (Index at = 0; at < offsets_of_content; ++at) {
        const Index row = head * number + s, t = content_offsets[static_cast<std::size_t>(at)];
        sums.parts[0](row, at) = content(place, difference.query.block(s * count, head * d, count, d), all_key, t);
        sums.parts[1](row, at) = content(place, all_query, difference.key.block(s * count, shared, count, d), t);
        all(head, at) += sums.parts[0](row, at);
      }
  }

  /// Half the mean of scale q_i . k_(i+t) over pairs of ordinary tokens; 0 if there is no pair.
  template <class Queries, class Keys>
  double content(std::size_t place, const Queries& query, const Keys& key, Index t) const {
    double sum = 0, pairs = 0;
    for (Index i = std::max<Index>(0, -t); i < followed_.count - std::max<Index>(0, t); ++i) {
      const KeySpan near = followed_.near(place, i);
      if (i + t < near.first || i + t >= near.end()) continue;
      if (followed_.ordinary[i] * followed_.ordinary[i + t] == 0) continue;
      sum += static_cast<double>(query.row(i).dot(key.row(i + t)));
      ++pairs;
    }
    return pairs == 0 ? 0 : 0.5 * sum * spec_.score_scale / pairs;
  }

  const Followed& followed_;
  const BlockSpec& spec_;
  std::mutex mutex_;
  bool one_is_there_ = false;
  std::vector<LayerSums> layers_;
};

/// Sums over the documents that passed.
struct PassedSources {
  std::vector<LayerSums> layers;   ///< [layer of the grid]
  std::vector<StreamSource> fine;  ///< sources of the last layer, with attention by head for chosen heads
};

PassedSources pass_pairs(const Model& model, const Followed& followed, const std::vector<Document>& documents,
                         int threads) {
  PassedSources passed{std::vector<LayerSums>(followed.site.grid.layers.size()), {}};
  // If layers are loaded one by one, all pairs pass together, so that each layer is loaded once.
  const auto pairs = static_cast<Index>(documents.size()) / 2, together = model.by_layer() ? pairs : 1;
  parallel_in_order(pairs / together, threads, [&](Index block) {
    auto done = std::make_shared<std::vector<std::unique_ptr<SourcePair>>>();
    std::vector<Probe*> seen;
    const auto first = static_cast<std::size_t>(2 * block * together);
    for (std::size_t a = first; a < first + static_cast<std::size_t>(2 * together); a += 2) {
      done->push_back(std::make_unique<SourcePair>(followed, documents[a], documents[a + 1]));
      for (const auto& probe : done->back()->probes) seen.push_back(probe.get());
    }
    std::vector<Passing> passing;
    for (std::size_t d = 0; d < seen.size(); ++d) passing.push_back({&documents[first + d], {&seen[d], 1}});
    (void)model_passes(model, passing, together > 1 ? threads : 1);
    return std::function<void()>([&passed, done] {
      for (const auto& pair : *done) pair->add_sums_to(passed.layers);
      passed.fine = done->front()->probes.front()->fine_sources;
    });
  });
  return passed;
}

/// Equation (3): shares over the offsets that have pairs.
/// @param parts  (parts, 2 reach + 1)  F
Vector kernel_shares(const Matrix& parts, const Vector& pairs) {
  Vector kernel = parts.colwise().sum().transpose();
  const Eigen::ArrayXd there = (pairs.array() > 0).cast<double>();
  const double offsets = there.sum();
  const double mean = (kernel.array() * there).sum() / offsets;
  kernel.array() = (kernel.array() - mean) * there;
  const double variance = kernel.squaredNorm();
  // The kernel is centred, so the parts need not be.
  return variance > 0 ? Vector(parts * kernel / variance) : Vector::Constant(parts.rows(), not_defined);
}

Axis source_axis(const std::string& name, const std::string& long_name, const std::vector<StreamSource>& sources) {
  std::vector<std::string> names;
  for (const StreamSource& source : sources) names.push_back(source.name());
  return {name, "1", long_name, std::move(names)};
}

class ScoreSourcesAnalysis : public Analysis {
 public:
  using Analysis::Analysis;

  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const auto& halves = finished.get<AccountHalves>();
    const std::vector<HeadName> heads = chosen_heads(finished);
    // An even number of documents, evenly spread.
    const Index all = site().documents, wanted = std::min(documents_followed, all) / 2 * 2;
    std::vector<Document> documents;
    for (std::size_t i = 0; i < site().numbers.size(); ++i)
      if (const Index n = site().numbers[i]; n >= 0 && is_spread(n, wanted, all))
        documents.push_back(input().source->ids_alone(static_cast<Index>(i)));
    const Followed followed(halves, heads, documents);
    const PassedSources passed = pass_pairs(input().model, followed, documents, input().threads);
    return describe(followed, heads, passed, static_cast<double>(documents.size()), finished);
  }

 private:
  /// Heads for which each earlier head is a source, which takes memory.
  [[nodiscard]] std::vector<HeadName> chosen_heads(const Finished& finished) const {
    std::vector<HeadName> chosen;
    for (const std::string& name : options().heads) {
      const auto count = strongest_count(name);
      const std::vector<HeadName> heads =
          count ? strongest(finished.get<HeadAccount>(), *count) : std::vector<HeadName>{parse_head_name(name)};
      for (const HeadName& head : heads)
        if (std::ranges::find(chosen, head) == chosen.end()) chosen.push_back(head);
    }
    return chosen;
  }

  /// The `most` strongest heads of at least least_strength, in the order of layers.
  [[nodiscard]] static std::vector<HeadName> strongest(const HeadAccount& account, Index most) {
    const std::vector<HeadName> names = heads_of(account.site.grid);
    std::vector<HeadName> heads;
    for (const Index row : largest_entries(account.strength, most))
      if (account.strength[row] >= HeadAccount::least_strength) heads.push_back(names[static_cast<std::size_t>(row)]);
    std::sort(heads.begin(), heads.end());
    return heads;
  }

  [[nodiscard]] std::vector<Field> describe(const Followed& followed, const std::vector<HeadName>& chosen,
                                            const PassedSources& passed, double documents, Finished& finished) const;
};

std::vector<Field> ScoreSourcesAnalysis::describe(const Followed& followed, const std::vector<HeadName>& chosen,
                                                  const PassedSources& passed, double documents,
                                                  Finished& finished) const {
  const HeadGrid& grid = site().grid;
  const Index heads = grid.heads, reach = followed.reach;
  const std::vector<StreamSource> sources = without_heads(passed.fine);
  std::vector<StreamSource> earlier;  // heads of layers before the last chosen head
  if (followed.by_head)
    for (const StreamSource& source : passed.fine)
      if (source.head >= 0 && source.layer < std::ranges::max(chosen, {}, &HeadName::layer).layer)
        earlier.push_back(source);
  const Matrix none = Matrix::Zero(grid.rows(), std::ssize(sources));
  std::array<Matrix, 2> position{none, none};  // [side] (rows, sources)  rows add up to 1
  std::array<std::array<Matrix, content_offsets.size()>, 2> shares;
  for (auto& side : shares) side.fill(none);
  std::array<Matrix, 2> by_head;  // [side] (chosen heads, earlier)
  by_head.fill(Matrix::Zero(std::ssize(chosen), std::ssize(earlier)));
  Matrix kernel = Matrix::Constant(grid.rows(), 2 * reach + 1, not_defined);
  Matrix content = Matrix::Constant(offsets_of_content, grid.rows(), not_defined), content_error = content;
  Vector kernel_sd(grid.rows()), closure(std::ssize(passed.layers));

  for (std::size_t place = 0; place < passed.layers.size(); ++place) {
    const LayerSums& sums = passed.layers[place];
    const Index layer = grid.layers[place], number = sums.kernel[0].rows() / heads;
    closure[static_cast<Index>(place)] = sums.missed.value;
    if (sums.missed.value > most_missed)
      throw NumericError(fmt::format(
          "score_sources: in layer {} the sum over sources misses queries or keys by {:.2g} of their root mean "
          "square, expected at most {:.2g}: what writes the states of this model is not understood; omit "
          "score_sources, and report the model",
          layer, sums.missed.value, most_missed));
    const Vector pairs = followed.pairs(place);
    const auto mean = [&](const Matrix& kernels) {  // over documents and pairs
      Matrix means = kernels / documents;
      for (Index t = 0; t < pairs.size(); ++t) means.col(t) /= std::max(1.0, pairs[t]);
      return means;
    };
    const Matrix c = sums.content.mean(), error = sums.content.error();
    for (Index head = 0; head < heads; ++head) {
      const Index row = static_cast<Index>(place) * heads + head;
      std::array<Vector, 2> of_side;
      for (std::size_t side = 0; side < 2; ++side) {
        const Matrix means = mean(sums.kernel[side].middleRows(head * number, number));
        position[side].row(row).head(number) = kernel_shares(means, pairs).transpose();
        of_side[side] = means.colwise().sum().transpose();
      }
      const Vector both = 0.5 * (of_side[0] + of_side[1]);
      double sum = 0, squares = 0, offsets = 0;
      for (Index t = 0; t < both.size(); ++t) {
        if (pairs[t] == 0) continue;
        kernel(row, t) = both[t];
        sum += both[t];
        squares += both[t] * both[t];
        ++offsets;
      }
      kernel_sd[row] = std::sqrt(std::max(0.0, squares / offsets - sum / offsets * (sum / offsets)));
      for (Index at = 0; at < offsets_of_content; ++at) {
        const auto o = static_cast<std::size_t>(at);
        const Index t = content_offsets[o];
        const bool there = std::abs(t) <= reach && pairs[t + reach] > 0;
        if (there) content(at, row) = c(head, at);
        if (there) content_error(at, row) = error(head, at);
        for (std::size_t side = 0; side < 2; ++side) {
          const Eigen::RowVectorXd parts = sums.parts[side].block(head * number, at, number, 1).transpose();
          auto into = shares[side][o].row(row).head(number);
          if (there && std::abs(c(head, at)) >= least_errors * error(head, at))
            into = parts / parts.sum();
          else
            into.setConstant(not_defined);
        }
      }
    }
    // Shares of earlier heads in the kernels of this layer's chosen heads.
    for (std::size_t at = 0; at < followed.chosen[place].size(); ++at) {
      const auto row = std::ranges::find(chosen, HeadName{layer, followed.chosen[place][at]}) - chosen.begin();
      for (std::size_t side = 0; side < 2; ++side) {
        const Vector of_fine = kernel_shares(mean(sums.earlier[side][at]), pairs);
        for (Index e = 0; e < std::ssize(earlier); ++e) {
          const Index fine = std::ranges::find(passed.fine, earlier[static_cast<std::size_t>(e)]) - passed.fine.begin();
          if (fine < of_fine.size())
            by_head[side](row, e) = of_fine[fine];  // heads of the same or later layers are no sources
        }
      }
    }
  }

  const Axis layer = layer_axis(grid.layers), head = head_axis(heads);
  const Axis source = source_axis("source", "source of what a layer reads; later layers do not count", sources);
  const Axis near{"content_offset", "token", "key position minus query position",
                  std::vector<std::int64_t>(content_offsets.begin(), content_offsets.end())};
  const std::vector<Axis> contents{near, layer, head};
  Fields fields("score_sources");
  // Adds name_query and name_key.
  const auto add_sides = [&](const std::string& name, const std::vector<Axis>& axes, const std::string& share,
                             const auto& sides, const std::string& undefined) {
    for (const auto& [side, plural, values] : {std::tuple("_query", "queries", &sides[0]), {"_key", "keys", &sides[1]}})
      fields.add(name + side, axes, "1", fmt::format("share of {} gives through the {}", share, plural), *values,
                 undefined);
  };
  const char* const flat_kernel = "the kernel is the same at all offsets";
  add_sides("position", {layer, head, source}, "a head's position kernel that a source", position, flat_kernel);
  fields.add("position_kernel", {layer, head, offset_axis("offset", -reach, reach)}, "1",
             "mean score at an offset of one document's queries and the mean keys of others, and the other way round",
             kernel, "the mask forbids the offset");
  fields.add("kernel_sd", {layer, head}, "1", "standard deviation of the position kernel over offsets", kernel_sd);
  add_sides("content", {near, layer, head, source}, "the content at an offset that a source", shares,
            fmt::format("the content is smaller than {:g} of its standard errors, or the mask forbids the offset",
                        least_errors));
  fields.add("content", contents, "1", "mean score at an offset of what tokens add to the mean of their place", content,
             "the mask forbids the offset");
  fields.add("content_error", contents, "1", "standard error of the content over pairs of documents", content_error,
             "the mask forbids the offset, or there are two documents");
  fields
      .add("closure", {layer}, "1",
           "largest error of the sum over sources, as a share of the root mean square of queries or keys", closure)
      .note("most", most_missed);
  if (!earlier.empty())
    add_sides("earlier",
              {head_name_axis("source_head", "head whose sources are split into earlier heads", chosen),
               source_axis("earlier_head", "head of an earlier layer", earlier)},
              "the position kernel that an earlier head", by_head, flat_kernel);
  fields.note_all("documents", static_cast<std::int64_t>(documents))
      .note_all("first_place", followed.first)
      .note_all("places", followed.count);
  finished.keep(KeySources{sources, std::move(position[1])});
  return fields.taken();
}

/// Null for stored states, whose sources are unknown, for a single document, and for fewer than 3 tokens.
std::unique_ptr<Analysis> make_score_sources(const AnalysisInput& input) {
  if (input.source == nullptr) return nullptr;
  if (!input.first.stored.empty() && !input.source->ids_alone(0).stored.empty()) return nullptr;
  if (input.site.length < 3 || input.site.documents < 2) return nullptr;
  return std::make_unique<ScoreSourcesAnalysis>(input);
}

}  // namespace

extern const AnalysisKind score_sources_analysis{
    .name = "score_sources",
    .asks = "Which part of the network wrote what a head's queries and keys read?",
    .projections = true,
    .equal_length = true,
    .reads = {&head_account_analysis},
    .one_sequence = true,
    .by_default = true,
    .make = make_score_sources};

}  // namespace headwave
