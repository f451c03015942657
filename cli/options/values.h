#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

// Validators of options. Each refuses a wrong value in one line that says what was expected and found.
// Descriptions of words also appear in --help: "pdf, svg or png".

/// A whole number in decimal digits, low <= number <= high.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);

/// The same, but 0 is allowed too.
CLI::Validator none_or_whole_number(std::int64_t low, std::int64_t high);

/// A finite number, low <= number <= high.
CLI::Validator real_number(double low, double high);

/// A whole number of at least 0 that results and job files can hold, for seeds. Without it the parser would
/// turn negative numbers into huge ones.
CLI::Validator not_negative();

/// A size in bytes with its unit: 512MB, 1.5GB, 2GiB.
CLI::Validator byte_size();

/// Reads a size that byte_size() accepts: 1000 bytes to the kB, 1024 to the KiB.
std::int64_t bytes_of(const std::string& size);

/// One of a few words. After a near miss the message suggests the word.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace headwave::cli
