#include "account_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include <Eigen/QR>
#include <fmt/format.h>

#include "../../analysis/pass/even_spread.h"
#include "../../analysis/statistics/quantile.h"
#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/source.h"
#include "../../core/numbers/largest_entries.h"
#include "../../core/numbers/random.h"

namespace headwave {

namespace {

// u, tokens: the words of nearer neighbours are in a state, too, and a causal head can follow later keys alone.
constexpr Index moved_by = 4;
constexpr double most_hidden = 0.1;  // of a profile that a window may hide when it moves
constexpr Index farthest_offset = 128;
constexpr std::size_t placebos = 10;  // random rotations

/// Whether something of what a layer reads can be moved.
bool can_move(const Stack& stack, Index layer) {
  return stack.rotary() == nullptr || stack.rotary(layer) != nullptr;
}

/// The head with the largest strength of every layer, as rows of the grid.
std::vector<Index> strongest_of_layers(const HeadAccount& account) {
  const HeadGrid& grid = account.site.grid;
  std::vector<Index> rows;
  for (Index first = 0; first < grid.rows(); first += grid.heads)
    for (const Index head : largest_entries(account.strength.segment(first, grid.heads), 1))
      rows.push_back(first + head);
  return rows;
}

/// Documents of the account, spread evenly over all of them.
std::vector<Index> documents_to_ask(const Site& site, Index most) {
  std::vector<Index> all, some;
  for (Index i = 0; i < std::ssize(site.numbers); ++i)
    if (site.number_of(i) >= 0) all.push_back(i);
  const Index count = std::ssize(all);
  for (Index n = 0; n < count; ++n)  // from the end: the first of each part
    if (is_spread(count - 1 - n, std::min(most, count), count)) some.push_back(all[static_cast<std::size_t>(n)]);
  return some;
}

/// Attention of one head by offset t = -(T-1) .. T-1, summed over chosen queries.
struct OffsetSums {
  Vector within;         ///< w_i A^X_i(i+t)
  Vector past;           ///< the same within the text keys that are past when they are moved: i + t + u <= i if causal
  Vector weight, count;  ///< A_i(i+t), and the queries that see a text key there
};

/// One layer of a document as the model is.
struct SeenLayer {
  Matrix32 query;  ///< (chosen rows, heads * d_head)
  Matrix32 mass;   ///< (heads, chosen rows)  w
};

/// What one document says of every head, by offset t = -reach .. reach, summed over chosen queries.
struct SeenDocument {
  std::vector<SeenLayer> layers;  ///< [place]  if the keys are moved later
  Matrix within, past;            ///< (rows, 2 reach + 1)  as OffsetSums, of the model as it is
  Matrix moved;                   ///< (rows, 2 reach + 1)  past, with moved keys
  Vector count;                   ///< (2 reach + 1)  queries that see a text key there
};

/// Attention of one kind over chosen queries.
class AskedAttention {
 public:
  AskedAttention(const AccountSite& site, Index rows)
      : site_(site), alone_(*site.stack), rows_(chosen_rows(site.length, rows)), queries_(queries_of(rows_)) {
    alone_.block.heads = alone_.block.kv_heads = 1;
    for (std::size_t at = 0; at < queries_.size(); ++at) row_of_.emplace(queries_[at], static_cast<Index>(at));
  }

  [[nodiscard]] const AccountSite& site() const { return site_; }
  [[nodiscard]] Index reach() const { return std::min(site_.length - 1, farthest_offset); }
  [[nodiscard]] SeenDocument nothing() const {
    const Matrix zero = Matrix::Zero(site_.grid.rows(), 2 * reach() + 1);
    return {std::vector<SeenLayer>(site_.grid.layers.size()), zero, zero, zero, Vector::Zero(zero.cols())};
  }
  [[nodiscard]] const RotaryTerm* rotary(Index place) const {
    return site_.stack->rotary(site_.grid.layers[static_cast<std::size_t>(place)]);
  }

