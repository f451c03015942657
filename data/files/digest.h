#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct evp_md_ctx_st;  // of libcrypto

namespace headwave {

/// SHA-256 of bytes that come in pieces.
///
/// Source: FIPS 180-4.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// 64 lower-case hexadecimal digits of all that came; to be asked once.
  /// @throws IoError if libcrypto could not compute them
  [[nodiscard]] std::string hexadecimal();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
  bool good_ = false;
};

/// SHA-256 of a file's bytes, as 64 lower-case hexadecimal digits: what `sha256sum` prints.
///
/// Source: FIPS 180-4.
/// @throws IoError if the file cannot be read
std::string sha256_of_file(const std::filesystem::path& path);

/// The same of bytes in memory.
std::string sha256_of_text(std::string_view bytes);

/// Digests of several files as `sha256sum` lists them, one line each: digest, two blanks, the file's name without its
/// folder. What results remember their inputs by; `sha256sum --check` reads it.
/// @throws IoError if a file cannot be read
std::string sha256_list(const std::vector<std::filesystem::path>& files);

}  // namespace headwave
