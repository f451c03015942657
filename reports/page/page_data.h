#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// A number to 7 digits, as many as a float has.
double rounded(double number);

/// The same as JSON, which has neither NaN nor infinities: null.
nlohmann::ordered_json number_json(double number);

/// The remarks of a Field, made visible_text().
nlohmann::ordered_json notes_json(const Field& field);

/// A remark as text.
std::string remark_text(const Attribute& remark);

/// Everything that a result holds as one number or one word per head: the measures that can colour the page's grid.
///
/// A Field counts that has the axes layer and head, and beside them at most one short one (which query-key pairs count,
/// which prediction), each of whose entries is a measure.
struct PageMeasures {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();    ///< layer numbers
  nlohmann::ordered_json heads = nlohmann::ordered_json::array();     ///< head numbers
  nlohmann::ordered_json measures = nlohmann::ordered_json::array();  ///< name, part, long_name, unit, kind, values ...
};

/// @throws ShapeError if a Field has other axes than values
PageMeasures page_measures(const Result& result);

/// How the page stores an array's numbers.
enum class Store {
  exact,  ///< float32
  even,   ///< whole numbers up to 32767, of the largest magnitude in a slice: an even step; -32768: undefined
  root,  ///< bytes up to 255, of the largest number in a slice, squared: fine steps where numbers are small; none below 0
};

/// A large Field that the page's views draw.
struct KeptArray {
  const char* field;
  Store store = Store::exact;
  std::size_t slice = 1;    ///< how many of the last axes share one scale
  const char* crop = "";    ///< axis of which the page keeps only the first entries; "": none
  std::size_t crop_to = 0;  ///< how many of them
  const char* narrow = "";  ///< axis that is shortened ...
  double narrow_to = 0;     ///< ... to coordinates up to this, if the array is too large
};

/// Every array that views may ask for, the most important first.
const std::vector<KeptArray>& kept_arrays();

/// Arrays as the page holds them: a description of each, and its numbers as packed texts.
struct PageArrays {
  nlohmann::ordered_json said;        ///< by name: long_name, unit, axes, store, slice, scales, block
  std::vector<std::string> blocks;    ///< packed_text() of each array's bytes
  std::vector<std::string> left_out;  ///< names of arrays that would make the page too large
};

/// Packs what kept_arrays() names of a result, until the page would be too large to send.
///
/// Bytes are little-endian; of float32 all first bytes stand first, then all second ones, which packs better. Of
/// attention maps those of the heads with the largest mean weight are kept, as many as have room.
/// @param most  bytes of all blocks together
/// @throws ShapeError if a Field has other axes than values
PageArrays page_arrays(const Result& result, std::size_t most);

/// An axis for the page: name, unit, long_name and values.
nlohmann::ordered_json axis_json(const Axis& axis);

}  // namespace headwave
