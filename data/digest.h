#pragma once

#include <filesystem>
#include <string>

namespace headwave {

/// SHA-256 of a file's bytes, as 64 lower-case hexadecimal digits: what `sha256sum` prints.
///
/// Source: FIPS 180-4.
/// @throws IoError if the file cannot be read
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace headwave
