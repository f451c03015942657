#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// Rounds a number to 7 significant digits, about the precision of a float.
double rounded(double number);

/// Makes JSON of a rounded() number; null for NaN and infinity, which JSON lacks.
nlohmann::ordered_json number_json(double number);

/// Formats an attribute as text for the page. Texts pass visible_text().
std::string remark_text(const Attribute& remark);

/// Largest width of a token on the page, in columns; longer tokens are shortened.
inline constexpr Index longest_token = 80;

/// The measures of the page's overview: every number, word or text that a result contains for each head, and
/// the Fields looks_field() and largest_part_field().
///
/// A Field counts if it has the axes layer and head, and at most one short axis besides (which query-key
/// pairs, which prediction). Each entry of the short axis is a measure of its own.
struct PageMeasures {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  nlohmann::ordered_json heads = nlohmann::ordered_json::array();
  nlohmann::ordered_json measures = nlohmann::ordered_json::array();  ///< name, part, long_name, unit, kind, values ...
};

/// @throws ShapeError if a Field's axes do not match its values
PageMeasures page_measures(const Result& result);

/// Arrays as they are stored in the page: a description of each array, and its packed values.
struct PageArrays {
  nlohmann::ordered_json said;        ///< descriptions by name: axes, text (or numbers), notes, block, whole
  std::vector<std::string> blocks;    ///< packed_text() of each array's bytes
  std::vector<std::string> left_out;  ///< names of arrays that would make the page too large
};

/// Packs the arrays that the page's views draw, the most important first, until `most` is reached. Numbers
/// are stored as little-endian float32, first byte 0 of every number, then byte 1 of every number and so on,
/// because this order packs better. Texts are stored as JSON. Large arrays are reduced: attention maps to
/// those of the strongest heads, and trace_field to offsets of at most 128 tokens.
/// @param most  largest size of all packed blocks together, in bytes
/// @throws ShapeError if a Field's axes do not match its values
PageArrays page_arrays(const Result& result, std::size_t most);

}  // namespace headwave
