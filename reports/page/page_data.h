#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// A number to 7 digits, as many as a float has.
double rounded(double number);

/// The same as JSON; null if the number is NaN or infinite, which JSON lacks.
nlohmann::ordered_json number_json(double number);

/// A remark as visible_text().
std::string remark_text(const Attribute& remark);

/// Largest width of a token's text on the page, in columns; longer texts are shortened.
inline constexpr Index longest_token = 80;

/// Everything that a result holds as one number, word or text per head: the measures of the page's overview, and
/// looks_field(), the offset that the table says.
///
/// A Field counts if it has the axes layer and head, and at most one short axis beside them (which query-key pairs
/// count, which prediction); each entry of that axis is a measure.
struct PageMeasures {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();    ///< layer numbers
  nlohmann::ordered_json heads = nlohmann::ordered_json::array();     ///< head numbers
  nlohmann::ordered_json measures = nlohmann::ordered_json::array();  ///< name, part, long_name, unit, kind, values ...
};

/// @throws ShapeError if a Field has other axes than values
PageMeasures page_measures(const Result& result);

/// Arrays as the page holds them: a description of each, and its numbers as packed texts.
struct PageArrays {
  nlohmann::ordered_json said;        ///< by name: axes, text (or numbers), notes, block, whole
  std::vector<std::string> blocks;    ///< packed_text() of each array's bytes
  std::vector<std::string> left_out;  ///< names of arrays that would make the page too large
};

/// Packs the arrays that the page's views draw, the most important first, until the page would be too large to send.
///
/// Numbers are little-endian float32, all first bytes first, then all second ones, which packs better; texts are JSON. Large arrays are reduced: of attention maps the heads with the largest mean weight stay, of spectra the frequencies with
/// the most energy, of profiles the offsets near 0.
/// @param most    bytes of all blocks together
/// @throws ShapeError if a Field has other axes than values
PageArrays page_arrays(const Result& result, std::size_t most);

}  // namespace headwave