  /// (T)  1: text, which asks and is asked
  [[nodiscard]] Eigen::ArrayXf text_of(const Document& document) const {
    return text_keys(site_.kind, document.query_tokens(site_.kind), site_.length);
  }

  /// Notes a layer as the model is, and moves its keys if it is rotary.
  void see(const Eigen::ArrayXf& text, Index place, MatrixView32 query, MatrixView32 key, SeenDocument& seen) const {
    SeenLayer& layer = seen.layers[static_cast<std::size_t>(place)];
    layer.query = rows_at(query, queries_);
    layer.mass = Matrix32::Constant(site_.grid.heads, std::ssize(queries_), -1);
    const std::vector<OffsetSums> sums = sums_of(text, place, query, key, &layer.mass);
    for (std::size_t h = 0; h < sums.size(); ++h) {
      seen.within.row(row_at(place, h)) = near(sums[h].within).transpose();
      seen.past.row(row_at(place, h)) = near(sums[h].past).transpose();
    }
    seen.count = near(sums.front().count);
    if (rotary(place) == nullptr) return;
    std::vector<Index> heads(static_cast<std::size_t>(site_.grid.heads));
    std::iota(heads.begin(), heads.end(), Index{0});
    note_moved(text, place, turned_queries(query, heads, moved_by, *rotary(place), site_.stack->block.d_head), key,
               seen);
    layer = {};
  }

  /// Adds what the same layer does with its keys moved.
  void see_moved(const Eigen::ArrayXf& text, Index place, MatrixView32 key, SeenDocument& seen) const {
    const Matrix32& chosen = seen.layers[static_cast<std::size_t>(place)].query;
    note_moved(text, place, put_at(chosen, queries_, site_.length), key, seen);
  }

  /// @param mass  (heads, chosen rows)  w; below 0: written first. Null: w is the mass of the attention itself
  /// @param head  the only one, whose queries and keys these are; below 0: all are there
  /// @returns [head]
  [[nodiscard]] std::vector<OffsetSums> sums_of(const Eigen::ArrayXf& text, Index place, const Matrix32& query,
                                                const Matrix32& key, Matrix32* mass = nullptr, Index head = -1) const {
    const Vector zero = Vector::Zero(2 * site_.length - 1);
    std::vector<OffsetSums> sums(head < 0 ? static_cast<std::size_t>(site_.grid.heads) : 1, {zero, zero, zero, zero});
    const Index window = site_.window(static_cast<std::size_t>(place));
    RowProbe probe([&](Index h, Index i, const auto& weights) {
      if (text[i] == 0) return;
      const KeySpan open = allowed_keys(i, site_.length, site_.kind == AttentionKind::causal, window);
      const Eigen::ArrayXd keys = text.segment(open.first, open.count).template cast<double>();
      const Eigen::ArrayXd seen = weights.segment(open.first, open.count).array().template cast<double>() * keys;
      const double own = seen.sum();
      double w = own;
      if (mass != nullptr) {
        float& kept = (*mass)(h, row_of_.at(i));
        if (kept < 0) kept = static_cast<float>(own);
        w = static_cast<double>(kept);
      }
      const Index first = open.first - i + site_.length - 1;
      const Index past = site_.kind == AttentionKind::causal ? std::max<Index>(0, open.count - moved_by) : open.count;
      const double in_past = seen.head(past).sum();
      OffsetSums& one = sums[static_cast<std::size_t>(h)];
      if (own > 0) one.within.segment(first, open.count).array() += w / own * seen;
      if (in_past > 0) one.past.segment(first, past).array() += w / in_past * seen.head(past);
      one.weight.segment(first, open.count).array() += seen;
      one.count.segment(first, open.count).array() += keys;
    });
    std::array<Probe*, 1> probes{&probe};
    AccountSite site = site_;
    if (head >= 0) site.stack = &alone_;
    attend_layer(site, static_cast<std::size_t>(place), query, key, {}, probes, head, rows_);
    return sums;
  }

