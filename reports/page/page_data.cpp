#include "page_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../../core/fields/measures.h"
#include "../../data/files/packed_text.h"
#include "../drawing/visible_text.h"
#include "../tables/head_sentence.h"
#include "../tables/head_table.h"

namespace headwave {

using nlohmann::ordered_json;

double rounded(double number) {
  return std::strtod(fmt::format("{:.7g}", number).c_str(), nullptr);
}

ordered_json number_json(double number) {
  return std::isfinite(number) ? ordered_json(rounded(number)) : ordered_json();
}

std::string remark_text(const Attribute& remark) {
  if (const auto* text = std::get_if<std::string>(&remark)) return visible_text(*text);
  if (const auto* number = std::get_if<double>(&remark)) return fmt::format("{}", *number);
  if (const auto* count = std::get_if<std::int64_t>(&remark)) return fmt::format("{}", *count);
  return fmt::format("{}", fmt::join(std::get<std::vector<double>>(remark), ", "));
}

namespace {

/// The values of a Field or an Axis as a list.
template <class Values>
ordered_json values_json(const Values& any) {
  ordered_json list = ordered_json::array();
  std::visit(
      [&](const auto& values) {
        using Value = std::decay_t<decltype(values[0])>;
        for (const Value& value : values)
          if constexpr (std::is_same_v<Value, double>)
            list.push_back(number_json(value));
          else if constexpr (std::is_same_v<Value, std::string>)
            list.push_back(visible_text(value));
          else
            list.push_back(value);
      },
      any);
  return list;
}

using Places = std::vector<std::size_t>;

/// A Field reduced to some places of an axis.
Field taken(const Field& field, std::size_t axis, const Places& places) {
  const auto size = static_cast<std::size_t>(field.axes[axis].size());
  const auto at_places = [&](const auto& values, std::size_t inner) {
    std::decay_t<decltype(values)> kept;
    for (auto first = values.begin(); first != values.end(); first += static_cast<std::ptrdiff_t>(size * inner))
      for (const std::size_t place : places) {
        const auto from = first + static_cast<std::ptrdiff_t>(place * inner);
        kept.insert(kept.end(), from, from + static_cast<std::ptrdiff_t>(inner));
      }
    return kept;
  };
  std::size_t inner = 1;
  for (std::size_t a = axis + 1; a < field.axes.size(); ++a) inner *= static_cast<std::size_t>(field.axes[a].size());
  Field part = field;
  std::visit([&](const auto& values) { part.axes[axis].values = at_places(values, 1); }, field.axes[axis].values);
  std::visit([&](const auto& values) { part.values = at_places(values, inner); }, field.values);
  return part;
}

constexpr Index most_parts = 8;

/// The axis beside layer and head; the number of axes if there is none; nothing if the Field is not of heads.
std::optional<std::size_t> part_axis(const Field& field) {
  std::size_t layer = field.axes.size(), head = layer, part = layer;
  for (std::size_t a = 0; a < field.axes.size(); ++a) {
    const Axis& axis = field.axes[a];
    if (axis.name == "layer")
      layer = a;
    else if (axis.name == "head")
      head = a;
    else if (part < field.axes.size() || axis.size() > most_parts || axis.name == "document")
      return std::nullopt;
    else
      part = a;
  }
  return layer < head && head < field.axes.size() ? std::optional(part) : std::nullopt;
}

/// "flag": one of a few words; "text"; "offset": tokens, where 0 is a place like any other; "number".
const char* kind_of(const Field& field) {
  if (!field.flag_meanings.empty()) return "flag";
  if (std::holds_alternative<std::vector<std::string>>(field.values)) return "text";
  return field.unit == "token" && field.quantity().find("position") == std::string::npos ? "offset" : "number";
}

std::string part_label(const Axis& axis) {
  const ordered_json value = values_json(axis.values)[0];
  return value.is_string() ? value.get<std::string>() : fmt::format("{} {}", axis.name, value.get<double>());
}

ordered_json measure_json(const Field& field, const std::string& part) {
  ordered_json measure{{"name", field.name},
                       {"part", part},
                       {"long_name", visible_text(field.long_name)},
                       {"unit", field.unit},
                       {"kind", kind_of(field)}};
  for (const std::string& meaning : field.flag_meanings) measure["meanings"].push_back(visible_text(meaning));
  if (const std::string why = attribute_text(field.attributes, "undefined"); !why.empty())
    measure["undefined"] = visible_text(why);
  measure["values"] = values_json(field.values);
  return measure;
}

}  // namespace

PageMeasures page_measures(const Result& result) {
  PageMeasures page;
  const auto add = [&page](const Field& field) {
    const auto axis = part_axis(field);
    if (!axis) return;
    field.check_shape();
    const ordered_json layers = values_json(field.axis("layer").values), heads = values_json(field.axis("head").values);
    if (page.layers.empty()) {
      page.layers = layers;
      page.heads = heads;
    }
    if (layers != page.layers || heads != page.heads) return;
    if (*axis == field.axes.size()) page.measures.push_back(measure_json(field, ""));
    for (Index part = 0; *axis < field.axes.size() && part < field.axes[*axis].size(); ++part) {
      const Field one = taken(field, *axis, {static_cast<std::size_t>(part)});
      page.measures.push_back(measure_json(one, part_label(one.axes[*axis])));
    }
  };
  for (const Field& field : result.fields) add(field);
  for (const std::optional<Field>& looks : {largest_part_field(result), looks_field(result)})
    if (looks) add(*looks);
  return page;
}

namespace {

constexpr std::size_t most_of_one = 2'500'000;  // bytes before packing; a larger array is reduced or left out

/// Arrays that the page's views draw, the most important first.
constexpr const char* kept_arrays[]{"head_account/measured_profile",
                                    "head_account/dealt_profile",
                                    "comparison/first_profile",
                                    "comparison/second_profile",
                                    trace_field,
                                    "offset_trace/null_weight",
                                    "score_sources/position_query",
                                    "score_sources/position_key",
                                    "score_sources/content_query",
                                    "score_sources/content_key",
                                    "word_atlas/profile",
                                    "position_atlas/kernel",
                                    "rotary_wave/kernel",
                                    "attention_map/weight",
                                    "attention_map/largest",
                                    "strongest_pairs/weight",
                                    "strongest_pairs/document",
                                    "strongest_pairs/query",
                                    "strongest_pairs/key",
                                    "strongest_pairs/query_token",
                                    "strongest_pairs/key_token"};
constexpr double farthest_kept = 128;  // tokens; for a trace_field that is too large

bool is_text(const Field& field) {
  return std::holds_alternative<std::vector<std::string>>(field.values);
}

/// A Field of texts as JSON.
std::string text_bytes(const Field& field) {
  ordered_json texts = ordered_json::array();
  for (const std::string& text : std::get<std::vector<std::string>>(field.values))
    texts.push_back(shortened(visible_text(text), longest_token));
  return texts.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::size_t bytes_of(const Field& field) {
  return is_text(field) ? text_bytes(field).size() : 4 * static_cast<std::size_t>(field.size());
}

/// The places of an axis that the page keeps: of maps those of the strongest heads, as many as fit.
Places kept_places(const Result& result, const Field& field, const Axis& along) {
  Places places;
  if (along.name == "map_head") {
    std::vector<HeadName> names;
    for (const std::string& name : labels_of(field, along.name)) names.push_back(parse_head_name(name));
    places = table_order(result, names);
    const std::size_t of_one = std::max<std::size_t>(1, bytes_of(field) / std::max<std::size_t>(1, names.size()));
    places.resize(std::min(places.size(), most_of_one / of_one));
    std::ranges::sort(places);
    return places;
  }
  const bool near = field.name == trace_field && along.name == "offset" && bytes_of(field) > most_of_one;
  const std::vector<double> offsets = near ? coordinates(field, along.name) : std::vector<double>();
  for (std::size_t i = 0; i < static_cast<std::size_t>(along.size()); ++i)
    if (!near || std::abs(offsets[i]) <= farthest_kept) places.push_back(i);
  return places;
}

std::string exact_bytes(const std::vector<double>& values) {
  std::string bytes(4 * values.size(), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<float>(values[i]);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    for (std::size_t k = 0; k < 4; ++k) bytes[k * values.size() + i] = static_cast<char>(bits >> 8U * k & 0xFFU);
  }
  return bytes;
}

/// The packed values of a Field, and their description.
std::pair<std::string, ordered_json> packed_array(const Field& field) {
  ordered_json axes = ordered_json::array(), notes = ordered_json::object();
  for (const Axis& axis : field.axes) axes.push_back({{"name", axis.name}, {"values", values_json(axis.values)}});
  for (const auto& [name, remark] : field.attributes) notes[visible_text(name)] = remark_text(remark);
  return {packed_text(is_text(field) ? text_bytes(field) : exact_bytes(as_doubles(field))),
          {{"axes", axes}, {"text", is_text(field)}, {"notes", notes}}};
}

}  // namespace

PageArrays page_arrays(const Result& result, std::size_t most) {
  PageArrays page{ordered_json::object(), {}, {}};
  std::size_t used = 0;
  for (const char* name : kept_arrays) {
    const Field* field = result.find(name);
    if (field == nullptr || field->axes.empty() || field->size() == 0) continue;
    field->check_shape();
    Field part = *field;
    for (std::size_t a = 0; a < part.axes.size(); ++a)
      if (const Places places = kept_places(result, part, part.axes[a]); std::ssize(places) < part.axes[a].size())
        part = taken(part, a, places);
    std::pair<std::string, ordered_json> packed;
    if (part.size() > 0 && bytes_of(part) <= most_of_one) packed = packed_array(part);
    if (packed.first.empty() || used + packed.first.size() > most) {
      page.left_out.emplace_back(name);
      continue;
    }
    used += packed.first.size();
    packed.second["whole"] = part.size() == field->size();
    packed.second["block"] = page.blocks.size();
    page.said[name] = std::move(packed.second);
    page.blocks.push_back(std::move(packed.first));
  }
  return page;
}

}  // namespace headwave
