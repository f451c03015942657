#include "document_pass.h"

#include <algorithm>
#include <compare>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/waves/wave_chain.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/source.h"
#include "../../core/process/process_memory.h"
#include "../../core/process/threads.h"
#include "memory_limit.h"
#include "resume_file.h"

namespace headwave {

namespace {

/// Why redefined queries and keys do not exist for a kind of attention; empty if they do.
std::string no_chain(const Stack& stack, const Document& document, const Site& site) {
  if (!site.only_sums.empty()) return site.only_sums;
  if (site.kind == AttentionKind::cross) return "queries and keys of cross-attention stand in different sequences";
  if (!site.no_projections.empty()) return site.no_projections;
  if (!document.stored.empty() && document.stored.front().states.size() == 0)
    return "queries and keys were stored without the states and weights they come from";
  for (const Index layer : site.grid.layers)
    if (layer >= stack.layers() || stack.blocks[static_cast<std::size_t>(layer)].self.query.empty())
      return "no query and key weights";
  if (stack.normalises_heads())
    return "queries and keys are normalised after projection, so W_Q W_K^T does not give the scores";
  if (stack.compresses())
    return "queries and keys are projected from a compressed, normalised state, so no W_Q W_K^T gives the scores";
  return site.length < 2 ? "documents of one token have no waves" : "";
}

/// The number of queries and of keys of a document.
struct SequenceLengths {
  Index queries = 0, keys = 0;
  auto operator<=>(const SequenceLengths&) const = default;
};

/// One entry per document. Only in an encoder-decoder do they differ from the document's length.
std::vector<SequenceLengths> sequence_lengths(const Model& model, const Source& source, AttentionKind kind) {
  std::vector<SequenceLengths> lengths;
  for (Index i = 0; i < source.count(); ++i) {
    if (!model.decoder) {
      lengths.push_back({source.length(i), source.length(i)});
      continue;
    }
    const Document document = source.document(i);
    lengths.push_back({document.queries(kind), document.keys(kind)});
  }
  return lengths;
}

void set_length(Site& site, const std::vector<SequenceLengths>& lengths) {
  const CommonLength<SequenceLengths> common = common_length(lengths);
  site.length = common.length.queries;
  site.key_length = common.length.keys;
  site.documents = common.documents;
  Index number = 0;
  for (const SequenceLengths& length : lengths) site.numbers.push_back(length == common.length ? number++ : -1);
}

/// Analyses count the pairs of tokens that a window leaves at an offset, but do not know chunks.
void require_one_chunk(const Model& model, const Source& source) {
  const Index chunk = model.stack.block.chunk;
  for (Index i = 0; chunk > 0 && i < source.count(); ++i)
    if (source.length(i) > chunk)
      throw ShapeError(
          fmt::format("{}: {} tokens, but the model attends within chunks of {} tokens; give documents "
                      "that fit in one chunk",
                      source.document(i).label(), source.length(i), chunk));
}

}  // namespace

std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first) {
  require_one_chunk(model, source);
  std::vector<Site> sites;
  for (const AttentionKind kind : model.kinds()) {
    const Stack& stack = model.stack_of(kind);
    std::set<Index> layers;
    for (const StoredLayer& stored : first.stored) layers.insert(stored.layer);
    if (first.stored.empty())
      for (Index layer = 0; layer < stack.layers(); ++layer) layers.insert(layer);
    Site site{kind, {{layers.begin(), layers.end()}, stack.block.heads}, 0, {}, 0, {}, {}};
    set_length(site, sequence_lengths(model, source, kind));
    if (!first.stored.empty() && first.length() == 0)
      site.only_sums = "needs documents, but stored profiles hold only sums over them";
    if (!first.stored.empty() && !first.stored.front().attention.empty())
      site.no_projections = "needs queries and keys, but the file holds only attention weights";
    site.no_chain = no_chain(stack, first, site);
    sites.push_back(std::move(site));
  }
  return sites;
}

namespace {

/// Documents per thread that share a reading of a layer. More would save little time.
constexpr Index documents_of_a_thread = 4;

SideBySide side_by_side(bool by_layer, const JobOptions& options, int threads) {
  if (!by_layer) return {options.max_memory, 1, threads};
  if (options.parallel_documents > 0) return {0, options.parallel_documents, options.parallel_documents};
  if (options.max_memory > 0) return {options.max_memory, 1, documents_of_a_thread * threads};
  return {usual_memory_limit(), threads, documents_of_a_thread * threads};
}

}  // namespace

DocumentPass::DocumentPass(const Model& model, const Source& source, const JobOptions& options, int threads)
    : model_(model),
      source_(source),
      options_(options),
      threads_(threads),
      together_(std::make_unique<SideBySide>(side_by_side(model_.by_layer(), options, threads))),
      first_(source.document(0)),
      blocks_(source.count()),
      sites_(sites_of(model_, source, first_)),
      kinds_(chosen_analyses(options)),
      finished_(sites_.size()) {
  for (Index i = 0; i < source_.count(); ++i) lengths_.push_back(source_.length(i));
}

