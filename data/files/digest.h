#pragma once

#include <cstddef>
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
  /// 64 lower-case hexadecimal digits of all that came so far.
  [[nodiscard]] std::string hexadecimal() const;

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// The seal, with which a file of ours ends: "headwave sha256 ", the digest of all bytes before it, and a
/// line feed. HDF5 ignores bytes after its own end, and a program that changes the file with HDF5 cuts them
/// off.
inline constexpr std::string_view seal_mark = "headwave sha256 ";
inline constexpr std::size_t seal_bytes = seal_mark.size() + 64 + 1;

/// The seal that has this digest.
std::string seal_of(std::string_view sha256);

/// Compares a file's bytes with the seal at its end.
/// @returns whether it has one
/// @throws IoError if the file cannot be read; FormatError if its bytes are not what the seal says
bool require_right_seal(const std::filesystem::path& path);

/// Refuses a file that is not as headwave wrote it.
/// @throws IoError if the file cannot be read; FormatError if it has no seal, or its bytes are not what the seal says
void require_sealed(const std::filesystem::path& path);

/// SHA-256 of a file's bytes, as 64 lower-case hexadecimal digits: what `sha256sum` prints. The seal of a
/// sealed file is compared on the way.
///
/// Source: FIPS 180-4.
/// @throws IoError if the file cannot be read; FormatError if it is sealed and its bytes are not what the
///         seal says
std::string sha256_of_file(const std::filesystem::path& path);

/// The same of bytes in memory.
std::string sha256_of_text(std::string_view bytes);

/// Digests of several files as `sha256sum` lists them, one line each: digest, two blanks, the file's name
/// without its folder. What results remember their inputs by; `sha256sum --check` reads it.
/// @throws as sha256_of_file()
std::string sha256_list(const std::vector<std::filesystem::path>& files);

}  // namespace headwave
