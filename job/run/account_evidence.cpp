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
#include "../../analysis/why/attended_rows.h"
#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/largest_entries.h"
#include "../../core/numbers/random.h"

namespace headwave {

namespace {

// u, tokens: a state also contains words of nearer neighbours, and causal heads can follow only later keys.
constexpr Index moved_by = 4;
constexpr double most_hidden = 0.1;  // of a profile, that a window may hide when it moves
constexpr Index farthest_offset = 128;
constexpr std::size_t placebos = 10;  // random rotations

/// Whether positions that a layer reads can be moved.
bool can_move(const Stack& stack, Index layer) {
  return stack.rotary() == nullptr || stack.rotary(layer) != nullptr;
}

/// Documents of the account, spread evenly over all of them.
std::vector<Index> documents_to_ask(const Site& site) {
  std::vector<Index> all, some;
  for (Index i = 0; i < std::ssize(site.numbers); ++i)
    if (site.number_of(i) >= 0) all.push_back(i);
  const Index count = std::ssize(all);
  for (Index n = 0; n < count; ++n)  // from the end: the first of each part
    if (is_spread(count - 1 - n, std::min(evidence_documents, count), count))
      some.push_back(all[static_cast<std::size_t>(n)]);
  return some;
}

/// A head that loses a source from its keys, and sums over documents of its attention by offset.
struct TouchedHead {
  HeadName name;
  StreamSource source;
  std::vector<Matrix32> rotations;  ///< random, of the channels of a head
  std::vector<Vector> weight = {};  ///< as it is, without the source, and without as much after each rotation
  Vector count = {};                ///< number of queries that see a text key at an offset
};

/// The head with the largest strength in every layer, and the largest source of its keys.
std::vector<TouchedHead> heads_to_touch(const HeadAccount& account, const KeySources* sources) {
  std::vector<TouchedHead> touched;
  if (sources == nullptr) return touched;
  const std::vector<HeadName> names = heads_of(account.site.grid);
  const Index heads = account.site.grid.heads, width = account.site.stack->block.d_head;
  for (Index first = 0; first < account.site.grid.rows(); first += heads)
    for (const Index head : largest_entries(account.strength.segment(first, heads), 1)) {
      const HeadName& name = names[static_cast<std::size_t>(first + head)];
      if (!can_move(*account.site.stack, name.layer)) continue;
      Index largest = 0;
      sources->shares.row(first + head).maxCoeff(&largest);
      std::vector<Matrix32> rotations;
      for (std::size_t draw = 0; draw < placebos; ++draw) {
        Random random = Random(1).stream(1 + touched.size()).stream(draw);
        Matrix normal(width, width);
        for (double& number : normal.reshaped()) number = random.normal();
        const Matrix rotation = Eigen::HouseholderQR<Matrix>(normal).householderQ();
        rotations.push_back(rotation.cast<float>());
      }
      touched.push_back({name, sources->sources[static_cast<std::size_t>(largest)], std::move(rotations)});
    }
  return touched;
}

/// Attention of one head by offset t = -(T-1) .. T-1, summed over the chosen queries.
struct OffsetSums {
  Vector within;         ///< w_i A^X_i(i+t)
  Vector past;           ///< the same over the text keys that stay in the past when moved: i + t + u <= i if causal
  Vector weight, count;  ///< A_i(i+t), and the number of queries that see a text key there
};

/// Attention of the chosen queries, from queries and keys that are given.
class AskedAttention {
 public:
  explicit AskedAttention(const AccountSite& of)
      : site(of), queries(queries_of(chosen_rows(of.length))), alone_(*of.stack) {
    alone_.block.heads = alone_.block.kv_heads = 1;
    for (std::size_t at = 0; at < queries.size(); ++at) row_of_.emplace(queries[at], static_cast<Index>(at));
  }

