#include "account_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/attention/followed_keys.h"
#include "../../analysis/attention/offset_trace.h"
#include "../../analysis/pass/even_spread.h"
#include "../../core/attention/position_term.h"
#include "../../core/fields/fields.h"
#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/recorded_source.h"
#include "../../core/numbers/largest_entries.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

const std::vector<Index> every_shift{-2, -1, 1, 2};

/// Whether something of what a head reads can be moved.
bool can_move(const Stack& stack, const HeadName& head) {
  return stack.rotary() == nullptr || stack.rotary(head.layer) != nullptr;
}

/// The strongest heads of which something can be moved, as rows of the grid.
std::vector<Index> heads_to_move(const HeadAccount& account, Index most) {
  const std::vector<HeadName> names = heads_of(account.site.grid);
  Vector strength = account.strength;
  for (Index row = 0; row < strength.size(); ++row)
    if (!can_move(*account.site.stack, names[static_cast<std::size_t>(row)])) strength[row] = not_defined;
  return largest_entries(strength, most);
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

/// Queries and keys of one head, before a rotation.
struct HeadProjections {
  Matrix32 query, key;  ///< (T, d_head)
};

/// Keeps those of some heads.
class HeadKeeper : public Probe {
 public:
  HeadKeeper(const std::vector<HeadName>& heads, AttentionKind kind, const BlockSpec& spec)
      : heads_(heads), kind_(kind), spec_(spec), kept_(heads.size()) {}
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const LayerProjections& seen) override {
    const Index width = spec_.d_head;
    for (std::size_t h = 0; h < heads_.size(); ++h)
      if (seen.kind == kind_ && seen.layer == heads_[h].layer)
        kept_[h] = {seen.query.middleCols(heads_[h].head * width, width),
                    seen.key.middleCols(spec_.key_head(heads_[h].head) * width, width)};
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] std::vector<HeadProjections> taken() { return std::move(kept_); }

 private:
  const std::vector<HeadName>& heads_;
  AttentionKind kind_;
  const BlockSpec& spec_;
  std::vector<HeadProjections> kept_;
};

/// Offset profiles of one head in one document: with its keys moved, and without what a source wrote to them.
struct TouchedProfiles {
  MovedProfiles moved;
  Vector without;  ///< (2 reach + 1); or empty
};

/// Moves the keys of heads.
class Moving {
 public:
  Moving(const Model& model, const HeadAccount& account, const std::vector<Index>& rows, const ScoreSources* sources,
         int threads)
      : site_(account.site), spec_(site_.stack->block), threads_(threads), as_it_is_(model), alone_(*site_.stack) {
    const std::vector<HeadName> names = heads_of(site_.grid);
    for (const Index row : rows) heads_.push_back(names[static_cast<std::size_t>(row)]);
    // Blocks after the last of the heads change nothing there.
    const Index last = std::ranges::max(heads_, {}, &HeadName::layer).layer;
    std::vector<Block>& blocks = as_it_is_.stack.blocks;
    if (!model.decoder && std::ssize(blocks) > last) blocks.erase(blocks.begin() + last + 1, blocks.end());
    alone_.block.heads = alone_.block.kv_heads = 1;
    for (std::size_t h = 0; sources != nullptr && h < rows.size(); ++h) {
      Index largest = 0;
      sources->key.position.row(rows[h]).maxCoeff(&largest);
      removed_.push_back({heads_[h], sources->sources[static_cast<std::size_t>(largest)]});
    }
    if (rotary()) return;
    for (const Index u : every_shift) moved_.push_back(moved_text(as_it_is_, u, site_.kind));
  }

  [[nodiscard]] bool rotary() const { return site_.stack->rotary() != nullptr; }

  /// A document without stored layers in which no head is.
  [[nodiscard]] Document needed(Document document) const {
    std::erase_if(document.stored,
                  [&](const StoredLayer& one) { return std::ranges::count(heads_, one.layer, &HeadName::layer) == 0; });
    return document;
  }

  /// What is taken out of the keys of each head; empty: nothing.
  [[nodiscard]] const std::vector<SourceOfKeys>& removed() const { return removed_; }

