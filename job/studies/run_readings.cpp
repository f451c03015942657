#include "run_readings.h"

#include <cmath>

#include "../../analysis/statistics/published_measures.h"
#include "../../core/numbers/offset_peak.h"

namespace headwave {

namespace {

constexpr Index lags = 30;

}  // namespace

RunReadings::RunReadings(const Result& result) : result_(result) {
  for (const char* name : {"measured_offset/offset", "measured_offset/weight", "offset_trace/mean_weight"})
    (void)result.at(name);
  heads_ = result.at("measured_offset/offset").axis("head").size();
  // The first of the kinds of pairs: all.
  offset_ = rows_of("measured_offset/offset", 1).values.row(0).transpose();
  weight_ = rows_of("measured_offset/weight", 1).values.row(0).transpose();
}

FieldRows RunReadings::rows_of(const std::string& name, std::size_t leading) const {
  const Field* field = result_.find(name);
  if (field == nullptr || field->axes.size() < leading) return {};
  Index rows = 1;
  for (std::size_t axis = 0; axis < leading; ++axis) rows *= field->axes[axis].size();
  const std::vector<double>& values = field->doubles();
  return {Eigen::Map<const Matrix>(values.data(), rows, rows > 0 ? static_cast<Index>(values.size()) / rows : 0),
          field};
}

std::vector<HeadName> RunReadings::clearest(Index most) const {
  std::vector<HeadName> names;
  for (const Index row : clearest_heads(offset_, weight_, most)) names.push_back({row / heads_, row % heads_});
  return names;
}

double RunReadings::weight_at(const HeadName& head, double offset) const {
  const Index middle = result_.at("offset_trace/mean_weight").axis("offset").size() / 2;
  const FieldRows rows = rows_of("offset_trace/mean_weight", 3);
  return std::isnan(offset) ? not_defined : rows.values(row(head), middle + std::lround(offset));
}

double RunReadings::peak_lag(const std::string& name, std::size_t leading, Index row) const {
  const FieldRows rows = rows_of(name, leading);
  if (row < 0 || row >= rows.values.rows()) return not_defined;
  return peak_offset(rows.values.row(row).transpose(), lags);
}

double RunReadings::number(const std::string& name, Index row) const {
  const FieldRows rows = rows_of(name, 2);
  return row < 0 || row >= rows.values.rows() || rows.values.cols() == 0 ? not_defined : rows.values(row, 0);
}

}  // namespace headwave
