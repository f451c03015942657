#include "input_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "digest.h"
#include "file_content.h"
#include "printable.h"
#include "unicode_text.h"

namespace headwave {

void require_utf8(std::string_view bytes, const std::string& name, std::string_view expected) {
  const std::size_t bad = std::min(ill_formed_utf8(bytes), bytes.find('\0'));
  if (bad == std::string_view::npos) return;
  const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
  const FileContent content = content_of(bytes);
  const std::string found = bytes[bad] == '\0'
                                ? "a NUL byte, which text never contains"
                                : fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(bytes[bad]));
  if (content != FileContent::other)
    throw FormatError(fmt::format("{}: this is {}, expected {} (line {}, byte offset {}: {})", name, words_of(content),
                                  expected, line, bad, found));
  const bool wide = bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff") || bytes[bad] == '\0';
  throw FormatError(fmt::format("{}: line {}, byte offset {}: {}; expected {}; convert it with `iconv -f {} -t UTF-8`",
                                name, line, bad, found, expected, wide ? "UTF-16" : "LATIN1"));
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_a_stream = std::size_t{1} << 30U;

/// A text up to the first line end after `enough` bytes, or up to the last whole character of twice as many.
std::string_view needed(std::string_view text, std::size_t enough) {
  if (enough == 0 || text.size() <= enough) return text;
  const std::string_view most = text.substr(0, 2 * enough);
  const std::size_t line_end = most.find('\n', enough);
  if (line_end != text.npos) return text.substr(0, line_end + 1);
  return most.size() == text.size() ? text : text.substr(0, whole_characters(most));
}

/// Standard input, kept for a second call; up to twice the bytes that are enough, or all if `enough` is 0.
std::string standard_input(std::size_t enough) {
  static std::mutex reading;
  static std::string kept;
  static bool ended = false;
  const std::lock_guard lock(reading);
  const std::size_t most = enough == 0 ? most_of_a_stream : std::min(2 * enough + 1, most_of_a_stream);
  std::array<char, 1U << 16U> piece{};
  while (!ended && kept.size() < most) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
    ended = count == 0;
    kept.append(piece.data(), static_cast<std::size_t>(count));
  }
  if (!ended && enough == 0) throw IoError("standard input: gives more than 1 GiB; write it to a file");
  return kept;
}

bool is_standard_input(const fs::path& path) {
  return path == "-";
}

}  // namespace

std::string input_name(const fs::path& path) {
  return is_standard_input(path) ? "standard input" : path.string();
}

std::string input_name(const TextPlace& place) {
  return place.text ? place.path.string() : input_name(place.path);
}

InputText::InputText(const TextPlace& place, const InputTextOptions& options)
    : name_(input_name(place)), kept_(place.text) {
  const bool is_stream = !kept_ && is_standard_input(place.path), is_file = !kept_ && !is_stream;
  if (is_stream) kept_ = std::make_shared<const std::string>(standard_input(options.enough));
  if (is_file) {
    const FileBytes file(place.path);
    kept_ =
        std::make_shared<const std::string>(file.text(0, options.enough == 0 ? file.size() : 2 * options.enough + 1));
  }
  if (kept_->empty())
    throw FormatError(
        fmt::format("{}: {} is empty; expected {}", name_, is_file ? "the file" : "it", options.expected));
  text_ = needed(*kept_, options.enough);
  require_utf8(text_, name_, options.expected);
  text_ = without_byte_order_mark(text_);
  provenance_["source_file"] = place.path.string();
  provenance_["source_sha256"] =
      is_file ? sha256_list({place.path}) : fmt::format("{}  {}", sha256_of_text(*kept_), is_stream ? "-" : name_);
}

}  // namespace headwave