  /// @param mass  (heads, chosen rows)  w; written first if below 0. Null: that of the attention itself
  /// @param head  the only head, whose queries and keys these are; below 0: all heads
  /// @returns one per head
  [[nodiscard]] std::vector<OffsetSums> sums(const Eigen::ArrayXf& text, Index place, const Matrix32& query,
                                             const Matrix32& key, Matrix32* mass = nullptr, Index head = -1) const {
    const Vector zero = Vector::Zero(2 * site.length - 1);
    std::vector<OffsetSums> sums(head < 0 ? static_cast<std::size_t>(site.grid.heads) : 1, {zero, zero, zero, zero});
    const Index window = site.window(static_cast<std::size_t>(place));
    RowProbe probe([&](Index h, Index i, const auto& weights) {
      if (text[i] == 0) return;
      const KeySpan open = allowed_keys(i, site.length, site.kind == AttentionKind::causal, window);
      const Eigen::ArrayXd keys = text.segment(open.first, open.count).template cast<double>();
      const Eigen::ArrayXd seen = weights.segment(open.first, open.count).array().template cast<double>() * keys;
      const double own = seen.sum();
      double w = own;
      if (mass != nullptr) {
        float& kept = (*mass)(h, row_of_.at(i));
        if (kept < 0) kept = static_cast<float>(own);
        w = static_cast<double>(kept);
      }
      const Index first = open.first - i + site.length - 1;
      const Index past = site.kind == AttentionKind::causal ? std::max<Index>(0, open.count - moved_by) : open.count;
      const double in_past = seen.head(past).sum();
      OffsetSums& one = sums[static_cast<std::size_t>(h)];
      if (own > 0) one.within.segment(first, open.count).array() += w / own * seen;
      if (in_past > 0) one.past.segment(first, past).array() += w / in_past * seen.head(past);
      one.weight.segment(first, open.count).array() += seen;
      one.count.segment(first, open.count).array() += keys;
    });
    std::array<Probe*, 1> probes{&probe};
    AccountSite asked = site;
    if (head >= 0) asked.stack = &alone_;
    attend_layer(asked, static_cast<std::size_t>(place), query, key, {}, probes, head, chosen_rows(site.length));
    return sums;
  }

  const AccountSite& site;
  std::vector<Index> queries;

 private:
  Stack alone_;  ///< for one head at a time
  std::unordered_map<Index, Index> row_of_;
};

/// Attention of every head in one document by offset t = -reach .. reach, summed over the chosen queries.
struct SeenDocument {
  Matrix within, past;  ///< (rows, 2 reach + 1)  as in OffsetSums, of the model as it is
  Matrix moved;         ///< (rows, 2 reach + 1)  `past` with moved keys
  Vector count;         ///< (2 reach + 1)  number of queries that see a text key there
};

/// Watches every layer of a document in the model as it is and, with a position table, in the moved model.
class AskedDocument : public Probe {
 public:
  AskedDocument(const AskedAttention& asked, const Document& document, const std::vector<TouchedHead>& touched)
      : asked_(asked),
        site_(asked.site),
        reach_(std::min(site_.length - 1, farthest_offset)),
        text_(text_keys(site_.kind, document.query_tokens(site_.kind), site_.length)),
        touched_(touched),
        touched_keys_(touched.size()),
        layers_(site_.grid.layers.size()) {
    seen.within = seen.past = seen.moved = Matrix::Zero(site_.grid.rows(), 2 * reach_ + 1);
    seen.count = Vector::Zero(2 * reach_ + 1);
    std::vector<StreamSource> apart;
    for (const TouchedHead& one : touched) apart.push_back(one.source);
    if (!apart.empty())
      stream_.emplace(*site_.stack, document.query_tokens(site_.kind), 0, site_.length, false, std::move(apart));
  }

  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const Tile& /*tile*/) override {}
  void see(const LayerInput& input) override {
    for (std::size_t h = 0; h < touched_.size(); ++h)
      if (!text_moved && input.kind == site_.kind && input.layer == touched_[h].name.layer) {
        const auto at = std::ranges::find(stream_->sources(), touched_[h].source) - stream_->sources().begin();
        const Matrix32 keys = key_parts(stream_->entering(input.layer), *input.weights, site_.length,
                                        site_.stack->block, site_.stack->block.key_head(touched_[h].name.head));
        touched_keys_[h].written = Matrix32::Zero(site_.length, keys.cols());
        if (at < std::ssize(stream_->sources()))
          touched_keys_[h].written = keys.middleRows(at * site_.length, site_.length);
      }
  }
  void see(const StreamAddition& addition) override {
    if (stream_ && !text_moved && addition.kind == site_.kind) stream_->add(addition);
  }
  void see(const LayerProjections& layer) override {
    const Index place = site_.grid.place_of(layer.layer), d_head = site_.stack->block.d_head;
    if (layer.kind != site_.kind || place < 0 || !can_move(*site_.stack, layer.layer)) return;
    SeenLayer& kept = layers_[static_cast<std::size_t>(place)];
    if (text_moved) {
      note_moved(place, put_at(kept.query, asked_.queries, site_.length), layer.key);
      return;
    }
    kept.mass = Matrix32::Constant(site_.grid.heads, std::ssize(asked_.queries), -1);
    const std::vector<OffsetSums> sums = asked_.sums(text_, place, layer.query, layer.key, &kept.mass);
    for (std::size_t h = 0; h < sums.size(); ++h) {
      seen.within.row(row_at(place, h)) = near(sums[h].within).transpose();
      seen.past.row(row_at(place, h)) = near(sums[h].past).transpose();
    }
    seen.count = near(sums.front().count);
    if (const RotaryTerm* rotary = site_.stack->rotary(layer.layer)) {
      std::vector<Index> heads(static_cast<std::size_t>(site_.grid.heads));
      std::iota(heads.begin(), heads.end(), Index{0});
      note_moved(place, turned_queries(layer.query, heads, moved_by, *rotary, d_head), layer.key);
    } else {
      kept.query = rows_at(layer.query, asked_.queries);
    }
    for (std::size_t h = 0; h < touched_.size(); ++h)
      if (const HeadName& name = touched_[h].name; name.layer == layer.layer) {
        touched_keys_[h].query = layer.query.middleCols(name.head * d_head, d_head);
        touched_keys_[h].key = layer.key.middleCols(site_.stack->block.key_head(name.head) * d_head, d_head);
      }
  }

