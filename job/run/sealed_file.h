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

/// The purpose of a sealed file, and the remedies in errors about a file that cannot be used.
struct SealedKind {
  std::string name;           ///< what the file contains, as in its first line: "an unfinished run"
  std::vector<Remedy> anew;   ///< remedies if the file is damaged
  std::vector<Remedy> other;  ///< remedies if the file belongs to another run
};

/// An identity as a text that another process compares with its own.
std::string identity_text(const Attributes& identity);
/// Checks that two identities, as identity_text(), are equal.
/// @param name  name of the file or run to which `there` belongs
/// @throws FormatError "NAME: belongs to another run", with the names and values that differ
void require_same_identity(const std::string& there, const std::string& here, const std::string& name,
                           const std::vector<Remedy>& remedies = {});

/// A file that one process leaves for another process of the same build. It contains its purpose, the
/// identity of the run, some bytes, and a digest of all this.
class SealedFile {
 public:
  /// @param identity  identity that the file must have, by name: model, input, options, program; empty: any
  /// @throws IoError if the file cannot be read; FormatError if it is damaged or of another run, with what
  ///         differs
  SealedFile(const std::filesystem::path& file, const SealedKind& kind, const Attributes& identity);

  /// The bytes that write_sealed() was given.
  [[nodiscard]] ByteReader bytes() const { return ByteReader(bytes_); }

 private:
  MappedFile file_;
  std::string_view bytes_;
};

/// Writes a SealedFile. The file appears whole or not at all.
/// @throws IoError if it cannot be written; an earlier file then stays as it was
void write_sealed(const std::filesystem::path& file, const SealedKind& kind, const Attributes& identity,
                  const std::function<void(ByteWriter&)>& write);

}  // namespace headwave
