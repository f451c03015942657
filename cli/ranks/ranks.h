#pragma once

#include <exception>
#include <functional>

#include "../../core/fields/field.h"
#include "../../job/run/progress.h"

namespace headwave {
class DocumentPass;
class ResumeFile;
}  // namespace headwave

namespace headwave::cli {

/// The processes that one `mpirun` started, on one machine or many, which divide a job's documents among
/// themselves. They take turns: in each turn every process looks at some blocks of documents
/// (DocumentBlocks), rank 0 at the first ones; then rank 0, the leader, adds up all blocks of the turn in
/// their order. So the answer is that of one process to the bit. Started by itself, or built without MPI, a
/// process is one of one.
///
/// MPI is asked for bytes and nothing else: no sums, whose order would be its own. A leader that fails leaves
/// without MPI_Finalize, and mpirun then ends the others.
class Ranks {
 public:
  /// Joins the others.
  /// @throws Error if several were started together and the program is built without MPI, or MPI has no room
  ///         for threads
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int number() const { return number_; }  ///< of this process, from 0
  [[nodiscard]] bool leads() const { return number_ == 0; }
  /// Processes on this machine, this one included.
  [[nodiscard]] int here() const { return here_; }
  /// Threads for each of them: as many as were asked for; 0: the machine's processors, divided among them.
  [[nodiscard]] int threads(int asked) const;

  /// On the leader: all documents, from those on that an earlier run looked at.
  /// @param identity  of the job, which all must have
  /// @param threads   that look at documents in this process
  /// @param kept      as of DocumentPass::run()
  /// @throws Error as DocumentPass::run() and follow(); FormatError if another process has another job
  void lead(const Attributes& identity, DocumentPass& pass, StageReport& report, int threads, ResumeFile* kept);

  /// On the others: their blocks of documents.
  void follow(const Attributes& identity, DocumentPass& pass, StageReport& report);

  /// On the others: does this process' part of the work, and says nothing. The leader throws what goes wrong
  /// there.
  void attempt(const std::function<void()>& part);

  /// On the others: reports that this process has nothing to do.
  void finished();

 private:
  int number_ = 0, count_ = 1, here_ = 1;
  bool led_ = false;
};

}  // namespace headwave::cli
