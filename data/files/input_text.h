#pragma once

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../../core/fields/field.h"
#include "mapped_file.h"

namespace headwave {

/// How much of an input is read, and how.
struct InputTextOptions {
  /// Bytes; what follows the next line end after so many is not looked at, nor, where no line ends, what follows twice
  /// as many. 0: everything.
  std::size_t enough = 0;
  std::string encoding = {};                    ///< see decoded_text(); empty: UTF-8, and nothing else
  std::string_view expected = "text in UTF-8";  ///< these two: see WantedText
  std::string_view advice = {};
};

/// Where a text is: in a file, "-" for standard input; or in memory.
struct TextPlace {
  template <class Path>
  requires std::convertible_to<Path, std::filesystem::path> TextPlace(Path&& file)  // NOLINT: a path is a place
      : path(std::forward<Path>(file)) {}
  /// @param name  what messages call it
  TextPlace(std::string name, std::shared_ptr<const std::string> in_memory)
      : path(std::move(name)), text(std::move(in_memory)) {}

  std::filesystem::path path;
  std::shared_ptr<const std::string> text;  ///< null: it is in the file
};

/// A text that was named on the command line: a file, or "-" for standard input; or one in memory.
///
/// What was read of standard input is kept while the program runs: a command that opens its input twice, to compare two
/// runs over it, finds the same. No more of it is read than is needed, and never more than 1 GiB.
class InputText {
 public:
  /// @throws IoError if it cannot be read; FormatError if it is empty, or not in UTF-8 where no encoding was given
  explicit InputText(const TextPlace& place, const InputTextOptions& options = {});

  /// In UTF-8, without a byte-order mark.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// What messages call it: the path, or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// `source_file` and `source_sha256` (of standard input, of what was used of it; of a text in memory its name and
  /// digest); where an encoding was given also `encoding` and `replaced_characters`.
  [[nodiscard]] const Attributes& provenance() const { return provenance_; }

 private:
  void decode(std::string_view bytes, const InputTextOptions& options);

  std::string name_;
  std::unique_ptr<const MappedFile> file_;
  std::shared_ptr<const std::string> memory_;
  std::string stream_, decoded_;
  std::string_view text_;
  Attributes provenance_;
};

/// What messages call an input: its path, or "standard input".
std::string input_name(const std::filesystem::path& path);
std::string input_name(const TextPlace& place);

}  // namespace headwave
