#pragma once

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// Everything that a result says of each head in one number or one word: what the grid of the page can be coloured by.
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

}  // namespace headwave
