#include "measures.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "../drawing/visible_text.h"
#include "page_numbers.h"

namespace headwave {

namespace {

using nlohmann::ordered_json;

constexpr Index most_parts = 8;

/// Where in a Field the numbers of heads lie: entry (part, layer, head) at part * parts + layer * layers + head * heads.
struct HeadPlaces {
  const Axis* part = nullptr;  ///< null: a single number for each head
  Index step_of_part = 0, step_of_layer = 0, step_of_head = 0;
};

std::optional<HeadPlaces> places_in(const Field& field) {
  HeadPlaces places;
  Index step = 1;
  for (auto axis = field.axes.rbegin(); axis != field.axes.rend(); ++axis) {
    if (axis->name == "layer") {
      places.step_of_layer = step;
    } else if (axis->name == "head") {
      places.step_of_head = step;
    } else if (places.part != nullptr || axis->size() > most_parts || axis->name == "document") {
      return std::nullopt;
    } else {
      places.part = &*axis;
      places.step_of_part = step;
    }
    step *= axis->size();
  }
  if (places.step_of_layer == 0 || places.step_of_head == 0) return std::nullopt;
  return places;
}

std::string part_label(const Axis& axis, Index part) {
  const auto at = static_cast<std::size_t>(part);
  if (const auto* texts = std::get_if<std::vector<std::string>>(&axis.values)) return visible_text((*texts)[at]);
  if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&axis.values))
    return fmt::format("{} {}", axis.name, (*whole)[at]);
  return fmt::format("{} {:g}", axis.name, std::get<std::vector<double>>(axis.values)[at]);
}

ordered_json entry_json(const Field& field, Index at) {
  return std::visit(
      [&](const auto& values) -> ordered_json {
        using Value = std::decay_t<decltype(values[0])>;
        const Value& value = values[static_cast<std::size_t>(at)];
        if constexpr (std::is_same_v<Value, double>)
          return number_json(value);
        else if constexpr (std::is_same_v<Value, std::string>)
          return visible_text(value);
        else
          return value;
      },
      field.values);
}

/// "flag": one of a few words; "offset": tokens, where 0 is a place like others; "number".
const char* kind_of(const Field& field) {
  if (!field.flag_meanings.empty()) return "flag";
  return field.unit == "token" && field.quantity().find("position") == std::string::npos ? "offset" : "number";
}

ordered_json measure_json(const Field& field, const HeadPlaces& places, Index part) {
  ordered_json measure{{"name", field.name},
                       {"part", places.part ? part_label(*places.part, part) : ""},
                       {"long_name", visible_text(field.long_name)},
                       {"unit", field.unit},
                       {"kind", kind_of(field)}};
  if (!field.flag_meanings.empty())
    for (const std::string& meaning : field.flag_meanings) measure["meanings"].push_back(visible_text(meaning));
  if (const std::string why = attribute_text(field.attributes, "undefined"); !why.empty())
    measure["undefined"] = visible_text(why);
  ordered_json values = ordered_json::array();
  for (Index layer = 0; layer < field.axis("layer").size(); ++layer)
    for (Index head = 0; head < field.axis("head").size(); ++head)
      values.push_back(
          entry_json(field, part * places.step_of_part + layer * places.step_of_layer + head * places.step_of_head));
  measure["values"] = std::move(values);
  return measure;
}

ordered_json whole_json(const Axis& axis) {
  ordered_json numbers = ordered_json::array();
  for (const std::int64_t number : std::get<std::vector<std::int64_t>>(axis.values)) numbers.push_back(number);
  return numbers;
}

}  // namespace

PageMeasures page_measures(const Result& result) {
  PageMeasures page;
  for (const Field& field : result.fields) {
    const auto places = places_in(field);
    if (!places || std::holds_alternative<std::vector<std::string>>(field.values)) continue;
    field.check_shape();
    const Axis &layer = field.axis("layer"), &head = field.axis("head");
    if (!std::holds_alternative<std::vector<std::int64_t>>(layer.values) ||
        !std::holds_alternative<std::vector<std::int64_t>>(head.values))
      continue;
    if (page.layers.empty()) {
      page.layers = whole_json(layer);
      page.heads = whole_json(head);
    }
    if (whole_json(layer) != page.layers || whole_json(head) != page.heads) continue;
    for (Index part = 0; part < (places->part ? places->part->size() : 1); ++part)
      page.measures.push_back(measure_json(field, *places, part));
  }
  return page;
}

}  // namespace headwave
