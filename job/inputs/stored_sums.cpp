#include "stored_sums.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/attention/attention_distance.h"
#include "../../analysis/attention/head_types.h"
#include "../../analysis/attention/measured_offset.h"
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
    return {{"source", std::string("stored profiles")},
            {"source_file", fmt::format("{}", fmt::join(names_, ", "))},
            {"source_sha256", digests_},
            {"ids_sha256", ids_},
            {"documents", std::int64_t{count()}},
            {"length", std::int64_t{std::ranges::max(lengths_)}},
            {"special_tokens", special_}};
  }

 private:
  std::string digests_;
  std::vector<StoredLayer> layers_;
  std::vector<Index> lengths_;
  std::vector<std::string> names_;
  std::string ids_;
  std::string special_;
};

/// A model of which only its heads and masks are known.
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

/// Columns of bins that hold one offset each, at t = -reach .. reach; -1: the file has none.
std::vector<Index> columns_of_offsets(const StoredProfiles& profiles, Index reach) {
  const std::vector<double>&first = profiles.arrays.at("first_offset").values,
        &last = profiles.arrays.at("last_offset").values;
  std::vector<Index> columns(static_cast<std::size_t>(2 * reach + 1), -1);
  for (std::size_t bin = 0; bin < first.size(); ++bin)
    if (first[bin] == last[bin] && std::abs(first[bin]) <= static_cast<double>(reach))
      columns[static_cast<std::size_t>(static_cast<Index>(first[bin]) + reach)] = static_cast<Index>(bin);
  return columns;
}

Matrix chosen_columns(const Matrix& from, const std::vector<Index>& columns) {
  Matrix chosen = Matrix::Zero(from.rows(), std::ssize(columns));
  for (std::size_t t = 0; t < columns.size(); ++t)
    if (columns[t] >= 0) chosen.col(static_cast<Index>(t)) = from.col(columns[t]);
  return chosen;
}

/// What was dealt of one layer while the model ran.
DealtLayer dealt_layer(const StoredProfiles& profiles, Index layer, Index reach) {
  const SumReader read(profiles);
  const std::vector<Index> columns = columns_of_offsets(profiles, reach);
  const Index layers = std::ssize(profiles.layers), heads = profiles.heads, terms = account_terms;
  const Index blocks = profiles.arrays.at("dealt_pairs").shape.front();
  DealtLayer dealt;
  dealt.pairs = dealt.uniform = Vector::Zero(2 * reach + 1);
  std::vector<Vector> pairs;
  for (Index block = 0; block < blocks; ++block) {
    const auto counts = [&](const char* name) -> Vector {
      return chosen_columns(read.rows(name, block * layers + layer, 1), columns).row(0).transpose();
    };
    pairs.push_back(counts("dealt_pairs"));
    dealt.pairs += pairs.back();
    dealt.uniform += counts("dealt_uniform");
  }
  for (Index block = 0; block < blocks; ++block) {
    const Vector& own = pairs[static_cast<std::size_t>(block)];
    DealtProfiles& part = dealt.profiles[static_cast<std::size_t>(block % 2)].emplace_back();
    // Dealt documents are of one length: each has the same share of the pairs.
    const double share = dealt.pairs.sum() > 0 ? own.sum() / dealt.pairs.sum() : 0;
    part.documents = std::lround(share * static_cast<double>(profiles.dealt_documents));
    for (Index term = 0; term < terms; ++term) {
      Matrix& profile = part.profile[static_cast<std::size_t>(term)];
      profile =
          chosen_columns(read.rows("dealt_weight", ((block * layers + layer) * terms + term) * heads, heads), columns);
      for (Index t = 0; t < own.size(); ++t)
        profile.col(t) *= own[t] > 0           ? static_cast<double>(part.documents) / own[t]
                          : dealt.pairs[t] > 0 ? 0.0
                                               : not_defined;
    }
  }
  const Index draws = profiles.arrays.at("dealt_null_pairs").shape[1];
  for (Index draw = layer * draws; draw < (layer + 1) * draws; ++draw)
    dealt.null.push_back({middle_columns(read.rows("dealt_null_weight", draw * heads, heads), reach),
                          middle_columns(read.rows("dealt_null_uniform", draw, 1), reach).row(0).transpose(),
                          middle_columns(read.rows("dealt_null_pairs", draw, 1), reach).row(0).transpose()});
  return dealt;
}

