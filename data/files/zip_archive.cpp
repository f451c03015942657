#include "zip_archive.h"

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include <fmt/format.h>
#include <zlib.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "printable.h"

namespace headwave {

namespace {

constexpr std::size_t zip_end_bytes = 22, longest_comment = 65535, locator_bytes = 20, end64_bytes = 56;
constexpr std::size_t zip_entry_bytes = 46, zip_local_bytes = 30, most_directory = std::size_t{256} << 20U;
constexpr std::uint64_t in_extra = 0xFFFFFFFF;

/// Little-endian numbers in a part of the file. Reading outside it is reported as damage.
class ZipFields {
 public:
  ZipFields(const FileBytes& file, std::size_t first, std::size_t most) : file_(file) {
    if (first > file.size()) refuse("it points outside the file");
    bytes_.resize(std::min(most, file.size() - first));
    file.read(first, bytes_);
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    throw FormatError(fmt::format("{}: {}: the archive is damaged or cut short", shown_path(file_.path()), problem));
  }
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t bytes) const {
    std::uint64_t value = 0;
    for (std::size_t b = 0; const std::byte byte : part(at, bytes))
      value |= std::to_integer<std::uint64_t>(byte) << (8 * b++);
    return value;
  }
  [[nodiscard]] std::string text(std::size_t at, std::size_t bytes) const {
    const std::span<const std::byte> found = part(at, bytes);
    return {reinterpret_cast<const char*>(found.data()), found.size()};
  }
  /// The last position of a mark.
  [[nodiscard]] std::size_t last(std::uint32_t mark) const {
    for (std::size_t at = bytes_.size() - std::min<std::size_t>(bytes_.size(), 3); at-- > 0;)
      if (number(at, 4) == mark) return at;
    refuse("no directory of a zip archive at its end");
  }

 private:
  [[nodiscard]] std::span<const std::byte> part(std::size_t at, std::size_t bytes) const {
    if (at > bytes_.size() || bytes > bytes_.size() - at) refuse("its directory ends too soon");
    return std::span(bytes_).subspan(at, bytes);
  }
  const FileBytes& file_;
  std::vector<std::byte> bytes_;
};

struct ZipDirectory {
  std::uint64_t first = 0, bytes = 0, members = 0;
};

ZipDirectory directory_of(const FileBytes& file) {
  const std::size_t room = std::min(file.size(), zip_end_bytes + longest_comment);
  const ZipFields tail(file, file.size() - room, room);
  const std::size_t end = tail.last(0x06054b50);
  ZipDirectory directory{tail.number(end + 16, 4), tail.number(end + 12, 4), tail.number(end + 10, 2)};
  const std::size_t at = file.size() - room + end;
  if (at < locator_bytes || (directory.first != in_extra && directory.bytes != in_extra && directory.members != 0xFFFF))
    return directory;
  const ZipFields locator(file, at - locator_bytes, locator_bytes);
  if (locator.number(0, 4) != 0x07064b50) return directory;
  const ZipFields end64(file, locator.number(8, 8), end64_bytes);
  if (end64.number(0, 4) != 0x06064b50) end64.refuse("no zip64 directory where one is promised");
  return {end64.number(48, 8), end64.number(40, 8), end64.number(32, 8)};
}

/// Sizes and offsets that do not fit in 32 bits are in an extra field, in this order.
void read_zip64(const ZipFields& fields, std::size_t at, std::size_t bytes, ZipMember& member) {
  const std::size_t end = at + bytes;
  while (at + 4 <= end) {
    const std::uint64_t id = fields.number(at, 2), length = fields.number(at + 2, 2);
    std::size_t from = at + 4;
    for (std::size_t* value : {&member.bytes, &member.packed, &member.first})
      if (id == 1 && *value == in_extra) {
        *value = fields.number(from, 8);
        from += 8;
      }
    at += 4 + length;
  }
}

void require_readable(const FileBytes& file, const ZipMember& member, std::uint64_t flags, std::uint64_t method) {
  const auto refuse = [&](const std::string& problem) {
    throw FormatError(fmt::format("{}: {}: {}; write it again with numpy.savez, or unzip it", shown_path(file.path()),
                                  printable(member.name), problem));
  };
  if ((flags & 1U) != 0) refuse("is encrypted");
  if (method != 0 && method != 8) refuse(fmt::format("is packed by method {}, expected none or deflate", method));
}

/// The first byte of a member, after its own header, whose length the directory does not know.
std::size_t first_byte(const FileBytes& file, std::size_t header, const std::string& name) {
  const ZipFields local(file, header, zip_local_bytes + name.size());
  if (local.number(0, 4) != 0x04034b50) local.refuse("no member where its directory promises one");
  if (local.number(26, 2) != name.size() || local.text(zip_local_bytes, name.size()) != name)
    local.refuse(fmt::format("a member is not called '{}', as its directory says", printable(name, 60)));
  return header + zip_local_bytes + name.size() + local.number(28, 2);
}

[[noreturn]] void refuse_packed(const FileBytes& file, const ZipMember& member) {
  throw FormatError(fmt::format("{}: {} does not unpack to its {} bytes: the archive is damaged",
                                shown_path(file.path()), printable(member.name), member.bytes));
}

/// Unpacks as many bytes as fit.
void inflate_into(const FileBytes& file, const ZipMember& member, std::span<std::byte> bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) refuse_packed(file, member);
  std::vector<std::byte> packed(std::min(member.packed, std::size_t{1} << 20U));
  std::size_t taken = 0, made = 0;
  int state = Z_OK;
  while (made < bytes.size() && state == Z_OK) {
    if (stream.avail_in == 0) {
      const std::size_t more = std::min(packed.size(), member.packed - taken);
      file.read(member.first + taken, std::span(packed).first(more));
      stream.next_in = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_in = static_cast<uInt>(more);
      taken += more;
    }
    const std::size_t room = std::min<std::size_t>(bytes.size() - made, std::numeric_limits<uInt>::max());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data() + made);
    stream.avail_out = static_cast<uInt>(room);
    state = inflate(&stream, Z_NO_FLUSH);
    made += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (made != bytes.size()) refuse_packed(file, member);
}

}  // namespace

