#include "ranks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#ifdef HEADWAVE_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include "../../core/errors/error.h"
#include "../../core/process/process_memory.h"
#include "../../job/run/document_pass.h"
#include "../../job/run/resume_file.h"
#include "../../job/run/sealed_file.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"

namespace headwave::cli {

namespace {

/// What a process tells the leader.
struct RankMessage {
  enum class Kind : std::int64_t { identity, block, error, finished };
  Kind kind = Kind::finished;
  std::string bytes;
};

/// Where the documents begin that nobody has looked at, and how many blocks a process takes in a turn.
struct Turns {
  std::int64_t first = 0, blocks = 1;
};

/// Whether mpirun or another launcher of MPI started this process: MPI is not begun where it was not.
bool is_started_together() {
  return std::ranges::any_of(std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"},
                             [](const char* name) { return std::getenv(name) != nullptr; });
}

#ifdef HEADWAVE_MPI

constexpr int head_tag = 1, piece_tag = 2, turns_tag = 3;
constexpr std::size_t piece = std::size_t{1} << 30U;  // MPI counts in int

int size_of_piece(std::size_t left) {
  return static_cast<int>(std::min(left, piece));
}

/// Waiting takes no processor from those who work.
template <class Condition>
void wait_until(const Condition& holds) {
  while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void send(const void* data, int count, MPI_Datatype type, int rank, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data, count, type, rank, tag, MPI_COMM_WORLD, &request);
  wait_until([&] {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

bool is_there(int rank, int tag) {
  int there = 0;
  MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  return there != 0;
}

void send_message(const RankMessage& message) {
  const std::array<std::int64_t, 2> head{static_cast<std::int64_t>(message.kind), std::ssize(message.bytes)};
  send(head.data(), 2, MPI_INT64_T, 0, head_tag);
  for (std::size_t at = 0; at < message.bytes.size(); at += piece)
    send(message.bytes.data() + at, size_of_piece(message.bytes.size() - at), MPI_BYTE, 0, piece_tag);
}

RankMessage received_message(int rank) {
  wait_until([&] { return is_there(rank, head_tag); });
  std::array<std::int64_t, 2> head{};
  MPI_Recv(head.data(), 2, MPI_INT64_T, rank, head_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  RankMessage message{static_cast<RankMessage::Kind>(head[0]), std::string(static_cast<std::size_t>(head[1]), '\0')};
  for (std::size_t at = 0; at < message.bytes.size(); at += piece)
    MPI_Recv(message.bytes.data() + at, size_of_piece(message.bytes.size() - at), MPI_BYTE, rank, piece_tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message;
}

void send_turns(int rank, const Turns& turns) {
  send(&turns, 2, MPI_INT64_T, rank, turns_tag);
}

Turns received_turns() {
  wait_until([] { return is_there(0, turns_tag); });
  Turns turns;
  MPI_Recv(&turns, 2, MPI_INT64_T, 0, turns_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return turns;
}

#else

// One process alone sends and receives nothing.
void send_message(const RankMessage& /*message*/) {}
RankMessage received_message(int /*rank*/) {
  return {};
}
void send_turns(int /*rank*/, const Turns& /*turns*/) {}
Turns received_turns() {
  return {};
}

#endif

/// The kind and the words of an error. (Of an IoError what is unfinished stays, since another try may do
/// better.)
std::string error_bytes(const std::exception& problem) {
  return (dynamic_cast<const IoError*>(&problem) != nullptr ? "i" : "e") + error_message(problem);
}

/// A message, unless it is an error.
RankMessage message_of(int rank) {
  RankMessage message = received_message(rank);
  if (message.kind != RankMessage::Kind::error) return message;
  const std::string text = fmt::format("rank {}: {}", rank, message.bytes.substr(1));
  if (message.bytes.starts_with('i')) throw IoError(text);
  throw Error(text);
}

/// The blocks of a process in a turn.
std::vector<Index> blocks_of(Index first, int rank, Index count, Index end) {
  std::vector<Index> blocks;
  for (Index block = first + rank * count; block < std::min(first + (rank + 1) * count, end); ++block)
    blocks.push_back(block);
  return blocks;
}

}  // namespace

Ranks::Ranks() {
#ifdef HEADWAVE_MPI
  if (is_started_together()) {
    int given = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
    if (given < MPI_THREAD_SERIALIZED)
      throw Error("MPI: this installation takes no calls from several threads; expected MPI_THREAD_SERIALIZED");
    MPI_Comm_rank(MPI_COMM_WORLD, &number_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, number_, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &here_);
    MPI_Comm_free(&here);
  }
#else
  const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (is_started_together() && std::string(size == nullptr ? "" : size) != "1")
    throw Error(
        "several processes were started together, and this headwave is built without MPI: each would do all of the "
        "work; build it with HEADWAVE_MPI=on ./headwave build",
        give("shard", "PART/PARTS", "to divide the run by hand"));
#endif
  share_free_memory(here_);
}

Ranks::~Ranks() {
#ifdef HEADWAVE_MPI
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0 || std::uncaught_exceptions() > 0) return;
  // A leader that had nothing to divide, since the result was there, releases those who wait for their turns.
  for (int rank = 1; leads() && !led_ && rank < count_; ++rank)
    if (received_message(rank).kind == RankMessage::Kind::identity)
      send_turns(rank, {std::numeric_limits<Index>::max(), 1});
  MPI_Finalize();
#endif
}

int Ranks::threads(int asked) const {
  if (asked > 0) return asked;
  const auto allowed = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto there = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return allowed < there ? allowed : std::max(1, allowed / here_);  // fewer: mpirun has given each its own
}

void Ranks::lead(const Attributes& identity, DocumentPass& pass, StageReport& report, int threads, ResumeFile* kept) {
  const DocumentBlocks& blocks = pass.blocks();
  Index first = pass.go_on(report, kept);
  pass.look_with(threads);
  // Blocks enough that each thread has two documents.
  const Index documents = blocks.first(1), at_once = std::max(Index{2} * threads, pass.together());
  const Index share = std::max<Index>(1, (blocks.count() - first) / count_);
  const Turns turns{first, std::clamp<Index>((at_once + documents - 1) / documents, 1, share)};
  for (int rank = 1; rank < count_; ++rank)
    require_same_identity(message_of(rank).bytes, identity_text(identity), fmt::format("rank {}", rank));
  for (int rank = 1; rank < count_; ++rank) send_turns(rank, turns);
  for (; first < blocks.count(); first += count_ * turns.blocks) {
    pass.run_blocks(blocks_of(first, 0, turns.blocks, blocks.count()),
                    [&](Index /*block*/, BlockSums&& sums) { pass.join(std::move(sums)); });
    for (int rank = 1; rank < count_; ++rank)
      for (std::size_t block = 0; block < blocks_of(first, rank, turns.blocks, blocks.count()).size(); ++block) {
        const RankMessage message = message_of(rank);
        pass.join(pass.read_block(ByteReader(message.bytes)));
      }
    const Index through = blocks.first(std::min(first + count_ * turns.blocks, blocks.count()));
    report.reached(through);
    if (kept != nullptr && kept->is_due() && through < blocks.first(blocks.count()))
      kept->keep(through, [&](ByteWriter& bytes) {
        pass.write_sums(bytes);
        DocumentPass::write(bytes, pass.new_block());
      });
  }
  led_ = true;
}

void Ranks::follow(const Attributes& identity, DocumentPass& pass, StageReport& report) {
  report.begin("preparation");
  pass.prepare();
  send_message({RankMessage::Kind::identity, identity_text(identity)});
  const Turns turns = received_turns();
  const Index end = pass.blocks().count();
  for (Index first = turns.first; first < end; first += count_ * turns.blocks)
    pass.run_blocks(blocks_of(first, number_, turns.blocks, end), [&](Index /*block*/, const BlockSums& sums) {
      ByteWriter bytes;
      DocumentPass::write(bytes, sums);
      send_message({RankMessage::Kind::block, bytes.taken()});
    });
}

void Ranks::attempt(const std::function<void()>& part) {
  quiet() = true;
  try {
    part();
  } catch (const std::exception& problem) {
    send_message({RankMessage::Kind::error, error_bytes(problem)});
  }
}

void Ranks::finished() {
  send_message({RankMessage::Kind::finished, ""});
}

}  // namespace headwave::cli
