#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

// Validators of options. Each refuses a wrong value in one line that says what was expected and what was
// found. The description of a validator also appears in --help: "pdf, svg or png".

/// Accepts a whole number in decimal digits, low <= number <= high.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);

/// Accepts 0 and what whole_number() accepts.
CLI::Validator none_or_whole_number(std::int64_t low, std::int64_t high);

/// Accepts a finite number, low <= number <= high.
CLI::Validator real_number(double low, double high);

/// Accepts a seed: a whole number of at least 0 that results and job files can hold. Without this check the
/// parser would turn negative numbers into huge numbers.
CLI::Validator not_negative();

/// Accepts a size in bytes with its unit: 512MB, 1.5GB, 2GiB.
CLI::Validator byte_size();

/// Reads a size that byte_size() accepts, and gives it in bytes. A kB has 1000 bytes, a KiB 1024.
std::int64_t bytes_of(const std::string& size);

/// Accepts one of a few words. If the value nearly matches one of them, the message suggests that word.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace headwave::cli
