#pragma once

#include <map>
#include <string>
#include <vector>

#include "published.h"

namespace headwave {

/// One line of the table: what was published beside what was measured.
struct ReproducedQuantity {
  std::string name;
  std::string unit;       ///< ratio, count, layer, token or cycles/T
  double measured = 0;    ///< NaN: undefined for this model
  std::string published;  ///< empty: nothing is published of this model
  std::string source;
  double low = 0, high = 0;  ///< within which it agrees; NaN where nothing is published
  [[nodiscard]] bool compared() const { return !published.empty(); }
  [[nodiscard]] bool agrees() const { return measured >= low && measured <= high; }
};

/// Puts what is published of a model beside what is measured, in the order of the paper's argument.
class QuantityTable {
 public:
  /// @param model  as published_model() names it
  explicit QuantityTable(const std::string& model);

  void add(const std::string& name, const std::string& unit, double measured);

  /// The lines so far; none are left.
  [[nodiscard]] std::vector<ReproducedQuantity> taken();

 private:
  std::map<std::string, Published> published_;
  std::vector<ReproducedQuantity> quantities_;
};

}  // namespace headwave
