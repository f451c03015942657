#include "packed_text.h"

#include <new>

#include <zlib.h>

namespace headwave {

namespace {

std::string packed(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const auto* first = reinterpret_cast<const Bytef*>(bytes.data());
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, first, bytes.size(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::bad_alloc();  // the only way in which it can fail
  out.resize(size);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = bytes.size() - i;
    const auto byte = [&](std::size_t k) { return k < there ? static_cast<unsigned char>(bytes[i + k]) : 0U; };
    const unsigned three = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (unsigned k = 0; k < 4; ++k) text += k <= there ? digits[three >> (18U - 6U * k) & 63U] : '=';
  }
  return text;
}

}  // namespace

std::string packed_text(std::string_view bytes) {
  return base64(packed(bytes));
}

}  // namespace headwave
