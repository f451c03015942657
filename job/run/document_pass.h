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

/// The kinds of attention of a job, with the layers that a document passes through or in which it was stored.
/// @param first  document of the source
std::vector<Site> sites_of(const Model& model, const Source& source, const Document& first);

/// The sums of one document, by kind of attention and then by analysis; null: no sum.
using DocumentFindings = std::vector<std::vector<std::unique_ptr<DocumentSum>>>;

/// The sums of a block of documents, in the same layout.
using BlockSums = DocumentFindings;

class SideBySide;
class ResumeFile;

/// Takes every document of a source through a model once, the analyses of a job looking on. What a document
/// gives is merged in the order of documents, and of blocks of them (DocumentBlocks), so threads change no
/// digit.
///
/// Looking at documents and adding up are separate: one process may look at the documents of a block and
/// write its sums as bytes, another may read these and add them up.
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
  /// Tokens of each document.
  [[nodiscard]] const std::vector<Index>& lengths() const { return lengths_; }
  [[nodiscard]] const DocumentBlocks& blocks() const { return blocks_; }
  /// Documents that go through the model side by side now (memory_limit.h): where layers are read one by one,
  /// in a layer.
  [[nodiscard]] Index together() const;

  /// Makes and prepares the analyses, once before the documents.
  /// @throws Error as the analyses do: NumericError if weights are not finite
  void prepare();
  /// Takes document i through the model. May be called from several threads.
  /// @throws Error as the source, the model pass and the analyses do
  [[nodiscard]] DocumentFindings look(Index i) const;
  /// The same of several, side by side: where layers are read one by one, each is read once for all of them.
  [[nodiscard]] std::vector<DocumentFindings> look_together(std::span<const Index> documents, int threads) const;
  /// A block of no documents yet.
  [[nodiscard]] BlockSums new_block() const;
  /// Adds what a document gave to a block; documents in order.
  void add(BlockSums& block, DocumentFindings&& findings) const;
  /// Adds a block to those before; blocks in order.
  void join(BlockSums&& block);

  /// The sums of a block as bytes, for another pass of the same job.
  static void write(ByteWriter& bytes, const BlockSums& block);
  /// @throws FormatError if the bytes are not those of a block of the same job
  [[nodiscard]] BlockSums read_block(ByteReader bytes) const;

  /// The sums of all joined blocks as bytes, for a pass of the same job that continues with the next block.
  void write_sums(ByteWriter& bytes) const;
  /// After prepare(), before the first join().
  /// @throws FormatError if the bytes are not those of the same job
  void read_sums(ByteReader& bytes);

  /// Does the whole pass: prepares, looks at every document, and adds up the sums.
  /// @param report  is told of the stages "preparation" and "attention"
  /// @param kept    where to go on, and what keeps the sums now and then; may be null
  /// @throws Error as prepare(), look() and ResumeFile: of several documents that fail, as the first of them
  void run(StageReport& report, ResumeFile* kept = nullptr);

  /// After prepare(): looks at the documents of some blocks, and gives each block as soon as it is through,
  /// in their order.
  /// @param looked  is called after every document; may be empty
  /// @throws Error as run()
  void run_blocks(const std::vector<Index>& blocks, const std::function<void(Index block, BlockSums&& sums)>& taken,
                  const std::function<void()>& looked = {}) const;

  /// The Fields of every analysis of a kind of attention; each analysis is a stage of the progress.
  /// @throws Error as the analyses do
  [[nodiscard]] std::vector<Field> fields(std::size_t site, StageReport& report);
  /// The results that finished analyses kept for others.
  [[nodiscard]] const Finished& finished(std::size_t site) const { return finished_[site]; }

 private:
  struct OnItsWay;
  [[nodiscard]] std::unique_ptr<OnItsWay> begun(Index i) const;
  [[nodiscard]] DocumentFindings found(OnItsWay& document) const;
  /// Prepares the analyses, and reads the resume file.
  /// @returns how many documents that is of
  Index read_kept(StageReport& report, ResumeFile* kept, BlockSums& block);
  /// Looks at these documents, several at a time. Adds what they gave to `block`, in the order of the
  /// documents, and calls `added` after each.
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
  std::vector<std::vector<std::unique_ptr<Analysis>>> analyses_;  // by site, as kinds_; null: nothing there
  std::vector<Finished> finished_;                                // by site
};

}  // namespace headwave
