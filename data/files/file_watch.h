#pragma once

#include <atomic>
#include <filesystem>

#include <sys/stat.h>

namespace headwave {

/// By which it is told that a file has another content than it had: what the system notes of it, without reading it.
class FileStamp {
 public:
  /// @throws IoError if there is no such file
  explicit FileStamp(std::filesystem::path path);
  /// Of a file that is open.
  FileStamp(std::filesystem::path path, int descriptor);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether it was cut short or written to. A file that took its name leaves it as it was.
  [[nodiscard]] bool was_changed() const;
  /// For a file that is opened by its name more than once.
  /// @throws IoError if it was changed, or another file has its name
  void require_same() const;

 private:
  std::filesystem::path path_;
  struct stat then_ {};
};

/// A file that is in use while the object lives, and should stay what it is.
class FileWatch {
 public:
  /// @throws IoError as FileStamp
  FileWatch(std::filesystem::path path, int descriptor);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  /// May be set where some of it could not be read, by a signal's handler too.
  [[nodiscard]] std::atomic<bool>& has_lost_pages() { return has_lost_pages_; }

 private:
  friend void require_intact_files();
  [[nodiscard]] bool was_changed() const { return has_lost_pages_.load() || stamp_.was_changed(); }

  FileStamp stamp_;
  std::atomic<bool> has_lost_pages_{false};
  bool told_ = false;  // somebody was told that it was changed
};

/// Refuses where a file was cut short or written to while it was watched, as all are that are mapped (mapped_file.h) or
/// read piece by piece (file_bytes.h): what was read of it is neither the old file nor the new. One that was replaced by
/// another of its name is whole. Asked before anything gets its name (replaced_file.h), after every document, before a
/// job's result is given out, and at a program's end; costs a system call for each file that is open.
/// @throws IoError that names the file: while it is in use every time, of one that was closed once
void require_intact_files();

}  // namespace headwave