 private:
  void note_moved(const Eigen::ArrayXf& text, Index place, const Matrix32& query, const Matrix32& key,
                  SeenDocument& seen) const {
    SeenLayer& layer = seen.layers[static_cast<std::size_t>(place)];
    const std::vector<OffsetSums> after = sums_of(text, place, query, key, &layer.mass);
    for (std::size_t h = 0; h < after.size(); ++h) seen.moved.row(row_at(place, h)) = near(after[h].past).transpose();
  }

  [[nodiscard]] Index row_at(Index place, std::size_t head) const {
    return place * site_.grid.heads + static_cast<Index>(head);
  }
  [[nodiscard]] Vector near(const Vector& all) const {
    return all.segment(site_.length - 1 - reach(), 2 * reach() + 1);
  }

  const AccountSite& site_;
  Stack alone_;  ///< with one head at a time
  std::vector<RowSpan> rows_;
  std::vector<Index> queries_;
  std::unordered_map<Index, Index> row_of_;
};

/// Looks at every layer of a document as the model is, or with its text moved.
class MovedKeysProbe : public Probe {
 public:
  MovedKeysProbe(const AskedAttention& asked, const Eigen::ArrayXf& text, bool moved, SeenDocument& seen)
      : asked_(asked), text_(text), moved_(moved), seen_(seen) {}
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const LayerProjections& layer) override {
    const Index place = asked_.site().grid.place_of(layer.layer);
    if (layer.kind != asked_.site().kind || place < 0 || !can_move(*asked_.site().stack, layer.layer)) return;
    if (moved_)
      asked_.see_moved(text_, place, layer.key, seen_);
    else
      asked_.see(text_, place, layer.query, layer.key, seen_);
  }
  void see(const Tile& /*tile*/) override {}

 private:
  const AskedAttention& asked_;
  const Eigen::ArrayXf& text_;
  bool moved_;  ///< the text; false: the model as it is
  SeenDocument& seen_;
};

/// Attention of a few heads, with and without what a source wrote to their keys.
class WithoutSource : public Probe {
 public:
  WithoutSource(const AskedAttention& asked, const Eigen::ArrayXf& text, const std::vector<SourceOfKeys>& removed)
      : asked_(asked), text_(text), removed_(removed), query_(removed.size()), key_(removed.size()) {}
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const LayerProjections& layer) override {
    const BlockSpec& spec = asked_.site().stack->block;
    for (std::size_t h = 0; h < removed_.size(); ++h)
      if (layer.kind == asked_.site().kind && layer.layer == removed_[h].head.layer) {
        query_[h] = layer.query.middleCols(removed_[h].head.head * spec.d_head, spec.d_head);
        key_[h] = layer.key.middleCols(spec.key_head(removed_[h].head.head) * spec.d_head, spec.d_head);
      }
  }
  void see(const Tile& /*tile*/) override {}

  /// Of one head: as it is, without the source, without as much in random directions of every draw.
  /// @param part       (T, d_head)  what the source wrote to the keys
  /// @param rotations  of every draw
  [[nodiscard]] std::vector<OffsetSums> sums(std::size_t h, const Matrix32& part,
                                             const std::vector<Matrix32>& rotations) const {
    const HeadName& head = removed_[h].head;
    const Index place = asked_.site().grid.place_of(head.layer);
    const auto of = [&](const Matrix32& key) {
      return asked_.sums_of(text_, place, query_[h], key, nullptr, head.head).front();
    };
    std::vector<OffsetSums> found{of(key_[h]), of(key_[h] - part)};
    for (const Matrix32& rotation : rotations) found.push_back(of(key_[h] - part * rotation));
    return found;
  }

