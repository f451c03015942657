#include "score_sources.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
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
#include "../pass/document_sum.h"
#include "../pass/even_spread.h"
#include "../pass/mean_over_documents.h"

namespace headwave {

namespace {

/// The places of a document that are followed, and the pairs of them that count.
struct Stretch {
  Index first = 0, count = 0, reach = 0;
  Eigen::RowVectorXf ordinary;  ///< (count)  1: neither special nor the first, in none of the documents
  bool causal = false;

  /// Keys of the stretch that query i of it may look at.
  [[nodiscard]] KeySpan open(Index i, Index window) const { return allowed_keys(i, count, causal, window); }
  /// Those among them that are within reach.
  [[nodiscard]] KeySpan near(Index i, Index window) const {
    const KeySpan open = this->open(i, window);
    const Index from = std::max(open.first, i - reach), end = std::min(open.end(), i + reach + 1);
    return {from, std::max<Index>(0, end - from)};
  }
};

/// Queries and keys of a layer at the stretch's places, after a rotary term has turned them.
struct StretchLayer {
  Matrix32 query, key;  ///< (count, width)
};

/// Sums over documents of one layer, for the position kernel.
struct KernelSums {
  Matrix query, key;                               ///< (heads * sources, 2 reach + 1)
  std::vector<Matrix> earlier_query, earlier_key;  ///< [chosen head] (sources by head, 2 reach + 1)
  Largest<double> closure;
};

/// Sums over pairs of documents of one layer, for what tokens add to the mean of their place.
struct ContentSums {
  Matrix query, key;          ///< (heads * sources, content_offsets)
  MeanOverDocuments content;  ///< (heads, content_offsets)  c(t), a pair counts as a document
};

struct LayerSums {
  KernelSums kernel;
  ContentSums content;
};

/// What the decomposition of every document needs.
struct SourceWork {
  const AccountSite* site = nullptr;
  Stretch stretch;
  std::vector<StretchLayer> sums;          ///< of the grid's layers, over all documents of the site's length
  Index all = 0;                           ///< number of these documents
  std::vector<std::vector<Index>> chosen;  ///< heads of each layer of the grid that get earlier attention by head

