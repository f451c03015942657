#include "input_text.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "digest.h"
#include "printable.h"
#include "text_encoding.h"
#include "unicode_text.h"

namespace headwave {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_of_a_stream = std::size_t{1} << 30U;
constexpr std::size_t everything = std::string::npos;

/// The first bytes of standard input: all, or up to the first line end after `enough`, or up to the end of a
/// character if no line ends.
std::string_view standard_input(std::size_t enough) {
  static std::mutex reading;
  static std::string kept;
  static bool ended = false;
  const std::lock_guard lock(reading);
  const std::size_t most = std::min(enough, most_of_a_stream);
  std::array<char, 1U << 16U> piece{};
  std::size_t line_end = kept.find('\n', most);
  while (!ended && line_end == std::string::npos && kept.size() < 2 * most && kept.size() < most_of_a_stream) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
    ended = count == 0;
    const std::size_t from = std::max(most, kept.size());
    kept.append(piece.data(), static_cast<std::size_t>(count));
    if (from < kept.size()) line_end = kept.find('\n', from);
  }
  if (line_end != std::string::npos) return std::string_view(kept).substr(0, line_end + 1);
  if (ended) return kept;
  if (enough == everything)
    throw IoError("standard input: gives more than 1 GiB, and all of it would be needed; write it to a file");
  return std::string_view(kept).substr(0, whole_characters(kept));
}

/// A text up to the first line end after `enough` bytes, or up to the end of a character after twice as many.
std::string_view needed(std::string_view text, std::size_t enough) {
  if (text.size() <= enough) return text;
  const std::size_t most = text.size() / 2 < enough ? text.size() : 2 * enough;
  const std::size_t line_end = text.substr(0, most).find('\n', enough);
  if (line_end != std::string_view::npos) return text.substr(0, line_end + 1);
  return most == text.size() ? text : text.substr(0, whole_characters(text.substr(0, most)));
}

bool is_standard_input(const fs::path& path) {
  return path == "-";
}

void require_file(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::status(path, ignored).type();
  if (type == fs::file_type::fifo || type == fs::file_type::character || type == fs::file_type::socket)
    throw IoError(
        fmt::format("{}: a pipe or device, expected a file; to read a pipe, give - for the file's name and "
                    "the text on standard input",
                    shown_path(path)));
}

}  // namespace

std::string input_name(const fs::path& path) {
  return is_standard_input(path) ? "standard input" : path.string();
}

std::string input_name(const TextPlace& place) {
  return place.text ? place.path.string() : input_name(place.path);
}

InputText::InputText(const TextPlace& place, const InputTextOptions& options)
    : name_(input_name(place)), memory_(place.text) {
  const fs::path& path = place.path;
  const bool is_stream = !memory_ && is_standard_input(path);
  // For one byte of UTF-8 an encoding may need up to 4.
  const std::size_t bytes_per_byte = options.encoding.empty() ? 1 : 4;
  const std::size_t enough = options.enough == 0 ? everything : bytes_per_byte * options.enough;
  if (!is_stream && !memory_) {
    require_file(path);
    file_ = std::make_unique<const MappedFile>(path);
  }
  // A copy: the kept text may move when more is read.
  if (is_stream) stream_ = standard_input(enough);
  const std::string_view bytes = memory_     ? std::string_view(*memory_)
                                 : is_stream ? std::string_view(stream_)
                                             : file_->text();
  if (bytes.empty())
    throw FormatError(fmt::format("{}: {} is empty; expected {}", name_, file_ ? "the file" : "it", options.expected));
  if (options.encoding.empty()) {
    text_ = needed(bytes, enough);
    require_utf8(text_, {name_, options.expected, options.advice});
    text_ = without_byte_order_mark(text_);
  } else {
    decode(bytes, options);
  }
  provenance_["source_file"] = path.string();
  provenance_["source_sha256"] =
      file_ ? sha256_list({path}) : fmt::format("{}  {}", sha256_of_text(bytes), is_stream ? "-" : name_);
}

void InputText::decode(std::string_view bytes, const InputTextOptions& options) {
  DecodedText decoded;
  try {
    decoded = decoded_text(bytes, options.encoding, options.enough == 0 ? everything : options.enough);
  } catch (const FormatError& problem) {
    throw FormatError(fmt::format("{}: {}", name_, problem.what()));
  }
  decoded_ = std::move(decoded.text);
  text_ = decoded_;
  provenance_["encoding"] = options.encoding;
  provenance_["replaced_characters"] =
      decoded.characters == 0 ? 0.0 : static_cast<double>(decoded.replaced) / static_cast<double>(decoded.characters);
}

}  // namespace headwave
