#pragma once

// Files that tests of this room read and write.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../data/arrays/npy.h"
#include "../catch.h"

/// A tiny model of a family, with what transformers made of it.
inline std::filesystem::path family(const std::string& name) {
  return repository_file("tests/golden/families") / name;
}

/// Stored embeddings in a form that other programs write.
inline std::filesystem::path formats(const std::string& name) {
  return repository_file("tests/golden/stored/formats") / name;
}

inline std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Does something with a damaged file in a process of its own, which the HDF5 library may crash.
/// @returns what it gives, 0 or 1; 2: an Error; 3: a crash
template <class Work>
int outcome_in_child(const Work& work) {
  constexpr int done = 10, reported = 1;  // with the latter a sanitizer ends the child, over a fault in a library, say
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
      (void)std::signal(signal, [](int) { ::_exit(3); });
    ::close(STDERR_FILENO);  // the C library has a word on it
    try {
      ::_exit(work() ? done : 0);
    } catch (const headwave::Error&) {
      ::_exit(2);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == reported) return 3;
  return WEXITSTATUS(status) == done ? 1 : WEXITSTATUS(status);
}

/// The numbers of a .npy file as floats, row-major.
inline std::vector<float> npy_floats(const std::filesystem::path& path) {
  const headwave::FileBytes bytes(path);
  const headwave::NpyInfo info = headwave::npy_info(bytes, path.string());
  return headwave::read_block(bytes, placed_numbers(info, path.string()), headwave::whole_block(info.shape));
}
