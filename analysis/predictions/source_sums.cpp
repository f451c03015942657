#include "source_sums.h"

#include <cmath>
#include <functional>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/attention/position_term.h"
#include "../../core/model/layer.h"
#include "score_sources.h"

namespace headwave {

namespace {

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

/// Attention told apart by head, put together again.
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

}  // namespace

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

void turn(const RotaryTerm* term, const Stretch& stretch, Index length, Index d_head, Eigen::Ref<Matrix32> rows) {
  if (term == nullptr) return;
  Matrix32 whole = Matrix32::Zero(length, rows.cols());
  whole.middleRows(stretch.first, stretch.count) = rows;
  term->turn(whole, d_head);
  rows = whole.middleRows(stretch.first, stretch.count);
}

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
    made_.query = project_parts(split ? parts : fine_, weights_->query, weights_->query_norm, count());
    made_.key = project_parts(split ? parts : fine_, weights_->key, weights_->key_norm, count());
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
      for (const Index head : work_.chosen[place]) add_earlier(head, window, sums);
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

  void turned(Eigen::Ref<Matrix32> rows) const { turn(term_, work_.stretch, work_.site->length, spec_.d_head, rows); }

  /// Largest difference of the sum over parts, of the root mean square of what it should be.
  [[nodiscard]] double miss(const Matrix32& parts, const MatrixView32& real) const {
    const auto rows = real.middleRows(work_.stretch.first, count());
    Matrix32 rest = rows;
    for (Index s = 0; s < number(); ++s) rest -= parts.middleRows(s * count(), count());
    const double scale = std::sqrt(rows.cast<double>().squaredNorm() / static_cast<double>(rows.size()));
    const double largest = rest.cwiseAbs().maxCoeff();
    return largest == 0 ? 0 : largest / scale;
  }

  /// Equation (2) and its other side, of every part of one head's queries and keys.
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

  /// The same with attention told apart by head.
  void add_earlier(Index head, Index window, KernelSums& sums) const {
    const Index d = spec_.d_head, fine = static_cast<Index>(fine_sources_.size());
    Matrix32 query = project_head(fine_, weights_->query, weights_->query_norm, count(), head, d);
    Matrix32 key = project_head(fine_, weights_->key, weights_->key_norm, count(), spec_.key_head(head), d);
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

SourcePair::SourcePair(const SourceWork& work, const Document& a, const Document& b)
    : work_(work), spec_(work.stack().block), layers_(work.site->grid.layers.size()) {
  for (const Document* document : {&a, &b})
    probes_.push_back(std::make_unique<SourceProbe>(work, document->query_tokens(work.site->kind),
                                                    [this](std::size_t place) { read(place); }));
}

SourcePair::~SourcePair() = default;

Probe* SourcePair::probe(std::size_t i) const {
  return probes_[i].get();
}

const std::vector<StreamSource>& SourcePair::fine_sources() const {
  return probes_.front()->fine_sources();
}

void SourcePair::add_sums_to(std::vector<LayerSums>& sums) const {
  for (std::size_t l = 0; l < sums.size(); ++l) {
    for (const auto& probe : probes_) add_to(sums[l].kernel, KernelSums(probe->found()[l]));
    add_to(sums[l].content, ContentSums(layers_[l]));
  }
}

/// A document's layer is taken apart, on any thread; the second of the two goes on.
void SourcePair::read(std::size_t place) {
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
  sums.sum = Matrix::Zero(spec_.heads, offsets);
  for (Index head = 0; head < spec_.heads; ++head) add_head(head, window, number, difference, sums);
  sums.squares = sums.sum.cwiseAbs2();
  for (const Index head : work_.chosen[place]) add_tables(head, window, number, difference, sums);
}

/// Equation (4): half the products of what two documents differ by.
void SourcePair::add_head(Index head, Index window, Index number, const StretchLayer& difference,
                          ContentSums& sums) const {
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
      sums.sum(head, at) += sums.query(row, at);
    }
}

/// Half the mean over ordinary pairs of scale q_i . k_(i+t); 0 where there is none.
template <class Queries, class Keys>
double SourcePair::content(const Queries& query, const Keys& key, Index t, Index window) const {
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

/// Every source with every other: the position kernel from queries of one document and keys of the other, the
/// content from what they differ by.
void SourcePair::add_tables(Index head, Index window, Index number, const StretchLayer& difference,
                            ContentSums& sums) const {
  const Index d = spec_.d_head, count = work_.stretch.count, shared = spec_.key_head(head) * d;
  const auto scale = static_cast<float>(spec_.score_scale);
  Matrix kernels = Matrix::Zero(number * number, 2 * work_.stretch.reach + 1), self(number, number);
  Matrix32 scores(count, count);
  for (Index a = 0; a < number; ++a)
    for (Index b = 0; b < number; ++b) {
      for (std::size_t of = 0; of < 2; ++of) {
        const Matrix32 query = probes_[of]->made().query.block(a * count, head * d, count, d) * scale;
        multiply(scores, query, probes_[1 - of]->made().key.block(b * count, shared, count, d).transpose());
        add_centred(work_.stretch, window, scores, kernels.row(a * number + b));
      }
      self(a, b) = content(difference.query.block(a * count, head * d, count, d),
                           difference.key.block(b * count, shared, count, d), 0, window);
    }
  sums.position_table.push_back(std::move(kernels));
  sums.self_table.push_back(std::move(self));
}

}  // namespace headwave
