#include "packed_text.h"

#include <new>

#include <openssl/evp.h>
#include <zlib.h>

namespace headwave {

std::string packed_text(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const auto* first = reinterpret_cast<const Bytef*>(bytes.data());
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, first, bytes.size(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::bad_alloc();                        // the only possible failure
  std::string text((size + 2) / 3 * 4 + 1, '\0');  // one more for the zero byte that libcrypto appends
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                       reinterpret_cast<const unsigned char*>(packed.data()),
                                                       static_cast<int>(size))));
  return text;
}

}  // namespace headwave
