#include "rank_messages.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#ifdef HEADWAVE_MPI
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#endif

#include "../../core/errors/error.h"

namespace headwave::cli {

namespace {

/// Whether mpirun or its kin started this process: MPI is not begun where it was not.
bool is_started_together() {
  return std::ranges::any_of(std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"},
                             [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace

std::string error_bytes(const std::exception& problem) {
  const auto is = [&]<class T>(const T*) { return dynamic_cast<const T*>(&problem) != nullptr; };
  const char kind = is(static_cast<const IoError*>(nullptr))        ? 'i'
                    : is(static_cast<const FormatError*>(nullptr))  ? 'f'
                    : is(static_cast<const ShapeError*>(nullptr))   ? 's'
                    : is(static_cast<const NumericError*>(nullptr)) ? 'n'
                                                                    : 'e';
  return kind + std::string(problem.what());
}

void throw_error_in(const RankMessage& message) {
  const std::string& bytes = message.bytes;
  const std::string text = fmt::format("rank {}: {}", message.from, bytes.empty() ? "failed" : bytes.substr(1));
  switch (bytes.empty() ? 'e' : bytes.front()) {
    case 'i':
      throw IoError(text);
    case 'f':
      throw FormatError(text);
    case 's':
      throw ShapeError(text);
    case 'n':
      throw NumericError(text);
    default:
      throw Error(text);
  }
}

#ifdef HEADWAVE_MPI

namespace {

constexpr int head_tag = 1, piece_tag = 2, order_tag = 3;  // tags
constexpr std::size_t piece = std::size_t{1} << 30U;       // MPI counts in int
constexpr auto pause = std::chrono::milliseconds(1);       // waiting takes no processor from those who work

int size_of_piece(std::size_t left) {
  return static_cast<int>(std::min(left, piece));
}

}  // namespace

RankPlace join_ranks() {
  RankPlace place;
  if (!is_started_together()) return place;
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
  if (given < MPI_THREAD_SERIALIZED)
    throw Error("MPI: this installation takes no calls from several threads; expected MPI_THREAD_SERIALIZED");
  MPI_Comm_rank(MPI_COMM_WORLD, &place.number);
  MPI_Comm_size(MPI_COMM_WORLD, &place.count);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, place.number, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &place.here);
  MPI_Comm_free(&here);
  return place;
}

void leave_ranks(bool together) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun == 0) return;
  if (!together) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
}

void send_message(const RankMessage& message) {
  const std::array<std::int64_t, 3> head{static_cast<std::int64_t>(message.kind), message.number,
                                         static_cast<std::int64_t>(message.bytes.size())};
  MPI_Send(head.data(), 3, MPI_INT64_T, 0, head_tag, MPI_COMM_WORLD);
  for (std::size_t at = 0; at < message.bytes.size(); at += piece)
    MPI_Send(message.bytes.data() + at, size_of_piece(message.bytes.size() - at), MPI_BYTE, 0, piece_tag,
             MPI_COMM_WORLD);
}

bool receive_message(RankMessage& message) {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, head_tag, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return false;
  std::array<std::int64_t, 3> head{};
  message.from = status.MPI_SOURCE;
  MPI_Recv(head.data(), 3, MPI_INT64_T, message.from, head_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  message.kind = static_cast<RankMessage::Kind>(head[0]);
  message.number = head[1];
  message.bytes.resize(static_cast<std::size_t>(head[2]));
  for (std::size_t at = 0; at < message.bytes.size(); at += piece)
    MPI_Recv(message.bytes.data() + at, size_of_piece(message.bytes.size() - at), MPI_BYTE, message.from, piece_tag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return true;
}

void send_blocks(int rank, const std::vector<Index>& blocks) {
  const std::vector<std::int64_t> numbers(blocks.begin(), blocks.end());
  MPI_Send(numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, rank, order_tag, MPI_COMM_WORLD);
}

std::vector<Index> receive_blocks() {
  int there = 0, count = 0;
  MPI_Status status;
  while (MPI_Iprobe(0, order_tag, MPI_COMM_WORLD, &there, &status), there == 0) std::this_thread::sleep_for(pause);
  MPI_Get_count(&status, MPI_INT64_T, &count);
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  MPI_Recv(numbers.data(), count, MPI_INT64_T, 0, order_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return {numbers.begin(), numbers.end()};
}

#else

RankPlace join_ranks() {
  const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (is_started_together() && std::string(size == nullptr ? "" : size) != "1")
    throw Error(
        "several were started together, and this headwave is built without MPI: each would do all of the work; build "
        "it "
        "with HEADWAVE_MPI=on ./headwave build, or divide the run with --shard");
  return {};
}

void leave_ranks(bool /*together*/) {}

// Of one process nobody else hears.
void send_message(const RankMessage& /*message*/) {}
bool receive_message(RankMessage& /*message*/) {
  return false;
}
void send_blocks(int /*rank*/, const std::vector<Index>& /*blocks*/) {}
std::vector<Index> receive_blocks() {
  return {};
}

#endif

}  // namespace headwave::cli
