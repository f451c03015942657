#include "page_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <variant>

#include "../../core/fields/head_name.h"
#include "../../data/files/packed_text.h"
#include "../drawing/field_values.h"
#include "../drawing/visible_text.h"
#include "../tables/head_findings.h"
#include "page_numbers.h"

namespace headwave {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_of_one = 2'500'000;  // bytes before packing; a larger array is narrowed, or has no room

/// Entries of a Field that the page keeps, by their places along each axis.
struct Part {
  const Field* field = nullptr;
  std::vector<std::vector<std::size_t>> kept;

  [[nodiscard]] std::size_t entries() const {
    std::size_t count = 1;
    for (const auto& places : kept) count *= places.size();
    return count;
  }
};

Part whole(const Field& field) {
  Part part{&field, {}};
  for (const Axis& axis : field.axes) {
    part.kept.emplace_back(static_cast<std::size_t>(axis.size()));
    std::iota(part.kept.back().begin(), part.kept.back().end(), std::size_t{0});
  }
  return part;
}

std::size_t bytes_of(const Part& part, Store store) {
  return part.entries() * (store == Store::exact ? 4 : store == Store::even ? 2 : 1);
}

/// Of maps the heads that look most strongly, in the order in which they stand.
void keep_strongest(const Result& result, std::vector<std::size_t>& places, const Axis& heads, std::size_t count) {
  std::vector<double> strength(places.size(), 0.0);
  const auto& names = std::get<std::vector<std::string>>(heads.values);
  for (const HeadFinding& found : head_findings(result))
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == head_name(found.name.layer, found.name.head) && !std::isnan(found.weight))
        strength[i] = found.weight;
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return strength[a] > strength[b]; });
  places.resize(std::min(places.size(), count));
  std::sort(places.begin(), places.end());
}

Part kept_part(const Result& result, const Field& field, const KeptArray& kept) {
  Part part = whole(field);
  for (std::size_t a = 0; a < field.axes.size(); ++a) {
    const Axis& axis = field.axes[a];
    std::vector<std::size_t>& places = part.kept[a];
    if (axis.name == kept.crop) places.resize(std::min(places.size(), kept.crop_to));
    if (axis.name == kept.narrow && bytes_of(part, kept.store) > most_of_one) {
      const std::vector<double> values = coordinates(field, axis.name);
      std::erase_if(places, [&](std::size_t place) { return std::abs(values[place]) > kept.narrow_to; });
    }
    if (axis.name == "map_head") {
      const std::size_t of_one = bytes_of(part, kept.store) / std::max<std::size_t>(1, places.size());
      keep_strongest(result, places, axis, most_of_one / std::max<std::size_t>(1, of_one));
    }
  }
  return part;
}

/// The entries that are kept, row-major.
std::vector<double> values_of(const Part& part) {
  const std::vector<double> all = as_doubles(*part.field);
  std::vector<double> values;
  values.reserve(part.entries());
  std::vector<std::size_t> place(part.kept.size(), 0);
  for (std::size_t left = part.entries(); left > 0; --left) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < place.size(); ++a)
      at = at * static_cast<std::size_t>(part.field->axes[a].size()) + part.kept[a][place[a]];
    values.push_back(all[at]);
    for (std::size_t a = place.size(); a-- > 0 && ++place[a] == part.kept[a].size();) place[a] = 0;
  }
  return values;
}

void put(std::string& bytes, std::uint32_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes += static_cast<char>(value >> 8U * i & 0xFFU);
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

struct Scaled {
  std::string bytes;
  std::vector<double> scales;  // one per slice
};

Scaled scaled_bytes(const std::vector<double>& values, std::size_t slice, Store store) {
  Scaled scaled;
  for (std::size_t first = 0; first < values.size(); first += slice) {
    const auto end = std::min(first + slice, values.size());
    double scale = 0;
    for (std::size_t i = first; i < end; ++i)
      if (std::isfinite(values[i])) scale = std::max(scale, std::abs(values[i]));
    scaled.scales.push_back(rounded(scale));
    for (std::size_t i = first; i < end; ++i) {
      const double share = scale > 0 ? values[i] / scale : std::isnan(values[i]) ? values[i] : 0.0;
      if (store == Store::root)
        put(scaled.bytes, static_cast<std::uint32_t>(share > 0 ? std::lround(255 * std::sqrt(share)) : 0), 1);
      else
        put(scaled.bytes, static_cast<std::uint16_t>(std::isfinite(share) ? std::lround(32767 * share) : -32768), 2);
    }
  }
  return scaled;
}

Axis part_of(const Axis& axis, const std::vector<std::size_t>& places) {
  Axis part{axis.name, axis.unit, axis.long_name, {}};
  std::visit(
      [&](const auto& values) {
        std::decay_t<decltype(values)> kept;
        for (const std::size_t place : places) kept.push_back(values[place]);
        part.values = std::move(kept);
      },
      axis.values);
  return part;
}

const char* name_of(Store store) {
  return store == Store::exact ? "exact" : store == Store::even ? "even" : "root";
}

}  // namespace

ordered_json axis_json(const Axis& axis) {
  ordered_json json{{"name", axis.name}, {"unit", axis.unit}, {"long_name", visible_text(axis.long_name)}};
  if (const auto* texts = std::get_if<std::vector<std::string>>(&axis.values)) {
    for (const std::string& text : *texts) json["values"].push_back(visible_text(text));
  } else if (const auto* whole_numbers = std::get_if<std::vector<std::int64_t>>(&axis.values)) {
    json["values"] = *whole_numbers;
  } else {
    for (const double value : std::get<std::vector<double>>(axis.values)) json["values"].push_back(number_json(value));
  }
  return json;
}

PageArrays page_arrays(const Result& result, std::size_t most) {
  PageArrays page{ordered_json::object(), {}, {}};
  std::size_t used = 0;
  for (const KeptArray& kept : kept_arrays()) {
    const Field* field = result.find(kept.field);
    if (field == nullptr || field->axes.empty() || field->size() == 0) continue;
    field->check_shape();
    const Part part = kept_part(result, *field, kept);
    std::string block;
    std::vector<double> scales;
    std::size_t slice = 1;
    for (std::size_t a = part.kept.size() - std::min(kept.slice, part.kept.size()); a < part.kept.size(); ++a)
      slice *= part.kept[a].size();
    if (part.entries() > 0 && bytes_of(part, kept.store) <= most_of_one) {
      const std::vector<double> values = values_of(part);
      Scaled scaled =
          kept.store == Store::exact ? Scaled{exact_bytes(values), {}} : scaled_bytes(values, slice, kept.store);
      block = packed_text(scaled.bytes);
      scales = std::move(scaled.scales);
    }
    if (block.empty() || used + block.size() > most) {
      page.left_out.emplace_back(kept.field);
      continue;
    }
    used += block.size();
    ordered_json axes = ordered_json::array();
    for (std::size_t a = 0; a < part.kept.size(); ++a) axes.push_back(axis_json(part_of(field->axes[a], part.kept[a])));
    page.said[kept.field] = {{"long_name", visible_text(field->long_name)},
                             {"unit", field->unit},
                             {"axes", axes},
                             {"whole", part.entries() == static_cast<std::size_t>(field->size())},
                             {"store", name_of(kept.store)},
                             {"slice", slice},
                             {"scales", scales},
                             {"notes", notes_json(*field)},
                             {"block", page.blocks.size()}};
    page.blocks.push_back(std::move(block));
  }
  return page;
}

}  // namespace headwave