  /// Adds the attention of one head: as it is, without the source, and without as much in random directions.
  void add_touched(std::size_t h, TouchedHead& head) const {
    const auto& [query, key, written] = touched_keys_[h];
    std::vector<Matrix32> keys{key, key - written};
    for (const Matrix32& rotation : head.rotations) keys.emplace_back(key - written * rotation);
    head.weight.resize(keys.size());
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const OffsetSums sums =
          asked_.sums(text_, site_.grid.place_of(head.name.layer), query, keys[k], nullptr, head.name.head).front();
      add_to(head.weight[k], Vector(sums.weight));
      if (k == 0) add_to(head.count, Vector(sums.count));
    }
  }

  bool text_moved = false;  ///< whether the pass that comes is that of the moved model
  SeenDocument seen;

 private:
  /// One layer of a document in the model as it is, kept for the pass of the moved model.
  struct SeenLayer {
    Matrix32 query;  ///< (chosen rows, heads * d_head)
    Matrix32 mass;   ///< (heads, chosen rows)  w
  };
  /// The vectors of a head that loses a source.
  struct TouchedKeys {
    Matrix32 query, key;  ///< (T, d_head)
    Matrix32 written;     ///< (T, d_head)  what the source wrote to the keys
  };

  void note_moved(Index place, const Matrix32& query, const Matrix32& key) {
    const std::vector<OffsetSums> after =
        asked_.sums(text_, place, query, key, &layers_[static_cast<std::size_t>(place)].mass);
    for (std::size_t h = 0; h < after.size(); ++h) seen.moved.row(row_at(place, h)) = near(after[h].past).transpose();
  }
  [[nodiscard]] Index row_at(Index place, std::size_t head) const {
    return place * site_.grid.heads + static_cast<Index>(head);
  }
  [[nodiscard]] Vector near(const Vector& all) const { return all.segment(site_.length - 1 - reach_, 2 * reach_ + 1); }

  const AskedAttention& asked_;
  const AccountSite& site_;
  Index reach_;
  Eigen::ArrayXf text_;  ///< (T)  1: a text token, which counts as query and as key
  const std::vector<TouchedHead>& touched_;
  std::vector<TouchedKeys> touched_keys_;
  std::vector<SeenLayer> layers_;  ///< [place]
  std::optional<StreamParts> stream_;
};

/// Equation (3) for one head.
/// @param left_out  number of a document that is left out; below 0: none
/// @returns NaN if nothing could move
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
  double along = 0, whole = 0, hidden = 0;  // hidden: the part that a window lets no query see
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

/// Where the mean weight is largest, among offsets that enough queries see; -1: nowhere.
Index peak_of(const TouchedHead& head) {
  Index peak = -1;
  const auto mean = [&](Index t) { return head.weight[0][t] / head.count[t]; };
  for (Index t = 0; t < head.count.size(); ++t)
    if (head.count[t] >= enough_queries(head.count) && (peak < 0 || mean(t) > mean(peak))) peak = t;
  return peak;
}