  [[nodiscard]] bool by_head() const {
    return std::any_of(chosen.begin(), chosen.end(), [](const auto& heads) { return !heads.empty(); });
  }
  [[nodiscard]] const Stack& stack() const { return *site->stack; }
};

/// Adds scores along diagonals |t| <= reach, every row centred over the keys that it may look at.
/// @param scores  (count, count)  overwritten
void add_centred(const Stretch& stretch, Index window, Eigen::Ref<Matrix32> scores,
                 Eigen::Ref<Eigen::RowVectorXd> sums) {
  for (Index i = 0; i < stretch.count; ++i) {
    const KeySpan open = stretch.open(i, window), near = stretch.near(i, window);
    if (stretch.ordinary[i] == 0 || near.count == 0) continue;
    auto row = scores.row(i);
    const float mean = row.segment(open.first, open.count).mean();
    sums.segment(near.first - i + stretch.reach, near.count) +=
        ((row.segment(near.first, near.count).array() - mean) *
         stretch.ordinary.segment(near.first, near.count).array())
            .matrix()
            .cast<double>();
  }
}

/// Adds up the parts of an attention that were split by head.
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

/// Number of pairs on each diagonal.
Vector pairs_of(const Stretch& stretch, Index window) {
  Vector pairs = Vector::Zero(2 * stretch.reach + 1);
  for (Index i = 0; i < stretch.count; ++i) {
    const KeySpan near = stretch.near(i, window);
    if (stretch.ordinary[i] == 0) continue;
    pairs.segment(near.first - i + stretch.reach, near.count) +=
        stretch.ordinary.segment(near.first, near.count).transpose().cast<double>();
  }
  return pairs;
}

/// Turns queries or keys of the stretch as a rotary term turns those of a whole sequence.
void turn(const RotaryTerm* term, const Stretch& stretch, Index length, Index d_head, Eigen::Ref<Matrix32> rows) {
  if (term == nullptr) return;
  Matrix32 whole = Matrix32::Zero(length, rows.cols());
  whole.middleRows(stretch.first, stretch.count) = rows;
  term->turn(whole, d_head);
  rows = whole.middleRows(stretch.first, stretch.count);
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

/// Watches one document on its way.
class SourceProbe : public Probe {
 public:
  /// @param when_read  called with the place of a layer in the grid, once its queries and keys are taken apart
  SourceProbe(const SourceWork& work, const TokenSequence& tokens, std::function<void(std::size_t)> when_read)
      : work_(work),
        spec_(work.stack().block),
        stream_(work.stack(), tokens, work.stretch.first, work.stretch.count, work.by_head()),
        when_read_(std::move(when_read)),
        layers_(work.site->grid.layers.size()) {}

  [[nodiscard]] bool wants_projections() const override { return true; }
  [[nodiscard]] bool wants_values() const override { return work_.by_head(); }
  using Probe::see;
  void see(const Tile& /*tile*/) override {}

  void see(const LayerInput& input) override {
    if (input.kind != work_.site->kind) return;
    fine_ = stream_.entering(input.layer);
    fine_sources_ = stream_.sources();
    sources_ = without_heads(fine_sources_);
    const bool split = fine_sources_.size() > sources_.size();
    const Matrix32 parts = split ? together(fine_, fine_sources_, sources_, count()) : Matrix32();
    weights_ = input.weights;
    made_.query = query_parts(split ? parts : fine_, *weights_, count());
    warm_parts(made_.query, input.layer);
    made_.key = key_parts(split ? parts : fine_, *weights_, count(), spec_.kv_heads);
  }

  void see(const LayerProjections& projections) override {
    if (projections.kind != work_.site->kind) return;
    const auto place = static_cast<std::size_t>(work_.site->grid.place_of(projections.layer));
    KernelSums& sums = layers_[place];
    const Stretch& stretch = work_.stretch;
    sums.closure.value = std::max(miss(made_.query, projections.query), miss(made_.key, projections.key));
    term_ = work_.stack().rotary(projections.layer);
    for (Index s = 0; s < number(); ++s) {
      turned(made_.query.middleRows(s * count(), count()));
      turned(made_.key.middleRows(s * count(), count()));
    }
    const StretchLayer& all = work_.sums[place];
    const auto others = static_cast<float>(work_.all - 1);
    others_ = {(all.query - projections.turned_query.middleRows(stretch.first, stretch.count)) / others,
               (all.key - projections.turned_key.middleRows(stretch.first, stretch.count)) / others};
    const Index window = work_.stack().window(projections.layer), diagonals = 2 * stretch.reach + 1;
    sums.query = sums.key = Matrix::Zero(spec_.heads * number(), diagonals);
    for (Index head = 0; head < spec_.heads; ++head)
      add_kernels(head, window, made_.query.middleCols(head * spec_.d_head, spec_.d_head),
                  made_.key.middleCols(spec_.key_head(head) * spec_.d_head, spec_.d_head),
                  sums.query.middleRows(head * number(), number()), sums.key.middleRows(head * number(), number()));
    if (work_.by_head())
      for (const Index head : work_.chosen[place]) add_earlier(projections.layer, head, window, sums);
    when_read_(place);
  }

  void see(const LayerValues& values) override {
    if (values.kind == work_.site->kind) output_ = values.output;
  }
  void see(const LayerHeads& heads) override {
    if (heads.kind == work_.site->kind && output_ != nullptr) stream_.add_heads(heads, *output_);
  }
  void see(const StreamAddition& addition) override {
    if (addition.kind == work_.site->kind) stream_.add(addition);
  }

  [[nodiscard]] const std::vector<KernelSums>& found() const { return layers_; }
  [[nodiscard]] const std::vector<StreamSource>& sources() const { return sources_; }
  [[nodiscard]] const std::vector<StreamSource>& fine_sources() const { return fine_sources_; }
  /// Queries and keys of the layer that is under way, (sources * count, width), turned.
  [[nodiscard]] const StretchLayer& made() const { return made_; }

 private:
  [[nodiscard]] Index count() const { return work_.stretch.count; }
  [[nodiscard]] Index number() const { return static_cast<Index>(sources_.size()); }

  /// Multiplies the parts of queries as the whole ones are.
  void warm_parts(Matrix32& parts, Index layer) const {
    const QueryTemperature temperature = work_.stack().temperature(layer);
    if (temperature.strength == 0) return;
    for (Index row = 0; row < parts.rows(); ++row)
      parts.row(row) *= static_cast<float>(temperature.at(work_.stretch.first + row % count()));
  }

  void turned(Eigen::Ref<Matrix32> rows) const { turn(term_, work_.stretch, work_.site->length, spec_.d_head, rows); }

  /// Largest difference between the sum over parts and the real rows, relative to their root mean square.
  [[nodiscard]] double miss(const Matrix32& parts, const MatrixView32& real) const {
    const auto rows = real.middleRows(work_.stretch.first, count());
    Matrix32 rest = rows;
    for (Index s = 0; s < number(); ++s) rest -= parts.middleRows(s * count(), count());
    const double scale = std::sqrt(rows.cast<double>().squaredNorm() / static_cast<double>(rows.size()));
    const double largest = rest.cwiseAbs().maxCoeff();
    return largest == 0 ? 0 : largest / scale;
  }

  /// Equation (2) and the same of the key side, for every part of one head's queries and keys.
  /// @param query, key  (parts * count, d_head)
  void add_kernels(Index head, Index window, const Eigen::Ref<const Matrix32>& query,
                   const Eigen::Ref<const Matrix32>& key, Eigen::Ref<Matrix> query_sums,
                   Eigen::Ref<Matrix> key_sums) const {
    const Index d = spec_.d_head;
    const auto scale = static_cast<float>(spec_.score_scale);
    const Matrix32 others_query = others_.query.middleCols(head * d, d) * scale;
    const Matrix32 others_key = others_.key.middleCols(spec_.key_head(head) * d, d) * scale;
    Matrix32 scores(count(), count());
    for (Index s = 0; s < query_sums.rows(); ++s) {
      multiply(scores, query.middleRows(s * count(), count()), others_key.transpose());
      add_centred(work_.stretch, window, scores, query_sums.row(s));
      multiply(scores, others_query, key.middleRows(s * count(), count()).transpose());
      add_centred(work_.stretch, window, scores, key_sums.row(s));
    }
  }

  /// The same with the attention of earlier layers split by head.
  /// @param layer  that is under way
  void add_earlier(Index layer, Index head, Index window, KernelSums& sums) const {
    const auto fine = static_cast<Index>(fine_sources_.size());
    Matrix32 query = query_parts_of(fine_, *weights_, count(), head, spec_);
    warm_parts(query, layer);
    Matrix32 key = key_parts_of(fine_, *weights_, count(), spec_.key_head(head), spec_);
    for (Index s = 0; s < fine; ++s) {
      turned(query.middleRows(s * count(), count()));
      turned(key.middleRows(s * count(), count()));
    }
    Matrix of_query = Matrix::Zero(fine, sums.query.cols()), of_key = of_query;
    add_kernels(head, window, query, key, of_query, of_key);
    sums.earlier_query.push_back(std::move(of_query));
    sums.earlier_key.push_back(std::move(of_key));
  }

  const SourceWork& work_;
  const BlockSpec& spec_;
  StreamParts stream_;
  std::function<void(std::size_t)> when_read_;
  std::vector<StreamSource> fine_sources_, sources_;
  Matrix32 fine_;
  const AttentionWeights* weights_ = nullptr;
  const Linear* output_ = nullptr;
  const RotaryTerm* term_ = nullptr;
  StretchLayer made_, others_;
  std::vector<KernelSums> layers_;
};

/// Two documents that pass through the model side by side, in the same layer at a time.
class SourcePair {
 public:
  SourcePair(const SourceWork& work, const Document& a, const Document& b)
      : work_(work), spec_(work.stack().block), layers_(work.site->grid.layers.size()) {
    for (const Document* document : {&a, &b})
      probes_.push_back(std::make_unique<SourceProbe>(work, document->query_tokens(work.site->kind),
                                                      [this](std::size_t place) { read(place); }));
  }

  [[nodiscard]] Probe* probe(std::size_t i) const { return probes_[i].get(); }
  /// Sources of the last layer, with attention by head if that was asked for.
  [[nodiscard]] const std::vector<StreamSource>& fine_sources() const { return probes_.front()->fine_sources(); }

  /// Adds the sums of both documents.
  void add_sums_to(std::vector<LayerSums>& sums) const {
    for (std::size_t l = 0; l < sums.size(); ++l) {
      for (const auto& probe : probes_) add_to(sums[l].kernel, KernelSums(probe->found()[l]));
      add_to(sums[l].content, ContentSums(layers_[l]));
    }
  }

 private:
  /// Called when a layer of one document is decomposed, from any thread; the second call of a layer
  /// continues.
  void read(std::size_t place) {
    const std::lock_guard lock(mutex_);
    one_is_there_ = !one_is_there_;
    if (one_is_there_) return;
    const StretchLayer &a = probes_[0]->made(), &b = probes_[1]->made();
    const StretchLayer difference{a.query - b.query, a.key - b.key};
    const auto number = static_cast<Index>(probes_.front()->sources().size());
    const auto offsets = static_cast<Index>(content_offsets.size());
    const Index window = work_.stack().window(work_.site->grid.layers[place]);
    ContentSums& sums = layers_[place];
    sums.query = sums.key = Matrix::Zero(spec_.heads * number, offsets);
    Matrix all = Matrix::Zero(spec_.heads, offsets);
    for (Index head = 0; head < spec_.heads; ++head) add_head(head, window, number, difference, sums, all);
    sums.content = MeanOverDocuments(all);
  }

  /// Equation (4): half the products of the differences between two documents.
  /// @param all  (heads, content_offsets)  gets the sum over sources
  void add_head(Index head, Index window, Index number, const StretchLayer& difference, ContentSums& sums,
                Matrix& all) const {
    const Index d = spec_.d_head, count = work_.stretch.count, shared = spec_.key_head(head) * d;
    Matrix32 all_query = Matrix32::Zero(count, d), all_key = Matrix32::Zero(count, d);
    for (Index s = 0; s < number; ++s) {
      all_query += difference.query.block(s * count, head * d, count, d);
      all_key += difference.key.block(s * count, shared, count, d);
    }
    for (Index s = 0; s < number; ++s)
      for (std::size_t o = 0; o < content_offsets.size(); ++o) {
        const Index row = head * number + s, at = static_cast<Index>(o), t = content_offsets[o];
        sums.query(row, at) = content(difference.query.block(s * count, head * d, count, d), all_key, t, window);
        sums.key(row, at) = content(all_query, difference.key.block(s * count, shared, count, d), t, window);
        all(head, at) += sums.query(row, at);
      }
  }

  /// Half the mean over ordinary pairs of scale q_i . k_(i+t); 0 where there is none.
  template <class Queries, class Keys>
  double content(const Queries& query, const Keys& key, Index t, Index window) const {
    const Stretch& stretch = work_.stretch;
    double sum = 0, pairs = 0;
    for (Index i = std::max<Index>(0, -t); i < stretch.count - std::max<Index>(0, t); ++i) {
      const KeySpan near = stretch.near(i, window);
      if (i + t < near.first || i + t >= near.end()) continue;
      if (stretch.ordinary[i] * stretch.ordinary[i + t] == 0) continue;
      sum += static_cast<double>(query.row(i).dot(key.row(i + t)));
      ++pairs;
    }
    return pairs == 0 ? 0 : 0.5 * sum * spec_.score_scale / pairs;
  }

  const SourceWork& work_;
  const BlockSpec& spec_;
  std::vector<std::unique_ptr<SourceProbe>> probes_;
  std::mutex mutex_;
  bool one_is_there_ = false;
  std::vector<ContentSums> layers_;
};

/// cov_t(F_s, K) / var_t(K) over the offsets that have pairs.
/// @param parts  (parts, 2 reach + 1)  means
Vector kernel_shares(const Matrix& parts, const Vector& pairs) {
  Vector kernel = parts.colwise().sum().transpose();
  const Eigen::ArrayXd there = (pairs.array() > 0).cast<double>();
  const double offsets = there.sum();
  const double mean = (kernel.array() * there).sum() / offsets;
  kernel.array() = (kernel.array() - mean) * there;
  const double variance = kernel.squaredNorm();
  // The kernel is centred: the parts need not be.
  return variance > 0 ? Vector(parts * kernel / variance) : Vector::Constant(parts.rows(), not_defined);
}

/// An even number of documents of the site's length, evenly spread, which pass once more.
std::vector<Index> spread(const std::vector<Index>& numbers, Index all, Index wanted) {
  std::vector<Index> chosen;
  wanted = std::min(wanted, all) / 2 * 2;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Index n = numbers[i];
    if (n >= 0 && is_spread(n, wanted, all)) chosen.push_back(static_cast<Index>(i));
  }
  return chosen;
}

Stretch stretch_of(const AccountSite& site, const ScoreSourcesOptions& options,
                   const std::vector<Document>& documents) {
  Stretch stretch;
  stretch.count = std::min(site.length, options.places);
  stretch.first = (site.length - stretch.count) / 2;
  stretch.reach = std::min(site.reach, (stretch.count - 1) / 2);
  stretch.causal = site.kind == AttentionKind::causal;
  stretch.ordinary.setOnes(stretch.count);
  for (Index i = 0; i < stretch.count; ++i) {
    const Index place = stretch.first + i;
    if (place == 0) stretch.ordinary[i] = 0;
    for (const Document& document : documents)
      if (document.query_tokens(site.kind).is_special(place)) stretch.ordinary[i] = 0;
  }
  return stretch;
}

/// Sums over all documents of queries and keys at the stretch's places.
std::vector<StretchLayer> sums_of(const AccountHalves& halves, const Stretch& stretch) {
  std::vector<StretchLayer> sums;
  const Stack& stack = *halves.site.stack;
  for (std::size_t place = 0; place < halves.site.grid.layers.size(); ++place) {
    StretchLayer sum;
    for (const AccountHalf& half : halves.halves) {
      if (half.documents == 0) continue;
      add_to(sum.query, Matrix32(half.layers[place].query.middleRows(stretch.first, stretch.count)));
      add_to(sum.key, Matrix32(half.layers[place].key.middleRows(stretch.first, stretch.count)));
    }
    const RotaryTerm* term = stack.rotary(halves.site.grid.layers[place]);
    turn(term, stretch, halves.site.length, stack.block.d_head, sum.query);
    turn(term, stretch, halves.site.length, stack.block.d_head, sum.key);
    sums.push_back(std::move(sum));
  }
  return sums;
}

/// Turns sums into shares.
class SourceBuilder {
 public:
  SourceBuilder(const SourceWork& work, const ScoreSourcesOptions& options, std::vector<LayerSums> sums,
                std::vector<StreamSource> fine, Index documents)
      : work_(work), sums_(std::move(sums)), fine_(std::move(fine)) {
    found_.site = *work.site;
    found_.options = options;
    found_.documents = documents;
    found_.first = work.stretch.first;
    found_.places = work.stretch.count;
    found_.reach = work.stretch.reach;
    found_.sources = without_heads(fine_);
  }

