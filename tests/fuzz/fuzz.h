#pragma once

// What every fuzz target needs: bytes as a file, seeds, and what may come of reading. A target is
//
//   FUZZ_SEEDS("{}", "[1]")
//   FUZZ(bytes) { refused_in_one_line([&] { json_of_text(bytes, "t"); }); }

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include "../../core/errors/error.h"

/// A file in memory that holds some bytes while it lives.
class InputFile {
 public:
  explicit InputFile(std::string_view bytes) : number_(::memfd_create("input", 0)) {
    if (number_ < 0 || ::write(number_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::close(number_); }
  [[nodiscard]] std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// Reads; whatever the bytes are, what comes is a result or an Error of one line that can be shown.
template <class Read>
void refused_in_one_line(const Read& read) {
  try {
    read();
  } catch (const headwave::Error& error) {
    const std::string_view message = error.what();
    for (const char c : message)
      if (c >= 0 && c < ' ') std::abort();
    if (message.empty() || message.size() > 4000) std::abort();
  }
}

/// Bytes up to a zero, and those after it.
inline std::pair<std::string_view, std::string_view> halves(std::string_view bytes) {
  const std::size_t zero = bytes.find('\0');
  if (zero == std::string_view::npos) return {bytes, {}};
  return {bytes.substr(0, zero), bytes.substr(zero + 1)};
}

/// Puts seeds into the folder that HEADWAVE_FUZZ_SEEDS names.
inline void write_seeds(std::initializer_list<std::string_view> seeds) {
  const char* folder = std::getenv("HEADWAVE_FUZZ_SEEDS");
  if (folder == nullptr) return;
  int number = 0;
  for (const std::string_view seed : seeds)
    std::ofstream(std::filesystem::path(folder) / ("seed" + std::to_string(number++)), std::ios::binary) << seed;
}

#define FUZZ_SEEDS(...)                                                  \
  extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) { \
    write_seeds({__VA_ARGS__});                                          \
    return 0;                                                            \
  }
#define FUZZ(bytes)                                                                   \
  static void fuzz(std::string_view bytes);                                           \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    fuzz({reinterpret_cast<const char*>(data), size});                                \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz(std::string_view bytes)
