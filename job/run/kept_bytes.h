#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../data/files/mapped_file.h"

namespace headwave {

/// What a file of bytes is, and what to do about one that is of no use.
struct KeptKind {
  std::string name;           ///< "an unfinished run": in the file's first line
  std::vector<Remedy> anew;   ///< if it is damaged
  std::vector<Remedy> other;  ///< if it is another run's
};

/// All that bytes depend on, as text that another process compares with its own.
std::string identity_text(const Attributes& identity);
/// @param name  of what `there` belongs to
/// @throws FormatError naming what differs, after "NAME: is of another run"
void require_same_identity(const std::string& there, const std::string& here, const std::string& name,
                           const std::vector<Remedy>& remedies = {});

/// A file in which one process keeps bytes for another of the same build: what they are, all that they depend on, the
/// bytes, and a digest.
class KeptBytes {
 public:
  /// @param identity  by name: model, input, options, program; empty: whatever it is
  /// @throws IoError if the file cannot be read; FormatError if it is damaged, or, naming what differs, another run's
  KeptBytes(const std::filesystem::path& file, const KeptKind& kind, const Attributes& identity);

  /// As write_kept() was given them.
  [[nodiscard]] ByteReader bytes() const { return ByteReader(bytes_); }

 private:
  MappedFile file_;
  std::string_view bytes_;
};

/// Writes such a file, whole or not at all.
/// @throws IoError if the disk refuses; what stood there before still does
void write_kept(const std::filesystem::path& file, const KeptKind& kind, const Attributes& identity,
                const std::function<void(ByteWriter&)>& write);

}  // namespace headwave