  ScoreSources build() {
    const Index rows = found_.site.grid.rows(), all = static_cast<Index>(found_.sources.size());
    const auto offsets = static_cast<Index>(content_offsets.size());
    found_.query.position = found_.key.position = Matrix::Zero(rows, all);
    for (std::size_t o = 0; o < content_offsets.size(); ++o)
      found_.query.content[o] = found_.key.content[o] = Matrix::Zero(rows, all);
    found_.kernel = Matrix::Constant(rows, 2 * found_.reach + 1, not_defined);
    found_.kernel_sd = Vector::Zero(rows);
    found_.content = found_.content_error = Matrix::Zero(rows, offsets);
    found_.closure = Vector::Zero(static_cast<Index>(sums_.size()));
    if (work_.by_head()) {
      const Index last = std::ranges::max(found_.options.heads, {}, &HeadName::layer).layer;
      for (const StreamSource& source : fine_)
        if (source.head >= 0 && source.layer < last) found_.earlier.push_back(source);
    }
    const auto chosen = static_cast<Index>(found_.options.heads.size());
    found_.earlier_query = found_.earlier_key = Matrix::Zero(chosen, static_cast<Index>(found_.earlier.size()));
    for (std::size_t place = 0; place < sums_.size(); ++place) set_layer(place);
    return std::move(found_);
  }

