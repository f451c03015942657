#include "comparison_readings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"

namespace headwave {

namespace {

void require_rows(const char* name, std::size_t found, Index rows) {
  if (static_cast<Index>(found) != rows)
    throw ShapeError(fmt::format("{}: expected a value for each of {} heads, found {}", name, rows, found));
}

/// Query-key pairs at every offset, mean over documents. Between two sequences a document's length does not say how many
/// it has.
Vector mean_pairs(const Result& result, const std::vector<Index>& offsets) {
  constexpr const char* name = "offset_trace/count";
  Vector pairs = Vector::Constant(std::ssize(offsets), not_defined);
  if (result.find(name) == nullptr) return pairs;
  const auto& counts = doubles_of(result, name, {"pairs", "offset"});
  const auto counted = whole_coordinates(result.at(name), "offset");
  const auto all = slice_of(counts, place_of(result.at(name), "pairs", "all"), counted.size());
  for (std::size_t c = 0; c < offsets.size(); ++c)
    if (const auto at = std::ranges::find(counted, offsets[c]); at != counted.end())
      pairs[static_cast<Index>(c)] = all[static_cast<std::size_t>(at - counted.begin())];
  return pairs;
}

}  // namespace

const Field* kept_field(const Result& result, const char* name) {
  const Field* field = result.find(name);
  return field == nullptr || field->axes.empty() ? nullptr : field;
}

Vector head_numbers(const Result& result, const char* name, const char* slice, Index rows) {
  if (name == nullptr || kept_field(result, name) == nullptr) return Vector::Constant(rows, not_defined);
  const std::vector<double> numbers = head_doubles(result, name, slice);
  require_rows(name, numbers.size(), rows);
  return Eigen::Map<const Vector>(numbers.data(), rows);
}

std::vector<std::string> head_words(const Result& result, const char* name, const char* slice, Index rows) {
  if (kept_field(result, name) == nullptr) return {};
  std::vector<std::string> words = head_meanings(result, name, slice);
  require_rows(name, words.size(), rows);
  return words;
}

Vector found_offsets(const Result& result, Index rows) {
  Vector offset = head_numbers(result, "measured_offset/offset", "all", rows);
  const std::vector<std::string> status = head_words(result, "measured_offset/status", "all", rows);
  for (Index row = 0; row < rows && !status.empty(); ++row)
    if (status[static_cast<std::size_t>(row)] == "self") offset[row] = 0;
  return offset;
}

std::vector<Matrix> document_profiles(const Result& result, Index rows) {
  constexpr const char *name = "offset_trace/by_document", *length_name = "offset_trace/length";
  if (kept_field(result, name) == nullptr || result.find(length_name) == nullptr) return {};
  const auto& sums = doubles_of(result, name, {"document", "layer", "head", "near_offset"});
  const auto& lengths = counts_of(result, length_name, {"document"});
  const auto offsets = whole_coordinates(result.at(name), "near_offset");
  const Index columns = std::ssize(offsets);
  if (std::ssize(sums) != std::ssize(lengths) * rows * columns)
    throw ShapeError(fmt::format("{}: expected {} documents of {} heads at {} offsets, found {} numbers", name,
                                 lengths.size(), rows, columns, sums.size()));
  const bool cross = attribute_text(result.provenance, "attention") == "cross";
  const Vector crossing = cross ? mean_pairs(result, offsets) : Vector();
  std::vector<Matrix> profiles;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    const auto own = slice_of(sums, d, static_cast<std::size_t>(rows * columns));
    Matrix profile = Eigen::Map<const Matrix>(own.data(), rows, columns);
    for (Index c = 0; c < columns; ++c) {
      const double pairs =
          cross ? crossing[c] : static_cast<double>(lengths[d] - std::abs(offsets[static_cast<std::size_t>(c)]));
      profile.col(c) *= pairs > 0 ? 1 / pairs : not_defined;
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace headwave
