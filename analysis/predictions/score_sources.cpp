#include "score_sources.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "../../core/attention/rotary_term.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/largest_entries.h"
#include "../../core/process/threads.h"
#include "../pass/even_spread.h"
#include "source_sums.h"

namespace headwave {

namespace {

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

/// Documents of the site's length that pass once more, an even number, evenly spread.
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

/// Sums become shares.
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
    found_.position_table.assign(found_.options.heads.size(), Matrix::Zero(all, all));
    found_.self_table = found_.position_table;
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
    for (Index head = 0; head < heads; ++head) {
      const Index row = static_cast<Index>(place) * heads + head;
      const Matrix query = mean(sums.kernel.query.middleRows(head * number, number), documents, pairs);
      const Matrix key = mean(sums.kernel.key.middleRows(head * number, number), documents, pairs);
      found_.query.position.row(row).head(number) = kernel_shares(query, pairs).transpose();
      found_.key.position.row(row).head(number) = kernel_shares(key, pairs).transpose();
      set_kernel(row, 0.5 * (query.colwise().sum() + key.colwise().sum()).transpose(), pairs);
      for (std::size_t o = 0; o < content_offsets.size(); ++o) set_content(sums.content, row, head, number, o, pairs);
    }
    const std::vector<Index>& chosen = work_.chosen[place];
    for (std::size_t at = 0; at < chosen.size(); ++at)
      for (std::size_t c = 0; c < found_.options.heads.size(); ++c)
        if (found_.options.heads[c] == HeadName{layer, chosen[at]}) set_chosen(c, sums, at, number, pairs, layer);
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

  void set_content(const ContentSums& sums, Index row, Index head, Index number, std::size_t o, const Vector& pairs) {
    const auto at = static_cast<Index>(o);
    const double twos = static_cast<double>(found_.documents) / 2;  // pairs of documents
    const Index t = content_offsets[o];
    const bool there = std::abs(t) <= found_.reach && pairs[t + found_.reach] > 0;
    const double mean = sums.sum(head, at) / twos;
    const double variance = sums.squares(head, at) / twos - mean * mean;
    const double error = twos > 1 ? std::sqrt(std::max(0.0, variance) / (twos - 1)) : not_defined;
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
  void set_chosen(std::size_t c, const LayerSums& sums, std::size_t at, Index number, const Vector& pairs,
                  Index layer) {
    const auto documents = static_cast<double>(found_.documents);
    const Vector shares = kernel_shares(mean(sums.content.position_table[at], documents, pairs), pairs);
    for (Index a = 0; a < number; ++a)
      found_.position_table[c].row(a).head(number) = shares.segment(a * number, number).transpose();
    const Matrix& self = sums.content.self_table[at];
    // As of the content itself: where it is too small, its parts are shares of noise.
    const Index row = found_.site.grid.first_row(layer) + found_.options.heads[c].head;
    if (std::isnan(found_.query.content[1](row, 0)))
      found_.self_table[c].topLeftCorner(number, number).setConstant(not_defined);
    else
      found_.self_table[c].topLeftCorner(number, number) = self / self.sum();
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
  work.earlier = options.earlier;
  work.all = halves.halves[0].documents + halves.halves[1].documents;
  if (work.all < 2)
    throw ShapeError("score_sources: one document; the mean query of a place needs another one at least");
  std::vector<Document> documents;
  for (const Index i : spread(numbers, work.all, options.documents)) documents.push_back(source.document(i));
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

/// What the tables of the chosen heads say.
void describe_chosen(const ScoreSources& found, Fields& fields) {
  if (found.options.heads.empty()) return;
  const Axis chosen = head_name_axis("source_head", "head whose sources are given in pairs", found.options.heads);
  const Axis query = source_axis("query_source", "source of what the queries read", found.sources);
  const Axis key = source_axis("key_source", "source of what the keys read", found.sources);
  fields.add("position_table", {chosen, query, key}, "1",
             "share of the position kernel that a query source and a key source give together", found.position_table,
             flat_kernel);
  fields.add("self_table", {chosen, query, key}, "1",
             "share of a token's content with itself that a query source and a key source give together",
             found.self_table,
             fmt::format("the content is smaller than {:g} of its standard errors", found.options.least_errors));
  if (found.earlier.empty()) return;
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
    for (const std::string& name : options().heads) how.heads.push_back(parse_head_name(name));
    how.earlier = !how.heads.empty();
    if (how.heads.empty()) how.heads = strongest(finished.get<HeadAccount>());
    return describe(finished.keep(
        score_sources(input().model, *input().source, site().numbers, finished.get<AccountHalves>(), how)));
  }

 private:
  /// A handful of the heads that have a preference.
  [[nodiscard]] static std::vector<HeadName> strongest(const HeadAccount& account) {
    constexpr Index most = 5;
    const std::vector<HeadName> names = heads_of(account.site.grid);
    std::vector<HeadName> heads;
    for (const Index row : largest_entries(account.strength, most))
      if (account.strength[row] >= account.options.strength) heads.push_back(names[static_cast<std::size_t>(row)]);
    std::sort(heads.begin(), heads.end());
    return heads;
  }
};

/// Null where states were stored, since nobody knows what wrote them; where an intervention put keys in the
/// place of those that states give; and where there is no second document.
std::unique_ptr<Analysis> make_score_sources(const AnalysisInput& input) {
  if (input.source == nullptr || !input.first.stored.empty()) return nullptr;
  if (input.site.length < 3 || input.site.documents < 2) return nullptr;
  for (const Block& block : input.stack().blocks)
    if (!block.self.fixed_keys.empty()) return nullptr;
  return std::make_unique<ScoreSourcesAnalysis>(input);
}

}  // namespace

std::vector<Field> describe(const ScoreSources& found) {
  const Axis layer = layer_axis(found.site.grid.layers), head = head_axis(found.site.grid.heads);
  const Axis source =
      source_axis("source", "source of what a layer reads; later layers are no source of it", found.sources);
  const Axis offset = offset_axis("kernel_offset", -found.reach, found.reach);
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

const AnalysisKind& score_sources_analysis() {
  static const AnalysisKind kind{.name = "score_sources",
                                 .asks = "Which part of the network wrote what a head's queries and keys read?",
                                 .step = Step::prediction,
                                 .needs = {Need::weights, Need::projections, Need::equal_length},
                                 .reads = {head_account_analysis},
                                 .one_sequence = true,
                                 .by_default = true,
                                 .make = make_score_sources};
  return kind;
}

}  // namespace headwave