std::vector<ZipMember> zip_members(const FileBytes& file) {
  const ZipDirectory directory = directory_of(file);
  const auto damaged = [&](const char* what) {
    throw FormatError(fmt::format("{}: {}: the archive is damaged or cut short", shown_path(file.path()), what));
  };
  if (directory.first > file.size() || directory.bytes > file.size() - directory.first ||
      directory.bytes > most_directory || directory.members > directory.bytes / zip_entry_bytes)
    damaged("its directory does not lie inside the file");
  const ZipFields fields(file, directory.first, directory.bytes);
  std::vector<ZipMember> members;
  std::set<std::string> names;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.members; ++i) {
    if (fields.number(at, 4) != 0x02014b50) fields.refuse("its directory has no entry where one is promised");
    const std::size_t name = fields.number(at + 28, 2), extra = fields.number(at + 30, 2);
    ZipMember member{fields.text(at + zip_entry_bytes, name),
                     fields.number(at + 10, 2) != 0,
                     fields.number(at + 42, 4),
                     fields.number(at + 20, 4),
                     fields.number(at + 24, 4),
                     static_cast<std::uint32_t>(fields.number(at + 16, 4))};
    require_readable(file, member, fields.number(at + 8, 2), fields.number(at + 10, 2));
    read_zip64(fields, at + zip_entry_bytes + name, extra, member);
    member.first = first_byte(file, member.first, member.name);
    if (member.first > file.size() || member.packed > file.size() - member.first)
      damaged("a member lies outside the file");
    if (!member.deflated && member.packed != member.bytes) damaged("a member's sizes differ");
    if (!names.insert(member.name).second) damaged("two members have one name");
    at += zip_entry_bytes + name + extra + fields.number(at + 32, 2);
    members.push_back(std::move(member));
  }
  if (at != directory.bytes) damaged("its directory has more entries than it says");
  return members;
}

void ZipBytes::require_sound(std::uint32_t check) const {
  if (check != member_.check)
    throw FormatError(fmt::format("{}: {} has another check sum (CRC-32) than its directory says: it is damaged",
                                  shown_path(file_->path()), printable(member_.name)));
}

void ZipBytes::read_all() const {
  constexpr std::size_t most = std::size_t{1} << 30U, piece = std::size_t{1} << 20U;
  if (!member_.deflated) {
    uLong check = 0;
    for (std::size_t at = 0; at < member_.bytes;) {
      stop_if_asked();
      const std::string bytes = file_->text(member_.first + at, std::min(piece, member_.bytes - at));
      check = crc32_z(check, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
      at += bytes.size();
    }
    return require_sound(static_cast<std::uint32_t>(check));
  }
  if (member_.bytes > most)
    throw FormatError(fmt::format(
        "{}: {} is packed, and {} bytes are more than the 1 GiB that are unpacked into memory. Write it once more, not "
        "packed: python3 -c \"import numpy as np; np.savez('states.npz', **np.load('FILE'))\"",
        shown_path(file_->path()), printable(member_.name), member_.bytes));
  const auto bytes = std::make_shared<std::vector<std::byte>>(member_.bytes);
  inflate_into(*file_, member_, *bytes);
  require_sound(static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes->data()), bytes->size())));
  all_ = std::make_unique<MemoryBytes>(*bytes, bytes);
}

void ZipBytes::read(std::size_t first, std::span<std::byte> into) const {
  require(first, into.size());
  constexpr std::size_t longest_beginning = std::size_t{2} << 20U;
  constexpr std::size_t best_compression = 2000;  // deflate reaches 1032: what promises more is a trap
  if (member_.deflated && member_.bytes / best_compression > member_.packed) refuse_packed(*file_, member_);
  const bool is_beginning = first == 0 && into.size() < member_.bytes && into.size() <= longest_beginning;
  if (!is_beginning) std::call_once(once_, [&] { read_all(); });
  if (!member_.deflated) return file_->read(member_.first + first, into);
  if (!is_beginning) return all_->read(first, into);
  inflate_into(*file_, member_, into);
}

}  // namespace headwave
