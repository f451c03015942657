#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"
#include "file_bytes.h"

namespace headwave {

/// Calls `visit` for every line of a text, without its line end "\n" or "\r\n". A line end at the end of the
/// text does not begin another line.
template <class Visit>
void each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Refuses bytes that are not UTF-8 text: an ill-formed sequence, or a NUL.
/// @param name      what messages call the text: a file's path
/// @param expected  what messages ask for
/// @throws FormatError with the first bad byte, its line (from 1) and byte offset (from 0), and the file's
///         format if it is known, else how to convert the file to UTF-8
void require_utf8(std::string_view bytes, const std::string& name, std::string_view expected = "text in UTF-8");

/// How much of an input is read, and how.
struct InputTextOptions {
  /// Stop at the first line end after this many bytes, but at the latest at twice as many. 0: read all.
  std::size_t enough = 0;
  std::string_view expected = "text in UTF-8";  ///< what messages ask for
};

/// Where a text is: in a file, on standard input ("-") or in memory.
struct TextPlace {
  template <class Path>
  requires std::convertible_to<Path, std::filesystem::path> TextPlace(Path&& file)  // NOLINT: a path is a place
      : path(std::forward<Path>(file)) {}
  /// @param name  what messages call the text
  TextPlace(std::string name, std::shared_ptr<const std::string> in_memory)
      : path(std::move(name)), text(std::move(in_memory)) {}

  std::filesystem::path path;
  std::shared_ptr<const std::string> text;  ///< null: the text is in the file
};

/// The text of a file, of standard input, or in memory. Standard input (at most 1 GiB) is kept while the
/// program runs, so that a command can open it twice.
class InputText {
 public:
  /// @throws IoError if the text cannot be read; FormatError if it is empty or not UTF-8
  explicit InputText(const TextPlace& place, const InputTextOptions& options = {});

  /// The text as UTF-8, without a byte-order mark.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// The text's name in messages: the path, or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// `source_file`, `source_sha256`: path and digest of the whole file, or name and digest of a text in
  /// memory.
  [[nodiscard]] const Attributes& provenance() const { return provenance_; }

 private:
  std::string name_;
  std::shared_ptr<const std::string> kept_;
  std::string_view text_;
  Attributes provenance_;
};

/// The name of an input in messages: its path, or "standard input".
std::string input_name(const std::filesystem::path& path);
std::string input_name(const TextPlace& place);

}  // namespace headwave
