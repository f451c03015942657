#include "run_mark.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include <zlib.h>

namespace headwave {

namespace {

constexpr std::size_t mark_digits = 64;
constexpr std::size_t looked_at = 4096;  // bytes at a file's beginning or end, where the mark is

/// What stands before a mark in a file of a format. No text of a result can look like it: in a page and an SVG `<` is
/// escaped, and a caption has one line.
std::string before_mark(std::string_view ending) {
  const std::string name = run_mark_name;
  if (ending == "pdf") return "%" + name + " ";
  if (ending == "svg") return "<metadata>" + name + " ";
  if (ending == "png") return "tEXt" + name + std::string(1, '\0');
  if (ending == "html") return "<meta name=\"" + name + "\" content=\"";
  return ending == "txt" ? "\n" + name + " " : "";
}

bool is_at_end(std::string_view ending) {
  return ending == "pdf" || ending == "txt";
}

bool is_mark(std::string_view text) {
  return text.size() == mark_digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Inserts `added` where `at` begins last; a content without it stays as it is.
void insert_before_last(std::string& content, std::string_view at, const std::string& added) {
  if (const auto place = content.rfind(at); place != content.npos) content.insert(place, added);
}

void insert_after_first(std::string& content, std::string_view at, const std::string& added) {
  if (const auto place = content.find(at); place != content.npos) content.insert(place + at.size(), added);
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> static_cast<unsigned>(shift));
  return bytes;
}

/// Length, name, data and checksum.
/// Source: PNG specification, second edition, sections 5.3 and 11.3.4.3.
std::string png_chunk(const std::string& content) {
  constexpr std::size_t name = 4;
  const auto* bytes = reinterpret_cast<const Bytef*>(content.data());
  const auto checksum = static_cast<std::uint32_t>(::crc32(0, bytes, static_cast<uInt>(content.size())));
  return big_endian(static_cast<std::uint32_t>(content.size() - name)) + content + big_endian(checksum);
}

}  // namespace

std::string run_mark(const Attributes& provenance) {
  std::string mark = attribute_text(provenance, run_mark_name);
  return is_mark(mark) ? mark : "";
}

std::string with_run_mark(std::string content, std::string_view ending, const std::string& mark) {
  constexpr std::size_t png_head = 33;  // the signature and the chunk IHDR, which comes first
  if (mark.empty()) return content;
  const std::string marked = before_mark(ending) + mark;
  if (ending == "pdf") insert_before_last(content, "startxref", marked + "\n");  // moves nothing that is pointed at
  if (ending == "svg") insert_after_first(content, "</title>\n", marked + "</metadata>\n");
  if (ending == "png" && content.size() > png_head) content.insert(png_head, png_chunk(marked));
  if (ending == "html") insert_after_first(content, "<meta charset=\"utf-8\">\n", marked + "\">\n");
  if (ending == "txt") content += marked.substr(content.ends_with('\n') ? 1 : 0) + "\n";
  return content;
}

std::string run_mark_in(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  const std::string ending = extension.substr(extension.empty() ? 0 : 1), before = before_mark(ending);
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::streamoff>(stream.tellg());
  if (before.empty() || !stream || size < 0) return "";
  std::string text(std::min(looked_at, static_cast<std::size_t>(size)), '\0');
  stream.seekg(is_at_end(ending) ? size - static_cast<std::streamoff>(text.size()) : 0);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  const std::size_t at = is_at_end(ending) ? text.rfind(before) : text.find(before);
  if (!stream || at == text.npos || text.size() < at + before.size() + mark_digits) return "";
  const std::string found = text.substr(at + before.size(), mark_digits);
  return is_mark(found) ? found : "";
}

}  // namespace headwave
