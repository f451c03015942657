#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "job.h"

namespace headwave {

/// What a job holds in memory at most, in bytes, reckoned from sizes before anything is computed: what the analyses say
/// of their largest matrices (AnalysisCost), and the model's own pass.
struct JobMemory {
  double there = 0;      ///< the program, the model and the documents' source, as resident when it was reckoned
  double prepared = 0;   ///< made before the documents, and needed to the end
  double kept = 0;       ///< what all documents come to
  double block = 0;      ///< what a block of them comes to, while its documents pass; also the size of its file
  double document = 0;   ///< the longest document on its way through the model: its states, and what is found of it
  double working = 0;    ///< of a thread that takes it through a layer
  double fields = 0;     ///< Fields and what analyses keep for one another, less the sums that are not needed any more
  double finishing = 0;  ///< of the analysis that needs most after the documents
  double documents = 0;  ///< how many there are: no more can be on their way
  double layer = 0;      ///< weights of the largest layer where layers are read one by one; 0: they are there
  double layers = 0;     ///< of all of them: what keeping them would add
  Index together = 0;    ///< documents side by side in a layer then
  Index tokens = 0;      ///< of the longest document
  Index block_documents = 0;
  /// As `document`, of the first ones of which more is found: maps, random draws.
  std::vector<double> first = {};

  /// The peak. Each thread has a document on its way, or several go through a layer side by side, while there are any;
  /// after the documents each thread has its part of an analysis.
  ///
  ///     there + layer + 1.05 (prepared + max(passed, kept + fields + threads finishing))                             (1)
  ///     passed = block + max(passing(n), kept + n document) + m working
  ///     n = min(max(threads, together), documents),   m = min(threads, documents)
  ///
  /// without block where all documents are on their way at once, or blocks end with those that go side by side; without
  /// kept + n document where there is one block. A twentieth is what lies between the pieces that are in use.
  [[nodiscard]] std::int64_t bytes(int threads) const;
  /// So many documents on their way, the first ones: nothing is kept before them.
  [[nodiscard]] double passing(double count) const;
  /// Of an unfinished run's file.
  [[nodiscard]] std::int64_t unfinished_bytes() const;
};

/// @throws ShapeError as chosen_analyses(); Error if the source's first document cannot be read
JobMemory job_memory(const Model& model, const Source& source, const JobOptions& options = {});

/// The most documents side by side, up to all of them, with which a job whose layers are read one by one stays within a
/// limit; never less than one.
/// @param limit  bytes of resident memory
Index together_within(const JobMemory& memory, std::int64_t limit, int threads);

/// A job's options with as many documents side by side as memory holds, at most four for each thread, where layers are read
/// one by one and nobody said how many.
/// @param limit  bytes of resident memory; nothing: what the machine has free now
/// @throws as job_memory()
JobOptions with_together(const Model& model, const Source& source, JobOptions options, int threads,
                         std::optional<std::int64_t> limit = {});

/// Whether the layers of a model that are read one by one are better read so than kept (Model::keep_layers()): where all of
/// them would take the job beyond a limit, or make it half as large again while there are documents enough to share each
/// reading: 2,048 tokens. (Reading again and again then takes 3 to 5 % of the time of a job that does little beside the pass;
/// with documents of 20 tokens side by side it took a quarter, of weights that have to be converted.)
/// @param limit  bytes of resident memory
bool is_better_by_layer(const JobMemory& memory, std::int64_t limit, int threads);
/// @param limit  nothing: what the machine has free now
/// @throws as job_memory()
bool is_better_by_layer(const Model& model, const Source& source, const JobOptions& options,
                        std::optional<std::int64_t> limit = {});

/// The most threads, up to as many as are wanted, with which a job stays within a limit. Threads are all that is given
/// up: they change no digit of the result.
/// @param limit  bytes of resident memory
/// @returns 0 where one thread takes more
int threads_within(const JobMemory& memory, std::int64_t limit, int threads);

}  // namespace headwave
