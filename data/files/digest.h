#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct evp_md_ctx_st;  // of libcrypto

namespace headwave {

/// SHA-256 of bytes that arrive in pieces (FIPS 180-4).
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// The digest of all bytes added so far, as 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hexadecimal() const;

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// The seal at the end of a file written by headwave: "headwave sha256 ", the digest of all bytes before it,
/// and a line feed. The HDF5 library ignores the seal, and removes it when a program changes the file.
inline constexpr std::string_view seal_mark = "headwave sha256 ";
inline constexpr std::size_t seal_bytes = seal_mark.size() + 64 + 1;

/// The seal with this digest.
std::string seal_of(std::string_view sha256);

/// Compares a file's bytes with the seal at its end.
/// @returns whether the file has a seal
/// @throws IoError if the file cannot be read; FormatError if the seal does not match its bytes
bool require_right_seal(const std::filesystem::path& path);

/// Refuses a file that may have changed since headwave wrote it.
/// @throws IoError if the file cannot be read; FormatError if the file has no seal, or a wrong seal
void require_sealed(const std::filesystem::path& path);

/// SHA-256 of a file's bytes as `sha256sum` prints it: 64 lower-case hexadecimal digits. If the file has a
/// seal, the seal is checked too.
/// @throws IoError if the file cannot be read; FormatError if it has a seal that does not match its bytes
std::string sha256_of_file(const std::filesystem::path& path);

/// SHA-256 of bytes in memory, in the same form.
std::string sha256_of_text(std::string_view bytes);

/// Digests of several files as `sha256sum` lists them, for the provenance of results: one line per file with
/// its digest, two blanks and its name without the folder. `sha256sum --check` reads this.
/// @throws as sha256_of_file()
std::string sha256_list(const std::vector<std::filesystem::path>& files);

}  // namespace headwave