 private:
  /// Means over documents and pairs.
  Matrix mean(const Matrix& kernels, double documents, const Vector& pairs) const {
    Matrix means = kernels / documents;
    for (Index t = 0; t < pairs.size(); ++t) means.col(t) /= std::max(1.0, pairs[t]);
    return means;
  }

  void set_layer(std::size_t place) {
    const LayerSums& sums = sums_[place];
    const Index layer = found_.site.grid.layers[place], heads = found_.site.grid.heads;
    const Index number = sums.kernel.query.rows() / heads;
    const auto documents = static_cast<double>(found_.documents);
    const Vector pairs = pairs_of(work_.stretch, work_.stack().window(layer));
    found_.closure[static_cast<Index>(place)] = sums.kernel.closure.value;
    const Matrix content = sums.content.content.mean(), error = sums.content.content.error();
    for (Index head = 0; head < heads; ++head) {
      const Index row = static_cast<Index>(place) * heads + head;
      const Matrix query = mean(sums.kernel.query.middleRows(head * number, number), documents, pairs);
      const Matrix key = mean(sums.kernel.key.middleRows(head * number, number), documents, pairs);
      found_.query.position.row(row).head(number) = kernel_shares(query, pairs).transpose();
      found_.key.position.row(row).head(number) = kernel_shares(key, pairs).transpose();
      set_kernel(row, 0.5 * (query.colwise().sum() + key.colwise().sum()).transpose(), pairs);
      for (std::size_t o = 0; o < content_offsets.size(); ++o) {
        const auto at = static_cast<Index>(o);
        set_content(sums.content, row, head, number, o, pairs, content(head, at), error(head, at));
      }
    }
    const std::vector<Index>& chosen = work_.chosen[place];
    for (std::size_t at = 0; at < chosen.size(); ++at)
      for (std::size_t c = 0; c < found_.options.heads.size(); ++c)
        if (found_.options.heads[c] == HeadName{layer, chosen[at]}) set_chosen(c, sums, at, pairs);
  }