  /// [document][head]  of documents that pass side by side
  [[nodiscard]] std::vector<std::vector<TouchedProfiles>> profiles(const std::vector<Document>& documents) const {
    const auto count = std::ssize(documents);
    std::vector<std::vector<Matrix32>> parts;
    const auto before = seen(as_it_is_, documents, &parts);
    std::vector<std::vector<TouchedProfiles>> found(documents.size());
    parallel_for(count, threads_, [&](Index d) {
      const auto at = static_cast<std::size_t>(d);
      for (std::size_t h = 0; h < heads_.size(); ++h) {
        const HeadProjections& own = before[at][h];
        found[at].push_back(
            {{profile_of(documents[at], h, own.query, own.key), Matrix(std::ssize(every_shift), 2 * site_.reach + 1)},
             {}});
        if (!removed_.empty())
          found[at].back().without = profile_of(documents[at], h, own.query, own.key - parts[at][h]);
      }
    });
    for (std::size_t s = 0; s < every_shift.size(); ++s) {
      const auto there = rotary() ? before : seen(moved_[s], documents);
      parallel_for(count, threads_, [&](Index d) {
        const auto at = static_cast<std::size_t>(d);
        for (std::size_t h = 0; h < heads_.size(); ++h)
          found[at][h].moved.after.row(static_cast<Index>(s)) =
              profile_of(documents[at], h,
                         rotary() ? turned(before[at][h].query, h, every_shift[s]) : before[at][h].query,
                         there[at][h].key)
                  .transpose();
      });
    }
    return found;
  }

 private:
  /// [document][head]
  /// @param parts  [document][head]  takes what the removed sources give to the keys; null: nobody asks
  [[nodiscard]] std::vector<std::vector<HeadProjections>> seen(
      const Model& model, const std::vector<Document>& documents,
      std::vector<std::vector<Matrix32>>* parts = nullptr) const {
    std::deque<HeadKeeper> keepers;  // what is in a deque stays where it is
    std::deque<SourceKeysProbe> sources;
    std::deque<std::vector<Probe*>> probes;
    std::vector<Passing> passing;
    for (const Document& document : documents) {
      probes.push_back({&keepers.emplace_back(heads_, site_.kind, spec_)});
      if (parts != nullptr && !removed_.empty())
        probes.back().push_back(&sources.emplace_back(model.stack_of(site_.kind), site_.kind, document, removed_));
      passing.push_back({&document, probes.back()});
    }
    model_passes(model, passing, threads_);
    std::vector<std::vector<HeadProjections>> found;
    for (HeadKeeper& keeper : keepers) found.push_back(keeper.taken());
    for (SourceKeysProbe& source : sources) parts->push_back(source.taken());
    return found;
  }

  [[nodiscard]] Matrix32 turned(const Matrix32& query, std::size_t h, Index u) const {
    return turned_queries(query, {0}, u, *site_.stack->rotary(heads_[h].layer), spec_.d_head);
  }

  /// Attention of one head.
  /// @returns (2 reach + 1)
  [[nodiscard]] Vector profile_of(const Document& document, std::size_t h, const Matrix32& query,
                                  const Matrix32& key) const {
    Document tokens;
    static_cast<TokenSequence&>(tokens) = document.query_tokens(site_.kind);
    tokens.stored.push_back({0, {}, Matrix32(query.rows(), 1), {}});  // of stored documents this alone tells the length
    OffsetTraceProbe probe({{0}, 1}, tokens, site_.reach, site_.kind);
    const std::array<Probe*, 1> probes{&probe};
    AccountSite one = site_;
    one.stack = &alone_;
    attend_layer(one, static_cast<std::size_t>(site_.grid.place_of(heads_[h].layer)), query, key, {}, probes,
                 heads_[h].head);
    const OffsetTraceSum traces = probe.taken();
    constexpr auto pairs = static_cast<std::size_t>(Pairs::without_sink);
    const Index first = traces.count[pairs].size() / 2 - site_.reach, width = 2 * site_.reach + 1;
    // 0 / 0 is NaN: there is no pair.
    return traces.trace[pairs]
        .row(0)
        .segment(first, width)
        .transpose()
        .cwiseQuotient(traces.count[pairs].segment(first, width));
  }

  const AccountSite& site_;
  const BlockSpec& spec_;
  int threads_;
  Model as_it_is_;            ///< up to the last of the heads
  std::vector<Model> moved_;  ///< [shift]  the same with the text moved; of rotary positions none
  Stack alone_;               ///< with one head at a time
  std::vector<HeadName> heads_;
  std::vector<SourceOfKeys> removed_;  ///< of each head; or empty
};

/// Where the mean of some profiles is largest; -1: nowhere.
Index peak_of(const std::vector<TouchedProfiles>& documents) {
  Vector sum = Vector::Zero(documents.front().moved.before.size());
  for (const TouchedProfiles& one : documents) sum += one.moved.before;
  Index peak = -1;
  for (Index t = 0; t < sum.size(); ++t)
    if (std::isfinite(sum[t]) && (peak < 0 || sum[t] > sum[peak])) peak = t;
  return peak;
}

}  // namespace

