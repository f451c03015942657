#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "hdf5_patience.h"

namespace headwave {

/// How an answer of a child begins.
enum class Hdf5Outcome : std::uint8_t { answered, format_error, shape_error, io_error, out_of_memory };

/// A message between processes: its length and its bytes.
/// @returns whether all of it went
bool send_message(int socket, const std::string& bytes);
/// @param deadline_ms  for all of it; -1: none
/// @returns whether all of it came
bool receive_message(int socket, std::string& bytes, int deadline_ms);

/// Room for the name of the object that a child is asked about, in memory that both see.
constexpr std::size_t hdf5_place_size = 256;

/// What a child shares with its parent.
struct Hdf5ChildEnds {
  int socket = -1;        ///< where questions come from
  int memory = -1;        ///< where numbers go
  char* place = nullptr;  ///< hdf5_place_size bytes
  Hdf5Seconds patience;   ///< for all that is slow to answer; then the child ends itself
};

/// What a child of fork() does until nobody asks any more: opens the file and answers. Never returns.
/// @param bytes  of the file
[[noreturn]] void serve_hdf5(const std::filesystem::path& path, std::uintmax_t bytes, Hdf5ChildEnds ends);

}  // namespace headwave