 private:
  const AskedAttention& asked_;
  const Eigen::ArrayXf& text_;
  const std::vector<SourceOfKeys>& removed_;
  std::vector<Matrix32> query_, key_;
};

/// Random rotations of a head's channels, one for each draw.
std::vector<Matrix32> random_rotations(std::size_t h, Index width) {
  std::vector<Matrix32> rotations;
  for (std::size_t draw = 0; draw < placebos; ++draw) {
    Random random = Random(1).stream(1 + h).stream(draw);
    Matrix normal(width, width);
    for (double& number : normal.reshaped()) number = random.normal();
    const Matrix rotation = Eigen::HouseholderQR<Matrix>(normal).householderQ();
    rotations.push_back(rotation.cast<float>());
  }
  return rotations;
}

/// Sums over documents of a head whose keys lost a source.
struct TouchedHead {
  std::vector<Matrix32> rotations;
  std::vector<Vector> weight;  ///< as it is, without, each placebo
  Vector count;
};

/// What is taken out of the keys of which heads.
std::vector<SourceOfKeys> sources_to_remove(const HeadAccount& account, const ScoreSources* sources) {
  std::vector<SourceOfKeys> removed;
  if (sources == nullptr) return removed;
  const std::vector<HeadName> names = heads_of(account.site.grid);
  for (const Index row : strongest_of_layers(account)) {
    Index largest = 0;
    sources->key.position.row(row).maxCoeff(&largest);
    if (can_move(*account.site.stack, names[static_cast<std::size_t>(row)].layer))
      removed.push_back({names[static_cast<std::size_t>(row)], sources->sources[static_cast<std::size_t>(largest)]});
  }
  return removed;
}

/// Passes some documents through the model as often as is needed.
class Asking {
 public:
  Asking(const Model& model, const HeadAccount& account, const ScoreSources* sources,
         const AccountEvidenceOptions& options)
      : removed(sources_to_remove(account, sources)),
        model_(model),
        site_(account.site),
        asked_(site_, options.rows),
        threads_(options.threads) {
    const Vector none = Vector::Zero(2 * site_.length - 1);
    for (std::size_t h = 0; h < removed.size(); ++h)
      touched.push_back(
          {random_rotations(h, site_.stack->block.d_head), std::vector<Vector>(2 + placebos, none), none});
    if (rotary()) return;
    moved_ = moved_text(model, moved_by, site_.kind);
  }

  [[nodiscard]] bool rotary() const { return site_.stack->rotary() != nullptr; }

  /// Documents that pass side by side.
  void ask(const std::vector<Document>& documents) {
    std::vector<Eigen::ArrayXf> texts;
    std::vector<SeenDocument> seen(documents.size(), asked_.nothing());
    for (const Document& document : documents) texts.push_back(asked_.text_of(document));
    std::deque<MovedKeysProbe> moves;  // what is in a deque stays where it is
    std::deque<WithoutSource> heads;
    std::deque<SourceKeysProbe> parts;
    const auto pass = [&](const Model& model, bool moved) {
      std::deque<std::vector<Probe*>> probes;
      std::vector<Passing> passing;
      for (std::size_t d = 0; d < documents.size(); ++d) {
        probes.push_back({&moves.emplace_back(asked_, texts[d], moved, seen[d])});
        if (!moved && !removed.empty()) {
          probes.back().push_back(&heads.emplace_back(asked_, texts[d], removed));
          probes.back().push_back(&parts.emplace_back(model.stack_of(site_.kind), site_.kind, documents[d], removed));
        }
        passing.push_back({&documents[d], probes.back()});
      }
      model_passes(model, passing, threads_);
    };
    pass(model_, false);
    if (moved_) pass(*moved_, true);
    for (std::size_t d = 0; d < documents.size(); ++d) {
      seen[d].layers.clear();
      all.push_back(std::move(seen[d]));
      if (removed.empty()) continue;
      const std::vector<Matrix32> written = parts[d].taken();
      for (std::size_t h = 0; h < removed.size(); ++h) {
        const std::vector<OffsetSums> sums = heads[d].sums(h, written[h], touched[h].rotations);
        for (std::size_t k = 0; k < sums.size(); ++k) touched[h].weight[k] += sums[k].weight;
        touched[h].count += sums.front().count;
      }
    }
  }