  void set_kernel(Index row, const Vector& kernel, const Vector& pairs) {
    double sum = 0, squares = 0, offsets = 0;
    for (Index t = 0; t < kernel.size(); ++t) {
      if (pairs[t] == 0) continue;
      found_.kernel(row, t) = kernel[t];
      sum += kernel[t];
      squares += kernel[t] * kernel[t];
      ++offsets;
    }
    found_.kernel_sd[row] = std::sqrt(std::max(0.0, squares / offsets - sum / offsets * (sum / offsets)));
  }

  void set_content(const ContentSums& sums, Index row, Index head, Index number, std::size_t o, const Vector& pairs,
                   double mean, double error) {
    const auto at = static_cast<Index>(o);
    const Index t = content_offsets[o];
    const bool there = std::abs(t) <= found_.reach && pairs[t + found_.reach] > 0;
    found_.content(row, at) = there ? mean : not_defined;
    found_.content_error(row, at) = there ? error : not_defined;
    const bool clear = there && std::abs(mean) >= found_.options.least_errors * error;
    const auto set = [&](Matrix& into, const Matrix& contents) {
      const Eigen::RowVectorXd parts = contents.block(head * number, at, number, 1).transpose();
      if (clear)
        into.row(row).head(number) = parts / parts.sum();
      else
        into.row(row).head(number).setConstant(not_defined);
    };
    set(found_.query.content[o], sums.query);
    set(found_.key.content[o], sums.key);
  }

