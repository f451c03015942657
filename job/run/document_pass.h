#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../analysis/pass/job_options.h"
#include "../../analysis/pass/site.h"
#include "../../analysis/registry/registry.h"
#include "../../core/model/model.h"
#include "../../core/model/source.h"
#include "document_blocks.h"
#include "progress.h"

namespace headwave {

/// The kinds of attention of a job. Each Site has the layers that documents pass, or the stored layers.
/// @param first  the source's first document
std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first);

/// The sums of one document, by kind of attention, then by analysis; null if an analysis has no sum.
using DocumentFindings = std::vector<std::vector<std::unique_ptr<DocumentSum>>>;

/// The sums of a block of documents, in the same layout.
using BlockSums = DocumentFindings;

class SideBySide;
class ResumeFile;

/// Runs every document of a source through a model once, while the analyses of a job observe it. The sums are
/// merged in the order of documents within a block, and then in the order of blocks (DocumentBlocks), so the
/// number of threads changes no digit.
///
/// Observing documents and adding up their sums are separate: one process may run the documents of a block
/// and write their sums as bytes, and another process may read and add them.
class DocumentPass {
 public:
  /// @param model, source, options  must outlive the pass
  /// @param threads  at least 1
  /// @throws ShapeError as chosen_analyses(); Error if the source's first document cannot be read
  DocumentPass(const Model& model, const Source& source, const JobOptions& options, int threads);
  DocumentPass(const DocumentPass&) = delete;
  DocumentPass& operator=(const DocumentPass&) = delete;
  ~DocumentPass();

  [[nodiscard]] const Document& first() const { return first_; }
  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  /// The analyses of the job, in their order.
  [[nodiscard]] const std::vector<const AnalysisKind*>& kinds() const { return kinds_; }
  /// The number of tokens of each document.
  [[nodiscard]] const std::vector<Index>& lengths() const { return lengths_; }
  [[nodiscard]] const DocumentBlocks& blocks() const { return blocks_; }
  /// The number of documents that go through the model side by side now (memory_limit.h). If layers are read
  /// one by one, all of these documents pass one layer before the next is read.
  [[nodiscard]] Index together() const;

  /// Makes and prepares the analyses. Call this once, before any document.
  /// @throws any Error that the analyses throw, such as NumericError if weights are not finite
  void prepare();
  /// Runs document i through the model. May be called from several threads.
  /// @throws any Error that the source, the model pass or the analyses throw
  [[nodiscard]] DocumentFindings look(Index i) const;
  /// Runs several documents side by side. A layer that is read from the file is read once for all of them.
  [[nodiscard]] std::vector<DocumentFindings> look_together(std::span<const Index> documents, int threads) const;
  /// Makes a block without documents.
  [[nodiscard]] BlockSums new_block() const;
  /// Adds the sums of a document to a block. Documents must come in order.
  void add(BlockSums& block, DocumentFindings&& findings) const;
  /// Adds a block to the sums of all earlier blocks. Blocks must come in order.
  void join(BlockSums&& block);

  /// Writes the sums of a block as bytes, which another pass of the same job can read.
  static void write(ByteWriter& bytes, const BlockSums& block);
  /// @throws FormatError if the bytes are not one block of the same job
  [[nodiscard]] BlockSums read_block(ByteReader bytes) const;

  /// Writes the sums of all joined blocks as bytes, from which another pass of the same job can continue.
  void write_sums(ByteWriter& bytes) const;
  /// Reads the bytes of write_sums(). Call this after prepare() and before the first join().
  /// @throws FormatError if the bytes belong to another job
  void read_sums(ByteReader& bytes);

  /// Does the whole pass: prepares, runs every document, and adds up the sums.
  /// @param report  receives the stages "preparation" and "attention"
  /// @param kept    file of an earlier run to continue, to which sums are saved now and then; may be null
  /// @throws any Error that prepare(), look() and ResumeFile throw; if several documents fail, the Error of
  ///         the first
  void run(StageReport& report, ResumeFile* kept = nullptr);

  /// Runs the documents of some blocks. Gives each block to `taken` as soon as the block is complete, in the
  /// order of `blocks`. Call this after prepare().
  /// @param looked  called after every document; may be empty
  /// @throws Error as run()
  void run_blocks(const std::vector<Index>& blocks, const std::function<void(Index block, BlockSums&& sums)>& taken,
                  const std::function<void()>& looked = {}) const;

  /// Finishes every analysis of one kind of attention, and returns their Fields. Each analysis is a stage of
  /// the progress. Call this once for each kind of attention.
  /// @throws any Error that the analyses throw
  [[nodiscard]] std::vector<Field> fields(std::size_t site, StageReport& report);
  /// The results that finished analyses keep for other analyses.
  [[nodiscard]] const Finished& finished(std::size_t site) const { return finished_[site]; }

 private:
  struct OnItsWay;
  [[nodiscard]] std::unique_ptr<OnItsWay> begun(Index i) const;
  [[nodiscard]] DocumentFindings found(OnItsWay& document) const;
  /// Prepares the analyses, and reads the resume file.
  /// @returns the number of documents that the file covers
  Index read_kept(StageReport& report, ResumeFile* kept, BlockSums& block);
  /// Runs these documents, several at a time. Adds their sums to `block` in the order of documents, and calls
  /// `added` after each document.
  void go_through(const std::vector<Index>& documents, BlockSums& block,
                  const std::function<void(Index document)>& added) const;

  const Model& model_;
  const Source& source_;
  const JobOptions& options_;
  int threads_;
  std::unique_ptr<SideBySide> together_;
  Document first_;
  DocumentBlocks blocks_;
  std::vector<Index> lengths_;
  std::vector<Site> sites_;
  std::vector<const AnalysisKind*> kinds_;
  std::vector<std::vector<std::unique_ptr<Analysis>>> analyses_;  // by site, as kinds_; null if it does not apply
  std::vector<Finished> finished_;                                // by site
};

}  // namespace headwave
