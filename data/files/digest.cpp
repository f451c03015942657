#include "digest.h"

#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"
#include "file_bytes.h"
#include "printable.h"

namespace headwave {

namespace {

/// The seal at the end of a file; empty if there is none.
std::string seal_at_end(const FileBytes& file) {
  if (file.size() < seal_bytes) return "";
  std::string end = file.text(file.size() - seal_bytes, seal_bytes);
  return end.starts_with(seal_mark) && end.ends_with('\n') ? end : "";
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
}

void Sha256::add(std::string_view bytes) {
  EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
}

std::string Sha256::hexadecimal() const {
  const Sha256 copy;  // a copy, since taking the digest ends a context
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_MD_CTX_copy_ex(copy.context_.get(), context_.get());
  EVP_DigestFinal_ex(copy.context_.get(), digest.data(), &length);
  return fmt::format("{:02x}", fmt::join(std::span(digest).first(length), ""));
}

std::string seal_of(std::string_view sha256) {
  return fmt::format("{}{}\n", seal_mark, sha256);
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const FileBytes file(path);
  const std::string seal = seal_at_end(file);
  const FileBytes content = file.part(0, file.size() - seal.size());
  Sha256 sha256;
  // In pieces: weights that are already mapped would otherwise be in memory twice.
  constexpr std::size_t piece = std::size_t{1} << 20U;
  for (std::size_t at = 0; at < content.size(); at += piece) {
    stop_if_asked();
    sha256.add(content.text(at, piece));
  }
  if (!seal.empty() && seal != seal_of(sha256.hexadecimal()))
    throw FormatError(
        fmt::format("{}: was changed or damaged after it was written: the digest at its end does not match its "
                    "content; replace it by an intact copy, or remove it and make it again",
                    shown_path(path)));
  sha256.add(seal);
  return sha256.hexadecimal();
}

bool require_right_seal(const std::filesystem::path& path) {
  if (seal_at_end(FileBytes(path)).empty()) return false;  // do not read the whole of a large file in vain
  (void)sha256_of_file(path);
  return true;
}

void require_sealed(const std::filesystem::path& path) {
  if (!require_right_seal(path))
    throw FormatError(
        fmt::format("{}: the digest at its end is missing: another program changed the file, or it is damaged; "
                    "replace it by an intact copy, or remove it and make it again",
                    shown_path(path)));
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
