#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../data/files/file_descriptor.h"

namespace headwave {

/// How a program that was started as a child process ended.
struct ProgramEnd {
  bool found = true;   ///< false: there is no such program on PATH
  int exit_code = 0;   ///< 128 + signal where a signal ended it
  std::string output;  ///< what it wrote to stdout
  std::string errors;  ///< what it wrote to stderr, at most 64 KiB
};

/// Runs a program to its end, without a shell: no argument is ever interpreted. Its stdin is /dev/null.
/// @param arguments  the program's name, looked up on PATH, then its arguments
/// @param folder     the folder it runs in; its stderr is kept there in a file while it runs
/// @param variable   "NAME=value", which its environment holds in place of ours of that name; empty: all is ours
/// @throws IoError if it is there but cannot be started, or what it says cannot be read
ProgramEnd run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                       const std::string& variable = {});

/// A folder of our own among the system's temporary files, removed with all it holds when the object goes; those of
/// processes that died are removed when the next is made.
class ScratchFolder {
 public:
  /// @throws IoError if none can be made
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;  // says that it is in use
};

}  // namespace headwave
