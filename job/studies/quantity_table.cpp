#include "quantity_table.h"

#include <utility>

namespace headwave {

QuantityTable::QuantityTable(const std::string& model) {
  for (const Published& one : published_of(model)) published_[one.quantity] = one;
}

void QuantityTable::add(const std::string& name, const std::string& unit, double measured) {
  constexpr double nothing = not_defined;
  ReproducedQuantity quantity{name, unit, measured, "", "", nothing, nothing};
  if (const auto found = published_.find(name); found != published_.end()) {
    quantity.published = found->second.text;
    quantity.source = found->second.source;
    quantity.low = found->second.low;
    quantity.high = found->second.high;
  }
  quantities_.push_back(std::move(quantity));
}

std::vector<ReproducedQuantity> QuantityTable::taken() {
  return std::exchange(quantities_, {});
}

}  // namespace headwave
