#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../data/files/file_bytes.h"

namespace headwave {

/// The purpose of a sealed file, and what to do about one that cannot be used.
struct SealedKind {
  std::string name;           ///< "an unfinished run": in the file's first line
  std::vector<Remedy> anew;   ///< if it is damaged
  std::vector<Remedy> other;  ///< if it is another run's
};

/// An identity as text that another process compares with its own.
std::string identity_text(const Attributes& identity);
/// Compares two identities.
/// @param name  what `there` belongs to
/// @throws FormatError "NAME: is of another run", with the names and values that differ
void require_same_identity(const std::string& there, const std::string& here, const std::string& name,
                           const std::vector<Remedy>& remedies = {});

/// A file in which one process leaves bytes for another of the same build: the purpose, the identity of the
/// run, the bytes and a digest of all that.
class SealedFile {
 public:
  /// @param identity  by name: model, input, options, program; empty: any
  /// @throws IoError if the file cannot be read; FormatError if it is damaged, or belongs to another run:
  ///         then it names what differs
  SealedFile(const std::filesystem::path& file, const SealedKind& kind, const Attributes& identity);

  /// The bytes that write_sealed() was given.
  [[nodiscard]] ByteReader bytes() const { return ByteReader(bytes_); }

 private:
  MappedFile file_;
  std::string_view bytes_;
};

/// Writes such a file, whole or not at all.
/// @throws IoError if the disk refuses; the file is then what it was
void write_sealed(const std::filesystem::path& file, const SealedKind& kind, const Attributes& identity,
                  const std::function<void(ByteWriter&)>& write);

}  // namespace headwave