/// How many documents of the first one's length each block holds. Empty where that is not known: files were added
/// whose documents differ in length.
std::vector<Index> documents_of_blocks(const StoredProfiles& profiles) {
  const std::vector<Index>& lengths = profiles.lengths;
  const std::vector<double>& said = profiles.arrays.at("block_documents").values;
  std::vector<Index> all(said.begin(), said.end());
  if (std::ranges::count(lengths, lengths.front()) == std::ssize(lengths)) return all;
  std::vector<Index> counted(all.size(), 0), alike(all.size(), 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::size_t block = i % static_cast<std::size_t>(profiles.blocks);
    if (block >= all.size()) return {};
    ++counted[block];
    if (lengths[i] == lengths.front()) ++alike[block];
  }
  return counted == all ? alike : std::vector<Index>();
}

/// The account's sums over the documents of one file, those of the first one's length; of no document if none was
/// dealt, if blocks mix documents of even and of odd number, or if it is not known which documents a block holds.
AccountSums account_sum(const StoredProfiles& profiles, Index reach) {
  AccountSums sums;
  const std::vector<Index> alike = documents_of_blocks(profiles);
  if (profiles.dealt_documents == 0 || profiles.blocks % 2 != 0 || alike.empty()) return sums;
  const SumReader read(profiles);
  const Index rows = std::ssize(profiles.layers) * profiles.heads;
  const Index blocks = profiles.arrays.at("account_weight").shape.front();
  for (AccountHalf& half : sums.halves) {
    half.group_documents.assign(account_groups, 0);
    half.group_weights.resize(account_groups);
  }
  for (Index block = 0; block < blocks; ++block) {
    AccountHalf& half = sums.halves[static_cast<std::size_t>(block % 2)];
    const auto group = static_cast<std::size_t>(block / 2 % account_groups);
    const Index documents = alike[static_cast<std::size_t>(block)];
    half.documents += documents;
    half.group_documents[group] += documents;
    add_to(half.group_weights[group], middle_columns(read.rows("account_weight", block * rows, rows), reach));
  }
  for (Index layer = 0; layer < std::ssize(profiles.layers); ++layer)
    sums.dealt.push_back(dealt_layer(profiles, layer, reach));
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
  if (!first.dealing) return "needs contents that were dealt; watch with deal=True";
  if (std::ranges::all_of(profiles_, [](const StoredProfiles& each) { return each.dealt_documents == 0; }))
    return "no document was dealt: each process needs more documents of one length, or a watch with a smaller least=";
  return "needs contents that were dealt, of documents of the most common length; give files of one length each";
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
  if (&kind == &head_account_analysis() && site.length == length) {
    auto sum = std::make_unique<DocumentSumOf<AccountSums>>();
    for (const StoredProfiles& each : profiles_)
      add_to(sum->value, account_sum(each, std::min(reach, (length - 1) / 2)));
    return sum;
  }
  return nullptr;
}

void require_options_of_sums(const JobOptions& options) {
  require_in_range(options);
  (void)chosen_analyses(options);  // refuses names that there are not
  constexpr auto needs_documents = "is about documents or weights, and profiles are sums over documents";
  const JobOptions usual;
  for (const auto& [name, differs] : {std::pair("draws", options.draws != usual.draws),
                                      {"evidence", options.evidence != usual.evidence},
                                      {"together", options.together != usual.together}})
    if (differs) throw ShapeError(fmt::format("the option {} {}", name, needs_documents), omit(name));
  const auto reads = [](const OwnOption* own) {
    return std::ranges::any_of(listed_analyses(), [&](const AnalysisKind* kind) {
      return kind->of_sums && std::ranges::count(kind->options, own) > 0;
    });
  };
  for (const AnalysisKind* kind : listed_analyses())
    for (const OwnOption* own : kind->options)
      if (options[*own] != own->usual && !reads(own)) {
        const std::string name = own->set_by_others ? "map_window" : std::string(own->name);
        throw ShapeError(fmt::format("the option {} {}", name, needs_documents), omit(name));
      }
  if (!options.only.empty() && std::ranges::none_of(listed_analyses(), [&](const AnalysisKind* kind) {
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

JobInput profiles_input(const std::vector<std::filesystem::path>& files, const std::vector<std::string>& called,
                        const Attributes& about) {
  const std::string digests = sha256_list(files);
  std::vector<std::vector<StoredProfiles>> stacks;  // by kind of attention, then by file
  for (std::size_t f = 0; f < files.size(); ++f) {
    std::vector<StoredProfiles> read = stored_profiles(files[f], called.empty() ? std::string() : called[f]);
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

}  // namespace headwave
