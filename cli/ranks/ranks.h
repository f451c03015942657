#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "../../job/run/job.h"

namespace headwave {
class UnfinishedRun;
}

namespace headwave::cli {

/// The processes that one `mpirun` started, on one machine or many, which divide a job's documents among themselves. Rank 0
/// leads: it hands out blocks of documents (DocumentBlocks) a few at a time, to itself too, and adds them up in their order, so
/// the answer is that of one process to the bit. Started by itself, or built without MPI, a process is one of one.
///
/// MPI is asked for bytes and nothing else: no sums, whose order would be its own.
class Ranks {
 public:
  /// Joins the others.
  /// @throws Error if several were started together and the program is built without MPI, or MPI cannot be begun
  Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  /// Leaves. Where the leader leaves early, the others are told; who does not answer is ended.
  ~Ranks();

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int number() const { return number_; }  ///< of this one, from 0
  [[nodiscard]] bool leads() const { return number_ == 0; }
  /// Those on this machine, this process among them.
  [[nodiscard]] int here() const { return here_; }
  /// Threads for each of them: as many as were asked for; 0: as many as run at a time on the machine's processors.
  [[nodiscard]] int threads(int asked) const;

  /// On the leader: all documents, from those on that an earlier run went through.
  /// @param identity  of the job, which all must have
  /// @param threads   that look at documents in this process
  /// @param kept      as of DocumentPass::run()
  /// @throws Error as DocumentPass::run() and follow(), of several that fail as the one with the first block; FormatError
  ///         if another process has another job
  void lead(const Attributes& identity, DocumentPass& pass, StageReport& report, int threads, UnfinishedRun* kept);

  /// On the others: the documents that the leader asks for, until there are no more.
  void follow(const Attributes& identity, DocumentPass& pass, StageReport& report);

  /// What needs no blocks of documents: each process knows by its number what is its part. On the others: it is done.
  void finished();
  /// On the leader: hears who has finished() by now; and waits until all have.
  /// @throws Error that ended another's attempt()
  void hear();
  void wait();

  /// On the others: does this process' part, and says nothing. What goes wrong there the leader throws on.
  void attempt(const std::function<void()>& part);

 private:
  void fail(const std::exception& problem);

  int number_ = 0, count_ = 1, here_ = 1;
  std::vector<bool> released_;  ///< by rank, as far as this one knows: it asks for nothing any more
};

}  // namespace headwave::cli
