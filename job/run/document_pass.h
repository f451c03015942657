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

/// The kinds of attention of a job, with the layers that a document passes through or that are stored of it.
/// @param first  document of the source
std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first);

/// The sums of one document, by kind of attention and then by analysis; null if there is no sum.
using DocumentFindings = std::vector<std::vector<std::unique_ptr<DocumentSum>>>;

/// The sums of a block of documents, in the same layout.
using BlockSums = DocumentFindings;

class SideBySide;
class ResumeFile;

/// Takes every document of a source through a model once, while the analyses of a job watch. The sums are
/// merged in the order of documents, and of blocks of documents (DocumentBlocks), so that threads change no
/// digit.
///
/// Looking at documents and adding up are separate: one process may look at the documents of a block and
/// write its sums as bytes, and another may read and add them.
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
  /// The number of documents that go through the model side by side now (memory_limit.h), layer by layer if
  /// layers are read one by one.
  [[nodiscard]] Index together() const;

  /// Makes and prepares the analyses. Call it once before the documents.
  /// @throws Error as the analyses do: NumericError if weights are not finite
  void prepare();
  /// Takes document i through the model. May be called from several threads.
  /// @throws Error as the source, the model pass and the analyses do
  [[nodiscard]] DocumentFindings look(Index i) const;
  /// The same for several documents side by side. Layers that are read one by one are read once for all.
  [[nodiscard]] std::vector<DocumentFindings> look_together(std::span<const Index> documents, int threads) const;
  /// An empty block.
  [[nodiscard]] BlockSums new_block() const;
  /// Adds the sums of a document to a block. Documents must come in order.
  void add(BlockSums& block, DocumentFindings&& findings) const;
  /// Adds a block to those before. Blocks must come in order.
  void join(BlockSums&& block);

  /// Writes the sums of a block as bytes, for another pass of the same job.
  static void write(ByteWriter& bytes, const BlockSums& block);
  /// @throws FormatError if the bytes are not a block of the same job
  [[nodiscard]] BlockSums read_block(ByteReader bytes) const;

  /// Writes the sums of all joined blocks as bytes, for a pass of the same job that continues from there.
  void write_sums(ByteWriter& bytes) const;
  /// Call it after prepare() and before the first join().
  /// @throws FormatError if the bytes belong to another job
  void read_sums(ByteReader& bytes);

  /// Does the whole pass: prepares, looks at every document, and adds up the sums.
  /// @param report  receives the stages "preparation" and "attention"
  /// @param kept    where to continue, and where sums are saved now and then; may be null
  /// @throws Error as prepare(), look() and ResumeFile; if several documents fail, that of the first
  void run(StageReport& report, ResumeFile* kept = nullptr);

  /// Looks at the documents of some blocks, and passes on each block as soon as it is complete, in their
  /// order. Call it after prepare().
  /// @param looked  called after every document; may be empty
  /// @throws Error as run()
  void run_blocks(const std::vector<Index>& blocks, const std::function<void(Index block, BlockSums&& sums)>& taken,
                  const std::function<void()>& looked = {}) const;

  /// The Fields of every analysis of a kind of attention; each analysis is a stage of the progress.
  /// @throws Error as the analyses do
  [[nodiscard]] std::vector<Field> fields(std::size_t site, StageReport& report);
  /// The results that finished analyses keep for others.
  [[nodiscard]] const Finished& finished(std::size_t site) const { return finished_[site]; }

 private:
  struct OnItsWay;
  [[nodiscard]] std::unique_ptr<OnItsWay> begun(Index i) const;
  [[nodiscard]] DocumentFindings found(OnItsWay& document) const;
  /// Prepares the analyses, and reads the resume file.
  /// @returns the number of documents that the file covers
  Index read_kept(StageReport& report, ResumeFile* kept, BlockSums& block);
  /// Looks at these documents, several at a time. Adds their sums to `block` in the order of documents, and
  /// calls `added` after each.
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
