#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../core/model/model.h"

namespace headwave {

/// One claim of the published analysis, as an interval that a measurement meets or misses.
struct Published {
  std::string quantity;  ///< its name in paper_quantities.cpp or reproduction.cpp
  std::string text;      ///< what is published, in few words
  double low, high;      ///< the measurement agrees where low <= it <= high
  std::string source;    ///< section or figure
};

/// The model that published numbers are about: "roberta-base" or "gpt2", by family and sizes; empty for any other. A
/// checkpoint of the same sizes that was trained further is taken for the same.
std::string published_model(const Model& model);

/// All that is published of a model, in the order of the paper's argument; none for other models.
///
/// Where the paper gives a picture and no number, the interval is this project's reading of it, and the text says what
/// is claimed.
///
/// Source: Yamamoto and Matsuzaki 2023 (Japanese paper: JP; extended English version: EN).
const std::vector<Published>& published_of(std::string_view model);

}  // namespace headwave
