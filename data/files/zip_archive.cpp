#include "zip_archive.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "printable.h"

namespace headwave {

namespace {

constexpr std::size_t end_bytes = 22, longest_comment = 65535, entry_bytes = 46, local_bytes = 30;

[[noreturn]] void refuse_archive(const FileBytes& file, const std::string& problem) {
  throw FormatError(fmt::format("{}: {}: the archive is damaged or cut short", shown_path(file.path()), problem));
}

/// A part of the file, with access to its little-endian numbers.
class ZipPart {
 public:
  ZipPart(const FileBytes& file, std::uint64_t first, std::uint64_t bytes) : file_(file) {
    constexpr std::uint64_t most = std::uint64_t{256} << 20U;
    if (first > file.size() || bytes > file.size() - first || bytes > most)
      refuse_archive(file, "its directory does not lie inside the file");
    text_ = file.text(first, bytes);
  }
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t bytes) const {
    std::uint64_t value = 0;
    for (std::size_t b = bytes; b-- > 0;) value = value << 8U | static_cast<unsigned char>(text(at, bytes)[b]);
    return value;
  }
  [[nodiscard]] std::string_view text(std::size_t at, std::size_t bytes) const {
    if (at > text_.size() || bytes > text_.size() - at) refuse_archive(file_, "its directory is cut short");
    return std::string_view(text_).substr(at, bytes);
  }
  [[nodiscard]] const std::string& all() const { return text_; }

 private:
  const FileBytes& file_;
  std::string text_;
};

struct ZipDirectory {
  ZipPart entries;
  std::uint64_t members;
};

ZipDirectory directory_of(const FileBytes& file) {
  const std::size_t room = std::min(file.size(), end_bytes + longest_comment);
  const ZipPart tail(file, file.size() - room, room);
  const std::size_t end = tail.all().rfind("PK\x05\x06");
  if (end == std::string::npos) refuse_archive(file, "it has no zip directory at its end");
  constexpr std::size_t locator_bytes = 20;
  if (end < locator_bytes || tail.text(end - locator_bytes, 4) != "PK\x06\x07")
    return {{file, tail.number(end + 16, 4), tail.number(end + 12, 4)}, tail.number(end + 10, 2)};
  const ZipPart end64(file, tail.number(end - locator_bytes + 8, 8), 56);
  return {{file, end64.number(48, 8), end64.number(40, 8)}, end64.number(32, 8)};
}

/// Reads sizes and places that do not fit in 32 bits from the extra field, where they stand in this order.
void read_zip64(const ZipPart& directory, std::size_t at, std::size_t end, ZipMember& member) {
  constexpr std::size_t in_extra = 0xFFFFFFFF;
  for (; at + 4 <= end; at += 4 + directory.number(at + 2, 2)) {
    if (directory.number(at, 2) != 1) continue;
    const bool is_large = member.bytes == in_extra;  // its packed size, the same number, follows
    if (member.first == in_extra) member.first = directory.number(at + (is_large ? 20 : 4), 8);
    if (is_large) member.bytes = directory.number(at + 4, 8);
  }
}

/// The first byte of a member's data, after its own header, whose length the directory does not give.
std::size_t first_byte(const FileBytes& file, const ZipMember& member) {
  const ZipPart local(file, member.first, local_bytes + member.name.size());
  if (local.text(0, 4) != "PK\x03\x04" || local.number(26, 2) != member.name.size() ||
      local.text(local_bytes, member.name.size()) != member.name)
    refuse_archive(file, fmt::format("member '{}' is not where the directory says", printable(member.name, 60)));
  return member.first + local_bytes + member.name.size() + local.number(28, 2);
}

}  // namespace

std::vector<ZipMember> zip_members(const FileBytes& file) {
  const auto [directory, promised] = directory_of(file);
  std::vector<ZipMember> members;
  for (std::size_t at = 0; at < directory.all().size();) {
    if (directory.text(at, 4) != "PK\x01\x02") refuse_archive(file, "its directory contains an invalid entry");
    const std::size_t name = directory.number(at + 28, 2), extra = directory.number(at + 30, 2);
    ZipMember member{std::string(directory.text(at + entry_bytes, name)), directory.number(at + 42, 4),
                     directory.number(at + 24, 4)};
    if (directory.number(at + 10, 2) != 0 || (directory.number(at + 8, 2) & 1U) != 0)
      throw FormatError(fmt::format(
          "{}: {} is compressed or encrypted; expected what numpy.savez writes: python3 -c \"import numpy as np; "
          "np.savez('states.npz', **np.load('FILE'))\"",
          shown_path(file.path()), printable(member.name)));
    read_zip64(directory, at + entry_bytes + name, at + entry_bytes + name + extra, member);
    member.first = first_byte(file, member);
    if (directory.number(at + 20, 4) != directory.number(at + 24, 4) || member.first > file.size() ||
        member.bytes > file.size() - member.first)
      refuse_archive(file, fmt::format("'{}' lies outside the file", printable(member.name, 60)));
    at += entry_bytes + name + extra + directory.number(at + 32, 2);
    members.push_back(std::move(member));
  }
  if (members.size() != promised)
    refuse_archive(file, fmt::format("its directory promises {} entries, but has {}", promised, members.size()));
  return members;
}

}  // namespace headwave
