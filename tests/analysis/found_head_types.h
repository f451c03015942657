#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "../../analysis/attention/head_types.h"
#include "found_field.h"

namespace headwave {

/// What the analysis says of heads.
struct HeadTypes {
  explicit HeadTypes(std::vector<Field> found) : fields(std::move(found)) {
    const auto row_of = [](const Field& field) {
      return Eigen::Map<const Eigen::RowVectorXd>(field.doubles().data(), std::ssize(field.doubles())).eval();
    };
    const Field& kind = field_of(fields, "head_types/kind");
    const auto& flags = std::get<std::vector<std::uint8_t>>(kind.values);
    const auto rows = std::ssize(flags);
    for (const std::uint8_t flag : flags) types.push_back(kind.flag_meanings.at(flag));
    scores.resize(std::ssize(names), rows);
    for (std::size_t score = 0; score < names.size(); ++score)
      scores.row(static_cast<Index>(score)) = row_of(field_of(fields, std::string("head_types/") + names[score]));
    const Field& share = field_of(fields, "head_types/argmax_share");
    argmax_share = Eigen::Map<const Matrix>(share.doubles().data(), rows, share.axis("offset").size());
    positional_share = row_of(field_of(fields, "head_types/positional_share"));
    positional_offset = row_of(field_of(fields, "head_types/positional_offset"));
    const auto& sinks = std::get<std::vector<std::int64_t>>(field_of(fields, "head_types/sink_position").values);
    sink_position.assign(sinks.begin(), sinks.end());
  }
  [[nodiscard]] Vector of(HeadScore score) const { return scores.row(static_cast<Index>(score)).transpose(); }

  static constexpr std::array<const char*, head_scores + even_scores> names{
      "previous",           "next",         "duplicate",         "duplicate_baseline", "induction",
      "induction_baseline", "entropy",      "entropy_share",     "sink_first",         "sink_weight",
      "special_weight",     "learned_sink", "previous_baseline", "next_baseline",      "sink_weight_baseline"};

  std::vector<Field> fields;
  std::vector<std::string> types;
  Matrix scores, argmax_share;
  Vector positional_share, positional_offset;
  std::vector<Index> sink_position;
};

}  // namespace headwave