  /// @param at  which of the layer's chosen heads
  void set_chosen(std::size_t c, const LayerSums& sums, std::size_t at, const Vector& pairs) {
    const auto documents = static_cast<double>(found_.documents);
    if (!work_.by_head()) return;
    const Vector of_query = kernel_shares(mean(sums.kernel.earlier_query[at], documents, pairs), pairs);
    const Vector of_key = kernel_shares(mean(sums.kernel.earlier_key[at], documents, pairs), pairs);
    for (std::size_t e = 0; e < found_.earlier.size(); ++e) {
      const Index at_fine = std::find(fine_.begin(), fine_.end(), found_.earlier[e]) - fine_.begin();
      if (at_fine >= of_query.size()) continue;  // this head reads nothing of it
      found_.earlier_query(static_cast<Index>(c), static_cast<Index>(e)) = of_query[at_fine];
      found_.earlier_key(static_cast<Index>(c), static_cast<Index>(e)) = of_key[at_fine];
    }
  }

  const SourceWork& work_;
  std::vector<LayerSums> sums_;
  std::vector<StreamSource> fine_;  // of the last layer, attention told apart by head where it was
  ScoreSources found_;
};

void require_closed(const ScoreSources& found) {
  for (std::size_t place = 0; place < found.site.grid.layers.size(); ++place) {
    const double miss = found.closure[static_cast<Index>(place)];
    if (miss <= found.options.closure) continue;
    throw NumericError(fmt::format(
        "score_sources: in layer {} the sum over sources misses queries or keys by {:.2g} of their root mean "
        "square; expected at most {:.2g}. What wrote the states of this model is not understood: leave "
        "score_sources out, and report the model",
        found.site.grid.layers[place], miss, found.options.closure));
  }
}

}  // namespace

ScoreSources score_sources(const Model& model, const Source& source, const std::vector<Index>& numbers,
                           const AccountHalves& halves, const ScoreSourcesOptions& options) {
  const AccountSite& site = halves.site;
  SourceWork work;
  work.site = &site;
  work.all = halves.halves[0].documents + halves.halves[1].documents;
  if (work.all < 2)
    throw ShapeError("score_sources: one document; the mean query of a place needs another one at least");
  std::vector<Document> documents;
  for (const Index i : spread(numbers, work.all, options.documents)) documents.push_back(source.ids_alone(i));
  work.stretch = stretch_of(site, options, documents);
  work.sums = sums_of(halves, work.stretch);
  work.chosen.resize(site.grid.layers.size());
  for (const HeadName& name : options.heads) {
    const Index place = site.grid.place_of(name.layer);
    if (place >= 0) work.chosen[static_cast<std::size_t>(place)].push_back(name.head);
  }
  std::vector<LayerSums> sums(site.grid.layers.size());
  std::vector<StreamSource> fine;
  // Where layers are read one by one all pairs go side by side; else each goes by itself.
  const auto pairs = static_cast<Index>(documents.size()) / 2, together = model.by_layer() ? pairs : 1;
  const auto pass = [&](Index first) {
    auto done = std::make_shared<std::vector<std::unique_ptr<SourcePair>>>();
    std::vector<Probe*> seen;
    for (Index pair = first; pair < first + together; ++pair) {
      const auto a = static_cast<std::size_t>(2 * pair);
      done->push_back(std::make_unique<SourcePair>(work, documents[a], documents[a + 1]));
      for (const std::size_t i : {0, 1}) seen.push_back(done->back()->probe(i));
    }
    std::vector<Passing> passing;
    for (std::size_t d = 0; d < seen.size(); ++d)
      passing.push_back({&documents[static_cast<std::size_t>(2 * first) + d], {&seen[d], 1}});
    (void)model_passes(model, passing, together > 1 ? options.threads : 1);
    return std::function<void()>([&, done] {
      for (const auto& pair : *done) pair->add_sums_to(sums);
      fine = done->front()->fine_sources();
    });
  };
  parallel_in_order(pairs / together, options.threads, [&](Index i) { return pass(i * together); });
  ScoreSources found = SourceBuilder(work, options, std::move(sums), std::move(fine), 2 * pairs).build();
  require_closed(found);
  return found;
}

namespace {

constexpr const char* flat_kernel = "the kernel is the same at all offsets";

Axis source_axis(const std::string& name, const std::string& long_name, const std::vector<StreamSource>& sources) {
  std::vector<std::string> names;
  for (const StreamSource& source : sources) names.push_back(source.name());
  return {name, "1", long_name, std::move(names)};
}

/// Adds what earlier heads give to the chosen ones.
void describe_chosen(const ScoreSources& found, Fields& fields) {
  if (found.earlier.empty()) return;
  const Axis chosen = head_name_axis("source_head", "head whose sources are told apart by head", found.options.heads);
  const Axis earlier = source_axis("earlier_head", "head of a layer before", found.earlier);
  fields.add("earlier_query", {chosen, earlier}, "1",
             "share of the position kernel that an earlier head gives through the queries", found.earlier_query,
             flat_kernel);
  fields.add("earlier_key", {chosen, earlier}, "1",
             "share of the position kernel that an earlier head gives through the keys", found.earlier_key,
             flat_kernel);
}

class ScoreSourcesAnalysis : public Analysis {
 public:
  using Analysis::Analysis;

  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    ScoreSourcesOptions how;
    how.threads = input().threads;
    for (const std::string& name : options().heads) {
      const auto count = strongest_count(name);
      const std::vector<HeadName> heads =
          count ? strongest(finished.get<HeadAccount>(), *count) : std::vector<HeadName>{parse_head_name(name)};
      for (const HeadName& head : heads)
        if (std::ranges::find(how.heads, head) == how.heads.end()) how.heads.push_back(head);
    }
    return describe(finished.keep(
        score_sources(input().model, *input().source, site().numbers, finished.get<AccountHalves>(), how)));
  }