/// Adds the Fields of the heads that lost a source.
void describe_touched(Fields& fields, const std::vector<Axis>& heads, const HeadGrid& grid,
                      const std::vector<TouchedHead>& touched) {
  std::vector<std::string> source(static_cast<std::size_t>(grid.rows()));
  Vector weight = Vector::Constant(grid.rows(), not_defined), without = weight, placebo = weight, lowest = weight;
  for (const TouchedHead& head : touched) {
    const Index row = grid.first_row(head.name.layer) + head.name.head, peak = peak_of(head);
    if (peak < 0) continue;
    source[static_cast<std::size_t>(row)] = head.source.name();
    Vector at_peak(std::ssize(head.weight));
    for (Index k = 0; k < at_peak.size(); ++k)
      at_peak[k] = head.weight[static_cast<std::size_t>(k)][peak] / head.count[peak];
    weight[row] = at_peak[0];
    without[row] = at_peak[1];
    const Vector drawn = at_peak.tail(at_peak.size() - 2);
    placebo[row] = drawn.mean();
    lowest[row] = drawn.minCoeff();
  }
  if (std::ranges::all_of(source, &std::string::empty)) return;
  const char* const nothing = "nothing was removed from the head's keys";
  fields
      .add("removed_source", heads, "1",
           "source removed from the head's keys: the one that gives most of the position kernel where the profile is "
           "largest",
           source)
      .note("undefined", std::string(nothing));
  fields.add("weight", heads, "1", "mean attention weight where the head's profile is largest", weight, nothing);
  fields.add("weight_without", heads, "1", "the same with that source removed from its keys", without, nothing);
  fields.add("weight_placebo", heads, "1", "the same with as much removed in random directions, mean over draws",
             placebo, nothing);
  fields.add("weight_placebo_lowest", heads, "1", "the lowest of these draws", lowest, nothing);
}

}  // namespace

std::vector<Field> account_evidence(const Model& model, const Source& source, const Site& site,
                                    const HeadAccount& account, const KeySources* sources,
                                    const AccountEvidenceOptions& options, const std::function<void(Index)>& done) {
  const std::vector<Index> documents = documents_to_ask(site);
  if (documents.empty()) throw ShapeError("account_evidence: there is no document; expected at least one");
  const bool rotary = account.site.stack->rotary() != nullptr;
  std::optional<Model> moved_model;
  if (!rotary) moved_model = moved_text(model, moved_by, account.site.kind);
  const AskedAttention asked(account.site);
  std::vector<TouchedHead> touched = heads_to_touch(account, sources);
  std::vector<SeenDocument> all;
  for (auto first = documents.begin(); first != documents.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(std::max<Index>(1, options.together), documents.end() - first);
    std::vector<Document> some;
    for (; first != end; ++first) some.push_back(source.ids_alone(*first));
    std::deque<AskedDocument> probes;  // elements of a deque keep their addresses
    std::vector<Probe*> seen;
    std::vector<Passing> passing;
    for (const Document& document : some) seen.push_back(&probes.emplace_back(asked, document, touched));
    for (std::size_t d = 0; d < some.size(); ++d) passing.push_back({&some[d], {&seen[d], 1}});
    model_passes(model, passing, options.threads);
    for (AskedDocument& probe : probes) probe.text_moved = true;
    if (moved_model) model_passes(*moved_model, passing, options.threads);
    for (AskedDocument& probe : probes) {
      for (std::size_t h = 0; h < touched.size(); ++h) probe.add_touched(h, touched[h]);
      all.push_back(std::move(probe.seen));
    }
    if (done) done(first - documents.begin());
  }

  const HeadGrid& grid = account.site.grid;
  HeadNumber moved(grid.rows());
  for (Index row = 0; row < grid.rows(); ++row) {
    moved.value[row] = moved_share(all, account.site, row);
    Vector left(std::ssize(all));
    for (Index d = 0; d < left.size(); ++d) left[d] = moved_share(all, account.site, row, d);
    if (left.size() < 3 || !left.allFinite()) continue;
    const double error = jackknife_error(left, interval_coverage);
    moved.lower[row] = moved.value[row] - error;
    moved.upper[row] = moved.value[row] + error;
  }
  const std::vector<Axis> heads{layer_axis(grid.layers), head_axis(grid.heads)};
  Fields fields("account_evidence");
  add_numbers(fields, "moved", heads, "1",
              "share of the head's offset profile that moves by -4 tokens when its keys move by 4; 1: it "
              "reads positions, 0: it does not",
              std::span(&moved, 1), "no key of the layer can be moved, or its effect could not be seen");
  describe_touched(fields, heads, grid, touched);
  fields
      .note_all("keys", std::string(rotary ? "turned by their rotary positions"
                                           : "of the text read with other rows of the position table"))
      .note_all("documents", std::ssize(documents));
  return fields.taken();
}

std::string no_account_evidence(const Model& model, const AccountSite& site, const Document& first) {
  const Stack& stack = *site.stack;
  if (site.crosses()) return "queries and keys of cross-attention stand in different sequences";
  if (stack.rotary() != nullptr) return {};
  if (!first.stored.empty()) return "states, or queries and keys, are stored; their positions cannot be moved";
  if (stack.position_term)
    return fmt::format("a {} adds positions ({}) to its scores, not to keys", model.family, stack.position_term.name());
  if (stack.embedding.positions.empty())
    return fmt::format("a {} has neither a position table nor rotary positions", model.family);
  if (site.no_positions) return "the model does not tell positions apart";
  return {};
}

}  // namespace headwave
