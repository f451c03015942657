#include "sentencepiece_file.h"

#include <bit>
#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/mapped_file.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "tokenizer.h"
#include "vocabulary.h"

namespace headwave {

namespace {

/// One field of a message: a number, or bytes.
struct WireField {
  std::uint64_t key = 0;  ///< the field's number, and how it is written in the lowest 3 bits
  std::uint64_t number = 0;
  std::string_view bytes;
};

constexpr std::uint64_t as_varint(std::uint64_t field) {
  return field << 3U;
}
constexpr std::uint64_t as_bytes(std::uint64_t field) {
  return field << 3U | 2U;
}
constexpr std::uint64_t as_float(std::uint64_t field) {
  return field << 3U | 5U;
}

/// A message, field by field.
class WireMessage {
 public:
  WireMessage(std::string_view bytes, const std::string& file) : rest_(bytes), file_(file) {}

  [[nodiscard]] bool next(WireField& field) {
    if (rest_.empty()) return false;
    field = {};
    field.key = varint();
    switch (field.key & 7U) {
      case 0:
        field.number = varint();
        return true;
      case 1:
        field.bytes = taken(8);
        return true;
      case 2:
        field.bytes = taken(varint());
        return true;
      case 5:
        field.bytes = taken(4);
        for (std::size_t byte = 4; byte-- > 0;)
          field.number = field.number << 8U | static_cast<unsigned char>(field.bytes[byte]);
        return true;
      default:
        refuse();
    }
  }

 private:
  [[noreturn]] void refuse() const {
    throw FormatError(fmt::format(
        "{}: {} bytes before the end of a part it is no SentencePiece model: the file is broken, or another kind",
        file_, rest_.size()));
  }

  std::string_view taken(std::uint64_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(taken(1)[0]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  std::string_view rest_;
  const std::string& file_;
};

SentencePieceEntry read_piece(std::string_view bytes, const std::string& file) {
  SentencePieceEntry entry;
  WireMessage message(bytes, file);
  for (WireField field; message.next(field);) {
    if (field.key == as_bytes(1)) entry.piece = field.bytes;
    if (field.key == as_float(2)) entry.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.number));
    if (field.key == as_varint(3)) {
      if (field.number < 1 || field.number > 6)
        throw FormatError(
            fmt::format("{}: piece '{}' is of kind {}, expected 1 to 6", file, printable(entry.piece), field.number));
      entry.kind = static_cast<SentencePieceKind>(field.number);
    }
  }
  if (entry.piece.empty() || !is_valid_utf8(entry.piece))
    throw FormatError(fmt::format("{}: the piece '{}' is empty or not UTF-8", file, printable(entry.piece)));
  return entry;
}

void read_trainer(std::string_view bytes, const std::string& file, SentencePieceFile& model) {
  WireMessage message(bytes, file);
  for (WireField field; message.next(field);) {
    if (field.key == as_varint(3)) {
      if (field.number != 1 && field.number != 2)
        throw FormatError(
            fmt::format("{}: model type {} is not known, expected 1 (Unigram) or 2 (BPE)", file, field.number));
      model.model = static_cast<SentencePieceFile::Model>(field.number);
    }
    if (field.key == as_varint(24)) model.whitespace_as_suffix = field.number != 0;
    if (field.key == as_varint(35)) model.byte_fallback = field.number != 0;
  }
}

void read_normalizer(std::string_view bytes, const std::string& file, SentencePieceFile& model) {
  WireMessage message(bytes, file);
  for (WireField field; message.next(field);) {
    if (field.key == as_bytes(2)) model.charsmap = field.bytes;
    if (field.key == as_varint(3)) model.add_dummy_prefix = field.number != 0;
    if (field.key == as_varint(4)) model.remove_extra_whitespaces = field.number != 0;
    if (field.key == as_varint(5)) model.escape_whitespaces = field.number != 0;
  }
}

}  // namespace

SentencePieceFile sentencepiece_file(const std::filesystem::path& path) {
  const MappedFile mapped(path);
  const std::string file = shown_path(path);
  if (mapped.size() > largest_tokenizer_file)
    throw FormatError(fmt::format("{}: {} bytes, at most {} are read: is this a SentencePiece model?", file,
                                  mapped.size(), largest_tokenizer_file));
  SentencePieceFile model;
  WireMessage message(mapped.text(), file);
  for (WireField field; message.next(field);) {
    if (field.key == as_bytes(1)) {
      require_room_for_one(model.pieces.size(), file, "pieces");
      model.pieces.push_back(read_piece(field.bytes, file));
    }
    if (field.key == as_bytes(2)) read_trainer(field.bytes, file, model);
    if (field.key == as_bytes(3)) read_normalizer(field.bytes, file, model);
  }
  return model;
}

}  // namespace headwave