 private:
  /// The strongest heads that have a preference, at most so many, layer by layer.
  [[nodiscard]] static std::vector<HeadName> strongest(const HeadAccount& account, Index most) {
    const std::vector<HeadName> names = heads_of(account.site.grid);
    std::vector<HeadName> heads;
    for (const Index row : largest_entries(account.strength, most))
      if (account.strength[row] >= account.options.strength) heads.push_back(names[static_cast<std::size_t>(row)]);
    std::sort(heads.begin(), heads.end());
    return heads;
  }
};

/// Null for stored states, whose sources are unknown, and for a single document.
std::unique_ptr<Analysis> make_score_sources(const AnalysisInput& input) {
  if (input.source == nullptr) return nullptr;
  if (!input.first.stored.empty() && !input.source->ids_alone(0).stored.empty()) return nullptr;
  if (input.site.length < 3 || input.site.documents < 2) return nullptr;
  return std::make_unique<ScoreSourcesAnalysis>(input);
}

}  // namespace

std::vector<Field> describe(const ScoreSources& found) {
  const Axis layer = layer_axis(found.site.grid.layers), head = head_axis(found.site.grid.heads);
  const Axis source =
      source_axis("source", "source of what a layer reads; later layers are no source of it", found.sources);
  const Axis offset = offset_axis("offset", -found.reach, found.reach);
  const Axis near{"content_offset", "token", "key position minus query position",
                  std::vector<std::int64_t>(content_offsets.begin(), content_offsets.end())};
  const std::vector<Axis> heads{layer, head}, shares{layer, head, source}, contents{near, layer, head},
      content_shares{near, layer, head, source};
  const auto all = [&](const SourceShares& side) {
    return std::vector<Matrix>(side.content.begin(), side.content.end());
  };
  const std::string small = fmt::format(
      "the content is smaller than {:g} of its standard errors, or the mask forbids "
      "the offset",
      found.options.least_errors);
  Fields fields("score_sources");
  fields.add("position_query", shares, "1", "share of a head's position kernel that a source gives through the queries",
             found.query.position, flat_kernel);
  fields.add("position_key", shares, "1", "share of a head's position kernel that a source gives through the keys",
             found.key.position, flat_kernel);
  fields.add("position_kernel", {layer, head, offset}, "1",
             "mean score at an offset of one document's queries and the mean keys of others, and the other way round",
             found.kernel, "the mask forbids the offset");
  fields.add("kernel_sd", heads, "1", "standard deviation of the position kernel over offsets", found.kernel_sd);
  fields.add("content_query", content_shares, "1",
             "share of the content at an offset that a source gives through the queries", all(found.query), small);
  fields.add("content_key", content_shares, "1",
             "share of the content at an offset that a source gives through the keys", all(found.key), small);
  fields.add("content", contents, "1", "mean score at an offset of what tokens add to the mean of their place",
             Matrix(found.content.transpose()), "the mask forbids the offset");
  fields.add("content_error", contents, "1", "standard error of the content over pairs of documents",
             Matrix(found.content_error.transpose()), "the mask forbids the offset, or there are two documents");
  fields
      .add("closure", {layer}, "1", "largest error of the sum over sources, of the root mean square of queries or keys",
           found.closure)
      .note("most", found.options.closure);
  describe_chosen(found, fields);
  fields.note_all("documents", found.documents).note_all("first_place", found.first).note_all("places", found.places);
  return fields.taken();
}

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
