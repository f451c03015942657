#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli11.h"

namespace headwave::cli {

/// What an option may take. Each refuses everything else in one line that names what was expected and what came, and
/// describes itself to --help: "1 to 100", "pdf, svg or png".

/// A whole number in decimal digits, low <= number <= high.
CLI::Validator whole_number(std::int64_t low, std::int64_t high);

/// The same, or 0.
CLI::Validator none_or_whole_number(std::int64_t low, std::int64_t high);

/// Two of them with a colon between, low <= first < end <= high, and end - first <= most; or the word.
CLI::Validator whole_range(std::int64_t low, std::int64_t high, std::int64_t most, const std::string& word);

/// A finite number, low <= number <= high.
CLI::Validator real_number(double low, double high);

/// A whole number of at least 0 that results and job files can hold: seeds. The parser would turn negative ones into
/// huge ones.
CLI::Validator not_negative();

/// A size in bytes with its unit: 512MB, 1.5GB, 2GiB.
CLI::Validator byte_size();

/// Of a text that byte_size() takes: 1000 bytes to the kB, 1024 to the KiB.
std::int64_t bytes_of(const std::string& size);

/// One of a few words; of a near miss says which was meant.
CLI::Validator one_of(std::vector<std::string> words);

/// The words of one_of(), from how it describes itself; none where something else does so, or there is but one.
std::vector<std::string> words_in(const std::string& description);

/// An option that other commands have and this one has not: --help does not show it, and who types it is told why.
CLI::Option* refused_option(CLI::App& command, const std::string& name, const std::string& why);

}  // namespace headwave::cli