  std::vector<SourceOfKeys> removed;
  std::vector<TouchedHead> touched;  ///< [removed]
  std::vector<SeenDocument> all;

 private:
  const Model& model_;
  const AccountSite& site_;
  AskedAttention asked_;
  std::optional<Model> moved_;  ///< the same with the text moved; none: positions are rotary
  int threads_;
};

/// Equation (3) for one head, without one document.
/// @param left_out  its number; below 0: none
/// @returns NaN if there is nothing that could move
double moved_share(const std::vector<SeenDocument>& documents, const AccountSite& site, Index row,
                   Index left_out = -1) {
  const Index width = documents.front().count.size(), middle = width / 2;
  const Vector zero = Vector::Zero(width);
  Vector count = zero, within = zero, past = zero, moved = zero;
  for (Index d = 0; d < std::ssize(documents); ++d) {
    if (d == left_out) continue;
    const SeenDocument& one = documents[static_cast<std::size_t>(d)];
    count += one.count;
    within += one.within.row(row).transpose();
    past += one.past.row(row).transpose();
    moved += one.moved.row(row).transpose();
  }
  const double least = enough_queries(count);
  const Index window = site.window(static_cast<std::size_t>(row / site.grid.heads));
  double along = 0, whole = 0, hidden = 0;  // hidden: what a window lets nobody see
  for (Index t = 0; t < width; ++t) hidden += window > 0 && std::abs(t - middle - moved_by) >= window ? within[t] : 0;
  if (hidden > most_hidden * within.sum()) return not_defined;
  for (Index t = 0; t + moved_by < width; ++t) {
    const Index to = t + moved_by;
    if (count[t] < least || count[to] < least) continue;
    const double change = within[to] / count[to] - past[t] / count[t];
    along += (moved[t] - past[t]) / count[t] * change;
    whole += change * change;
  }
  return whole > 0 ? along / whole : not_defined;
}

/// Where the mean weight is largest of those that an eighth of the queries see; -1: nowhere.
Index peak_of(const TouchedHead& head) {
  Index peak = -1;
  const auto mean = [&](Index t) { return head.weight[0][t] / head.count[t]; };
  for (Index t = 0; t < head.count.size(); ++t)
    if (head.count[t] >= enough_queries(head.count) && (peak < 0 || mean(t) > mean(peak))) peak = t;
  return peak;
}

}  // namespace