DocumentPass::~DocumentPass() = default;

Index DocumentPass::together() const {
  return together_->next();
}

void DocumentPass::prepare() {
  const Index longest = *std::max_element(lengths_.begin(), lengths_.end());
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    const AnalysisInput input{model_, first_, sites_[s], options_, longest, threads_, &source_};
    analyses_.emplace_back();
    for (const AnalysisKind* kind : kinds_) {
      analyses_.back().push_back(applies(*kind, sites_[s]) ? kind->make(input) : nullptr);
      if (analyses_.back().back()) analyses_.back().back()->prepare(finished_[s]);
    }
  }
}

/// A document, and everything that looks at it.
struct DocumentPass::OnItsWay {
  Document own;  // empty for the first document, which is kept
  const Document* document = nullptr;
  std::vector<std::vector<std::unique_ptr<Look>>> looks;  // by kind of attention, then by analysis
  std::vector<std::unique_ptr<WaveProbe>> waves;
  std::vector<Probe*> probes;
};

std::unique_ptr<DocumentPass::OnItsWay> DocumentPass::begun(Index i) const {
  auto way = std::make_unique<OnItsWay>();
  if (i > 0) way->own = source_.document(i);
  way->document = i > 0 ? &way->own : &first_;
  way->looks.resize(sites_.size());
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    const Site& site = sites_[s];
    std::vector<WaveListener*> listeners;
    for (const auto& analysis : analyses_[s]) {
      way->looks[s].push_back(analysis ? analysis->look(*way->document, i) : nullptr);
      Look* look = way->looks[s].back().get();
      if (look == nullptr) continue;
      if (Probe* probe = look->probe()) way->probes.push_back(probe);
      if (WaveListener* listener = look->waves()) listeners.push_back(listener);
    }
    if (listeners.empty()) continue;
    way->waves.push_back(std::make_unique<WaveProbe>(model_.stack_of(site.kind), site.grid, site.kind, site.length,
                                                     finished_[s].get<ChainHeads>().heads, std::move(listeners)));
    way->probes.push_back(way->waves.back().get());
  }
  return way;
}

DocumentFindings DocumentPass::found(OnItsWay& way) const {
  DocumentFindings findings(sites_.size());
  for (std::size_t s = 0; s < way.looks.size(); ++s)
    for (const auto& look : way.looks[s]) findings[s].push_back(look ? look->taken() : nullptr);
  return findings;
}

DocumentFindings DocumentPass::look(Index i) const {
  return std::move(look_together({&i, 1}, 1).front());
}

std::vector<DocumentFindings> DocumentPass::look_together(std::span<const Index> documents, int threads) const {
  std::vector<std::unique_ptr<OnItsWay>> ways;
  std::vector<Passing> passing;
  for (const Index i : documents) {
    ways.push_back(begun(i));
    passing.push_back({ways.back()->document, ways.back()->probes});
  }
  model_passes(model_, passing, threads);
  std::vector<DocumentFindings> findings;
  for (auto& way : ways) {
    findings.push_back(found(*way));
    way.reset();
  }
  return findings;
}

BlockSums DocumentPass::new_block() const {
  BlockSums block(sites_.size());
  for (auto& site : block) site.resize(kinds_.size());
  return block;
}

void DocumentPass::add(BlockSums& block, DocumentFindings&& findings) const {
  for (std::size_t s = 0; s < findings.size(); ++s)
    for (std::size_t a = 0; a < findings[s].size(); ++a) {
      if (findings[s][a]) analyses_[s][a]->add(block[s][a], *findings[s][a]);
      findings[s][a].reset();  // documents that went side by side with this one are still in memory
    }
}

void DocumentPass::join(BlockSums&& block) {
  for (std::size_t s = 0; s < block.size(); ++s)
    for (std::size_t a = 0; a < block[s].size(); ++a) {
      if (block[s][a]) analyses_[s][a]->join(*block[s][a]);
      block[s][a].reset();
    }
}

void DocumentPass::write(ByteWriter& bytes, const BlockSums& block) {
  for (const auto& site : block)
    for (const auto& sum : site) {
      bytes.write<std::uint8_t>(sum ? 1 : 0);
      if (sum) sum->write(bytes);
    }
}

