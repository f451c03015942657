#include "comparison_readings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/head_grid.h"

namespace headwave {

namespace {

constexpr const char* by_document = "offset_trace/by_document";

/// Where a head's entries stand in a Field of (layer, head), or of one slice of an axis before these.
/// @throws ShapeError unless it has such axes
std::size_t first_entry(const Field& field, const char* slice, std::size_t rows) {
  const bool sliced = *slice != '\0';
  if (field.axes.size() != (sliced ? 3U : 2U) || field.size() % static_cast<Index>(rows) != 0)
    throw ShapeError(fmt::format("{}: expected a number for each of {} heads, found {} on {} axes", field.name, rows,
                                 field.size(), field.axes.size()));
  field.check_shape();
  if (!sliced) return 0;
  const auto* labels = std::get_if<std::vector<std::string>>(&field.axes[0].values);
  const auto at =
      labels == nullptr ? std::ptrdiff_t{0} : std::find(labels->begin(), labels->end(), slice) - labels->begin();
  if (labels == nullptr || at == std::ssize(*labels))
    throw ShapeError(fmt::format("{}: expected '{}' on its axis {}", field.name, slice, field.axes[0].name));
  return static_cast<std::size_t>(at) * rows;
}

/// Query-key pairs at every offset, mean over documents. Between two sequences a document's length does not tell how many
/// it has.
Vector mean_pairs(const Result& result, const std::vector<std::int64_t>& offsets) {
  Vector pairs = Vector::Constant(std::ssize(offsets), not_defined);
  const Field* count = result.find("offset_trace/count");
  if (count == nullptr || count->axes.size() != 2 || count->axes[0].size() != static_cast<Index>(pairs_kinds))
    return pairs;
  const auto* counted = std::get_if<std::vector<std::int64_t>>(&count->axes[1].values);
  if (counted == nullptr) return pairs;
  count->check_shape();
  const std::size_t all = all_pairs * counted->size();
  for (std::size_t c = 0; c < offsets.size(); ++c)
    if (const auto at = std::ranges::find(*counted, offsets[c]); at != counted->end())
      pairs[static_cast<Index>(c)] = count->doubles()[all + static_cast<std::size_t>(at - counted->begin())];
  return pairs;
}

}  // namespace

const Field* kept_field(const Result& result, const char* name) {
  const Field* field = result.find(name);
  return field == nullptr || field->axes.empty() ? nullptr : field;
}

Vector head_numbers(const Result& result, const char* name, const char* slice, Index rows) {
  const Field* field = name == nullptr ? nullptr : kept_field(result, name);
  if (field == nullptr) return Vector::Constant(rows, not_defined);
  const std::size_t first = first_entry(*field, slice, static_cast<std::size_t>(rows));
  return Eigen::Map<const Vector>(field->doubles().data() + first, rows);
}

std::vector<std::string> head_words(const Result& result, const char* name, const char* slice, Index rows) {
  const Field* field = kept_field(result, name);
  if (field == nullptr) return {};
  const auto* flags = std::get_if<std::vector<std::uint8_t>>(&field->values);
  const std::size_t first = first_entry(*field, slice, static_cast<std::size_t>(rows));
  if (flags == nullptr) throw ShapeError(fmt::format("{}: expected flags, found numbers", name));
  std::vector<std::string> texts;
  for (std::size_t i = first; i < first + static_cast<std::size_t>(rows); ++i)
    texts.push_back((*flags)[i] < field->flag_meanings.size() ? field->flag_meanings[(*flags)[i]]
                                                              : fmt::format("status {}", (*flags)[i]));
  return texts;
}

Vector found_offsets(const Result& result, Index rows) {
  Vector offset = head_numbers(result, "measured_offset/offset", "all", rows);
  const std::vector<std::string> status = head_words(result, "measured_offset/status", "all", rows);
  for (Index row = 0; row < rows && !status.empty(); ++row)
    if (status[static_cast<std::size_t>(row)] == "self") offset[row] = 0;
  return offset;
}

std::vector<Matrix> document_profiles(const Result& result, Index rows) {
  const Field* field = result.find(by_document);
  const Field* lengths = result.find("offset_trace/length");
  if (field == nullptr || lengths == nullptr || field->axes.size() != 4) return {};
  field->check_shape();
  const auto* tokens = std::get_if<std::vector<std::int64_t>>(&lengths->values);
  const auto* offsets = std::get_if<std::vector<std::int64_t>>(&field->axes[3].values);
  const Index documents = field->axes[0].size(), columns = field->axes[3].size();
  if (tokens == nullptr || offsets == nullptr || std::ssize(*tokens) != documents ||
      field->size() != documents * rows * columns)
    throw ShapeError(fmt::format("{}: expected a length for each of {} documents and whole offsets of {} heads",
                                 by_document, documents, rows));
  const bool cross = attribute_text(result.provenance, "attention") == "cross";
  const Vector crossing = cross ? mean_pairs(result, *offsets) : Vector();
  std::vector<Matrix> profiles;
  for (Index d = 0; d < documents; ++d) {
    Matrix profile = Eigen::Map<const Matrix>(field->doubles().data() + d * rows * columns, rows, columns);
    for (Index c = 0; c < columns; ++c) {
      const double pairs = cross ? crossing[c]
                                 : static_cast<double>((*tokens)[static_cast<std::size_t>(d)] -
                                                       std::abs((*offsets)[static_cast<std::size_t>(c)]));
      profile.col(c) *= pairs > 0 ? 1 / pairs : not_defined;
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace headwave