AccountEvidence account_evidence(const Model& model, const Source& source, const Site& site, const HeadAccount& account,
                                 const ScoreSources* sources, const AccountEvidenceOptions& options,
                                 const std::function<void(Index)>& done) {
  const std::vector<Index> documents = documents_to_ask(site, options.documents);
  if (documents.empty()) throw ShapeError("account_evidence: there is no document; expected at least one");
  Asking asking(model, account, sources, options);
  for (auto first = documents.begin(); first != documents.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(std::max<Index>(1, options.together), documents.end() - first);
    std::vector<Document> some;
    for (; first != end; ++first) some.push_back(source.ids_alone(*first));
    asking.ask(some);
    if (done) done(first - documents.begin());
  }

  AccountEvidence evidence;
  evidence.grid = account.site.grid;
  evidence.rotary = asking.rotary();
  evidence.documents = std::ssize(documents);
  const Index rows = evidence.grid.rows();
  const Vector nothing = Vector::Constant(rows, not_defined);
  evidence.moved = {nothing, nothing, nothing};
  for (Index row = 0; row < rows; ++row) {
    evidence.moved.value[row] = moved_share(asking.all, account.site, row);
    Vector left(std::ssize(asking.all));
    for (Index d = 0; d < left.size(); ++d) left[d] = moved_share(asking.all, account.site, row, d);
    if (left.size() < 3 || !left.allFinite()) continue;
    const double error = jackknife_error(left, options.coverage);
    evidence.moved.lower[row] = evidence.moved.value[row] - error;
    evidence.moved.upper[row] = evidence.moved.value[row] + error;
  }
  evidence.source.resize(static_cast<std::size_t>(rows));
  evidence.weight = evidence.weight_without = evidence.weight_placebo = evidence.lowest_placebo = nothing;
  for (std::size_t h = 0; h < asking.removed.size(); ++h) {
    const TouchedHead& head = asking.touched[h];
    const SourceOfKeys& removed = asking.removed[h];
    const Index row = evidence.grid.place_of(removed.head.layer) * evidence.grid.heads + removed.head.head;
    const Index peak = peak_of(head);
    if (peak < 0) continue;
    evidence.source[static_cast<std::size_t>(row)] = removed.source.name();
    evidence.weight[row] = head.weight[0][peak] / head.count[peak];
    evidence.weight_without[row] = head.weight[1][peak] / head.count[peak];
    Vector placebo(static_cast<Index>(placebos));
    for (std::size_t draw = 0; draw < placebos; ++draw)
      placebo[static_cast<Index>(draw)] = head.weight[2 + draw][peak] / head.count[peak];
    evidence.weight_placebo[row] = placebo.mean();
    evidence.lowest_placebo[row] = placebo.minCoeff();
  }
  return evidence;
}

std::string no_account_evidence(const Model& model, const AccountSite& site, const Document& first) {
  const Stack& stack = *site.stack;
  if (site.crosses()) return "queries and keys of cross-attention stand in different sequences";
  if (stack.rotary() != nullptr) return {};
  if (!first.stored.empty()) return "states, or queries and keys, are stored; their positions cannot be moved";
  if (stack.position_term)
    return fmt::format("a {} adds positions ({}) to its scores, which keys do not hold", model.family,
                       stack.position_term.name());
  if (stack.embedding.positions.empty())
    return fmt::format("a {} has neither a position table nor rotary positions", model.family);
  if (site.no_positions) return "every place is the same to the model";
  return {};
}

std::vector<Field> describe(const AccountEvidence& evidence) {
  const std::vector<Axis> heads{layer_axis(evidence.grid.layers), head_axis(evidence.grid.heads)};
  Fields fields("account_evidence");
  add_numbers(fields, "moved", heads, "1",
              "share of the head's offset profile that moves by -4 tokens when its keys move by 4; 1: it "
              "reads positions, 0: it does not",
              std::span(&evidence.moved, 1), "no key of the layer can be moved, or its effect could not be seen");
  if (std::ranges::any_of(evidence.source, [](const std::string& name) { return !name.empty(); })) {
    const char* const nothing = "nothing was taken out of the head's keys";
    fields
        .add("removed_source", heads, "1",
             "what was taken out of the head's keys: the source that gives most of its position kernel there",
             evidence.source)
        .note("undefined", std::string(nothing));
    fields.add("weight", heads, "1", "mean attention weight where the head's profile is largest", evidence.weight,
               nothing);
    fields.add("weight_without", heads, "1", "the same with that source taken out of its keys", evidence.weight_without,
               nothing);
    fields.add("weight_placebo", heads, "1", "the same with as much taken out in random directions, mean over draws",
               evidence.weight_placebo, nothing);
    fields.add("weight_placebo_lowest", heads, "1", "the lowest of these draws", evidence.lowest_placebo, nothing);
  }
  fields
      .note_all("keys", std::string(evidence.rotary ? "turned by their rotary positions"
                                                    : "of the text read with other rows of the position table"))
      .note_all("documents", evidence.documents);
  return fields.taken();
}

}  // namespace headwave