BlockSums DocumentPass::read_block(ByteReader bytes) const {
  BlockSums block = new_block();
  for (std::size_t s = 0; s < sites_.size(); ++s)
    for (std::size_t a = 0; a < kinds_.size(); ++a) {
      const bool there = bytes.read<std::uint8_t>() != 0;
      if (there && !analyses_[s][a])
        throw FormatError(fmt::format(
            "bytes of a block: they hold sums of {}, which this job does not compute; they belong to another job",
            kinds_[a]->name));
      if (!there) continue;
      block[s][a] = analyses_[s][a]->no_documents();
      block[s][a]->read(bytes);
    }
  if (!bytes.at_end()) throw FormatError("bytes of a block: bytes follow its end; expected one block");
  return block;
}

void DocumentPass::write_sums(ByteWriter& bytes) const {
  for (const auto& site : analyses_)
    for (const auto& analysis : site)
      if (analysis) analysis->write_sum(bytes);
}

void DocumentPass::read_sums(ByteReader& bytes) {
  for (const auto& site : analyses_)
    for (const auto& analysis : site)
      if (analysis) analysis->read_sum(bytes);
}

Index DocumentPass::read_kept(StageReport& report, ResumeFile* kept, BlockSums& block) {
  report.begin("preparation");
  prepare();
  const Index before = kept == nullptr ? 0 : kept->documents();
  report.begin("attention", source_.count(), before);
  if (before == 0) return 0;
  ByteReader sums = kept->sums();
  read_sums(sums);
  block = read_block(sums);
  return before;
}

void DocumentPass::run(StageReport& report, ResumeFile* kept) {
  BlockSums block = new_block();
  const Index before = read_kept(report, kept, block);
  std::vector<Index> documents;
  for (Index i = before; i < source_.count(); ++i) documents.push_back(i);
  go_through(documents, block, [&](Index document) {
    if (blocks_.ends_with(document)) {
      join(std::move(block));
      block = new_block();
    }
    report.reached(document + 1);
    if (kept == nullptr || !kept->is_due()) return;
    kept->keep(document + 1, [&](ByteWriter& bytes) {
      write_sums(bytes);
      write(bytes, block);
    });
  });
}

void DocumentPass::run_blocks(const std::vector<Index>& blocks,
                              const std::function<void(Index block, BlockSums&& sums)>& taken,
                              const std::function<void()>& looked) const {
  std::vector<Index> documents;
  for (const Index block : blocks)
    for (Index i = blocks_.first(block); i < blocks_.first(block + 1); ++i) documents.push_back(i);
  BlockSums sums = new_block();
  go_through(documents, sums, [&](Index document) {
    if (blocks_.ends_with(document)) {
      taken(blocks_.of(document), std::move(sums));
      sums = new_block();
    }
    if (looked) looked();
  });
}

void DocumentPass::go_through(const std::vector<Index>& documents, BlockSums& block,
                              const std::function<void(Index document)>& added) const {
  const auto look_side_by_side = [&](std::span<const Index> some) {
    std::vector<DocumentFindings> findings = look_together(some, threads_);
    for (std::size_t i = 0; i < some.size(); ++i) {
      add(block, std::move(findings[i]));
      added(some[i]);
    }
  };
  const auto look_one_by_one = [&](std::span<const Index> some, int threads) {
    parallel_in_order(std::ssize(some), threads, [&](Index i) -> std::function<void()> {
      const Index document = some[static_cast<std::size_t>(i)];
      auto findings = std::make_shared<DocumentFindings>(look(document));
      return [&, document, findings] {
        add(block, std::move(*findings));
        added(document);
      };
    });
  };
  // In rounds. Each is as large as the memory that earlier rounds took allows.
  for (auto left = std::span(documents); !left.empty();) {
    if (!model_.by_layer() && !together_->is_limited()) return look_one_by_one(left, threads_);
    constexpr Index shares = 4;  // documents per thread in a round, so that threads seldom wait for each other
    const Index threads = std::min<Index>(together(), threads_);
    const auto some =
        left.first(std::min(left.size(), static_cast<std::size_t>(model_.by_layer() ? together() : shares * threads)));
    together_->measured(model_.by_layer() ? std::ssize(some) : std::min(threads, std::ssize(some)), [&] {
      if (model_.by_layer())
        look_side_by_side(some);
      else
        look_one_by_one(some, static_cast<int>(threads));
    });
    left = left.subspan(some.size());
  }
}

std::vector<Field> DocumentPass::fields(std::size_t site, StageReport& report) {
  std::vector<Field> fields;
  if (model_.let_go) model_.let_go();  // sums need the memory more than weights
  for (std::size_t a = 0; a < kinds_.size(); ++a) {
    std::unique_ptr<Analysis>& analysis = analyses_[site][a];
    if (!analysis) continue;
    report.begin(std::string(kinds_[a]->name));
    append(fields, analysis->finish(finished_[site]));
    analysis.reset();  // what others read is kept, but its sums are no longer needed
    give_back_freed_memory();
  }
  return fields;
}

}  // namespace headwave