AccountEvidence account_evidence(const Model& model, const Source& source, const Site& site, const HeadAccount& account,
                                 const ScoreSources* sources, const AccountEvidenceOptions& options,
                                 const std::function<void(Index)>& done) {
  const std::vector<Index> documents = documents_to_ask(site, options.documents);
  const std::vector<Index> rows = heads_to_move(account, options.heads);
  if (documents.empty() || rows.empty())
    throw ShapeError(
        "account_evidence: there is no document, or no head whose keys can be moved; expected at least one");
  const Moving moving(model, account, rows, sources, options.threads);
  std::vector<std::vector<TouchedProfiles>> by_head(rows.size());
  while (std::ssize(by_head.front()) < std::ssize(documents)) {
    const Index first = std::ssize(by_head.front());
    const Index end = std::min(first + std::max<Index>(1, options.together), std::ssize(documents));
    std::vector<Document> some;
    for (Index d = first; d < end; ++d)
      some.push_back(moving.needed(ids_alone(source, documents[static_cast<std::size_t>(d)])));
    for (std::vector<TouchedProfiles>& of_document : moving.profiles(some))
      for (std::size_t h = 0; h < rows.size(); ++h) by_head[h].push_back(std::move(of_document[h]));
    if (done) done(end);
  }

  AccountEvidence evidence;
  evidence.grid = account.site.grid;
  evidence.rotary = moving.rotary();
  evidence.documents = std::ssize(documents);
  evidence.shifts = every_shift;
  evidence.followed = evidence.asked = Matrix::Constant(evidence.grid.rows(), std::ssize(every_shift), not_defined);
  evidence.source.resize(static_cast<std::size_t>(evidence.grid.rows()));
  evidence.weight = evidence.weight_without = Vector::Constant(evidence.grid.rows(), not_defined);
  for (std::size_t h = 0; h < rows.size(); ++h) {
    const auto place = static_cast<std::size_t>(rows[h] / evidence.grid.heads);
    std::vector<MovedProfiles> moved;
    for (const TouchedProfiles& one : by_head[h]) moved.push_back(one.moved);
    const FollowedDocuments found =
        followed_documents(every_shift, moved, {account.site.window(place), site.kind == AttentionKind::causal});
    evidence.followed.row(rows[h]) = found.followed.transpose();
    evidence.asked.row(rows[h]) = found.asked.transpose();
    const Index peak = peak_of(by_head[h]);
    if (moving.removed().empty() || peak < 0) continue;
    evidence.source[static_cast<std::size_t>(rows[h])] = moving.removed()[h].source.name();
    double weight = 0, without = 0;
    for (const TouchedProfiles& one : by_head[h]) {
      weight += one.moved.before[peak];
      without += one.without[peak];
    }
    evidence.weight[rows[h]] = weight / static_cast<double>(documents.size());
    evidence.weight_without[rows[h]] = without / static_cast<double>(documents.size());
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
  const std::vector<Axis> axes{layer_axis(evidence.grid.layers), head_axis(evidence.grid.heads),
                               Axis{"shift", "token", "u: keys stand for the position u tokens later",
                                    std::vector<std::int64_t>(evidence.shifts.begin(), evidence.shifts.end())}};
  const char* const not_asked = "the head's keys were not moved, or it could follow in no document";
  Fields fields("account_evidence");
  fields
      .add("followed", axes, "1", "documents in which the head's profile moves by exactly -u when its keys move by u",
           evidence.followed)
      .undefined(not_asked);
  fields.add("asked", axes, "1", "documents in which it could", evidence.asked).undefined(not_asked);
  if (std::ranges::any_of(evidence.source, [](const std::string& name) { return !name.empty(); })) {
    const std::vector<Axis> heads{axes[0], axes[1]};
    const char* const nothing = "nothing was taken out of the head's keys";
    fields
        .add("removed_source", heads, "1",
             "what was taken out of the head's keys: the source that gives most of its position kernel there",
             evidence.source)
        .note("undefined", std::string(nothing));
    fields.add("weight", heads, "1", "mean attention weight where the head's profile is largest", evidence.weight)
        .undefined(nothing);
    fields.add("weight_without", heads, "1", "the same with that source taken out of its keys", evidence.weight_without)
        .undefined(nothing);
  }
  fields
      .note_all("keys", std::string(evidence.rotary ? "turned by their rotary positions"
                                                    : "of the text read with other rows of the position table"))
      .note_all("documents", evidence.documents);
  return fields.taken();
}

}  // namespace headwave
