#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// A number rounded to 7 digits, as many as a float has.
double rounded(double number);

/// The same as JSON; null for NaN and infinity, which JSON lacks.
nlohmann::ordered_json number_json(double number);

/// An attribute as visible_text().
std::string remark_text(const Attribute& remark);

/// Largest width in columns of a token on the page; longer tokens are shortened.
inline constexpr Index longest_token = 80;

/// The measures of the page's overview: everything that a result holds as one number, word or text per head,
/// and the Fields looks_field() and largest_part_field().
///
/// A Field counts if it has the axes layer and head, and at most one short axis beside them (which query-key
/// pairs, which prediction); each entry of that axis is a measure.
struct PageMeasures {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  nlohmann::ordered_json heads = nlohmann::ordered_json::array();
  nlohmann::ordered_json measures = nlohmann::ordered_json::array();  ///< name, part, long_name, unit, kind, values ...
};

/// @throws ShapeError if a Field's axes do not match its values
PageMeasures page_measures(const Result& result);

/// Arrays as the page holds them: a description of each, and its packed values.
struct PageArrays {
  nlohmann::ordered_json said;        ///< descriptions by name: axes, text (or numbers), notes, block, whole
  std::vector<std::string> blocks;    ///< packed_text() of each array's bytes
  std::vector<std::string> left_out;  ///< names of arrays that would make the page too large
};

/// Packs the arrays that the page's views draw, the most important first, as far as there is room. Numbers
/// are little-endian float32, all first bytes first, then all second ones, which packs better; texts are
/// JSON. Large arrays are reduced: attention maps to the strongest heads, trace_field to 128 tokens a side.
/// @param most  bytes of all blocks together
/// @throws ShapeError if a Field's axes do not match its values
PageArrays page_arrays(const Result& result, std::size_t most);

}  // namespace headwave
