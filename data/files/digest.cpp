#include "digest.h"

#include <array>
#include <fstream>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include "../../core/numbers/error.h"
#include "../../core/numbers/stopping.h"
#include "printable.h"

namespace headwave {

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  good_ = context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1;
}

void Sha256::add(std::string_view bytes) {
  good_ = good_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
}

std::string Sha256::hexadecimal() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (!good_ || EVP_DigestFinal_ex(context_.get(), digest.data(), &length) != 1)
    throw IoError("a SHA-256 could not be computed by libcrypto");
  return fmt::format("{:02x}", fmt::join(std::span(digest).first(length), ""));
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const std::string name = shown_path(path);
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw IoError(fmt::format("{}: cannot be opened to compute its SHA-256", name));
  Sha256 sha256;
  // Piece by piece: weights that are mapped already would otherwise be in memory twice.
  std::vector<char> piece(std::size_t{1} << 20U);
  while (file) {
    stop_if_asked();
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sha256.add({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) throw IoError(fmt::format("{}: cannot be read to the end", name));
  return sha256.hexadecimal();
}

std::string sha256_of_text(std::string_view bytes) {
  Sha256 sha256;
  sha256.add(bytes);
  return sha256.hexadecimal();
}

std::string sha256_list(const std::vector<std::filesystem::path>& files) {
  std::string list;
  for (const std::filesystem::path& file : files)
    list += fmt::format("{}{}  {}", list.empty() ? "" : "\n", sha256_of_file(file), file.filename().string());
  return list;
}

}  // namespace headwave
