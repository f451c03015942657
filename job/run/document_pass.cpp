#include "document_pass.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/waves/wave_probe.h"
#include "../../core/model/model_pass.h"
#include "../../core/process/process_memory.h"
#include "../../core/process/threads.h"
#include "sites.h"
#include "stage_report.h"
#include "unfinished_run.h"

namespace headwave {

DocumentPass::DocumentPass(const Model& model, const Source& source, const JobOptions& options, int threads)
    : model_(model),
      source_(source),
      options_(options),
      threads_(threads),
      together_(model.by_layer() ? std::max<Index>(options.together, 1) : 1),
      first_(source.document(0)),
      blocks_(source.count()),
      sites_(sites_of(model, source, first_)),
      kinds_(chosen_analyses(options.only)),
      finished_(sites_.size()) {
  for (Index i = 0; i < source_.count(); ++i) lengths_.push_back(source_.length(i));
}

DocumentPass::~DocumentPass() = default;

void DocumentPass::prepare() {
  const Index longest = *std::max_element(lengths_.begin(), lengths_.end());
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    const AnalysisInput input{model_, first_, sites_[s], options_, source_.count(), longest, threads_, &source_};
    analyses_.emplace_back();
    for (const AnalysisKind* kind : kinds_) {
      analyses_.back().push_back(applies(*kind, sites_[s]) ? kind->make(input) : nullptr);
      if (analyses_.back().back()) analyses_.back().back()->prepare(finished_[s]);
    }
  }
}

/// A document, and all who look at it.
struct DocumentPass::OnItsWay {
  Document own;  // empty of the first, which is kept
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
                                                     finished_[s].get<WaveHeads>().heads, std::move(listeners)));
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
      findings[s][a].reset();  // others that went side by side with this document are still there
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
        throw FormatError(fmt::format("bytes of a block: {} has none here; they are another job's", kinds_[a]->name));
      if (there) block[s][a] = analyses_[s][a]->read_block(bytes);
    }
  if (!bytes.at_end()) throw FormatError("bytes of a block: there are more than one block's");
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

Index DocumentPass::read_kept(StageReport& report, UnfinishedRun* kept, BlockSums& block) {
  report.begin("preparation");
  prepare();
  report.begin("attention", source_.count());
  if (kept == nullptr || kept->documents() == 0) return 0;
  ByteReader sums = kept->sums();
  read_sums(sums);
  block = read_block(sums);
  report.reached(kept->documents());
  return kept->documents();
}

Index DocumentPass::go_on(StageReport& report, UnfinishedRun* kept) {
  BlockSums block = new_block();
  Index next = read_kept(report, kept, block);
  std::vector<Index> documents;
  while (next > 0 && next < source_.count() && !blocks_.ends_with(next - 1)) documents.push_back(next++);
  go_through(documents, block, [](Index /*document*/) {});
  join(std::move(block));
  return next == source_.count() ? blocks_.count() : blocks_.of(next);
}

void DocumentPass::run(StageReport& report, UnfinishedRun* kept) {
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
  if (model_.by_layer()) {
    for (auto left = std::span(documents); !left.empty();) {
      const auto some = left.first(std::min(left.size(), static_cast<std::size_t>(together_)));
      std::vector<DocumentFindings> findings = look_together(some, threads_);
      for (std::size_t i = 0; i < some.size(); ++i) {
        add(block, std::move(findings[i]));
        added(some[i]);
      }
      left = left.subspan(some.size());
    }
    return;
  }
  parallel_in_order(static_cast<Index>(documents.size()), threads_, [&](Index i) -> std::function<void()> {
    const Index document = documents[static_cast<std::size_t>(i)];
    auto findings = std::make_shared<DocumentFindings>(look(document));
    return [&, document, findings] {
      add(block, std::move(*findings));
      added(document);
    };
  });
}

std::vector<Field> DocumentPass::fields(std::size_t site, StageReport& report) {
  std::vector<Field> fields;
  for (std::size_t a = 0; a < kinds_.size(); ++a) {
    std::unique_ptr<Analysis>& analysis = analyses_[site][a];
    if (!analysis) continue;
    report.begin(std::string(kinds_[a]->name));
    append(fields, analysis->finish(finished_[site]));
    analysis.reset();  // what others read is kept; its sums are not needed any more
    give_back_freed_memory();
  }
  return fields;
}

}  // namespace headwave
