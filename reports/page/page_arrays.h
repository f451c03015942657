#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// How an array's numbers stand in the page.
enum class Store {
  exact,  ///< float32
  even,   ///< whole numbers up to 32767, of the largest magnitude in a slice: an even step; -32768: undefined
  root,  ///< bytes up to 255, of the largest number in a slice, squared: fine steps where numbers are small; none below 0
};

/// A large Field that views of the page draw.
struct KeptArray {
  const char* field;
  Store store = Store::exact;
  std::size_t slice = 1;    ///< how many of the last axes share one scale
  const char* crop = "";    ///< axis of which the page keeps only the first entries; "": none
  std::size_t crop_to = 0;  ///< ... so many
  const char* narrow = "";  ///< axis of which entries beyond ...
  double narrow_to = 0;     ///< ... this magnitude go, where the array is too large
};

/// Every array that views may ask for, those first that matter most.
const std::vector<KeptArray>& kept_arrays();

/// Arrays as the page holds them: what is said of each, and its numbers as texts of their own.
struct PageArrays {
  nlohmann::ordered_json said;        ///< by name: long_name, unit, axes, store, slice, scales, block
  std::vector<std::string> blocks;    ///< packed_text() of each array's bytes
  std::vector<std::string> left_out;  ///< names of those that would make the page too large
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
