#include "page_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../../data/files/packed_text.h"
#include "../drawing/visible_text.h"
#include "../tables/head_findings.h"

namespace headwave {

using nlohmann::ordered_json;

namespace {

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
  return std::visit(
      [&](const auto& values) {
        const auto& value = values[static_cast<std::size_t>(part)];
        if constexpr (std::is_convertible_v<decltype(value), std::string>)
          return visible_text(value);
        else
          return fmt::format("{} {}", axis.name, value);
      },
      axis.values);
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

/// "flag": one of a few words; "text"; "offset": tokens, where 0 is a place like others; "number".
const char* kind_of(const Field& field) {
  if (!field.flag_meanings.empty()) return "flag";
  if (std::holds_alternative<std::vector<std::string>>(field.values)) return "text";
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

constexpr std::size_t most_of_one = 2'500'000;  // bytes before packing; a larger array is reduced, or has no room

/// How the page stores an array's numbers.
enum class Store {
  exact,  ///< float32
  even,   ///< int16: even steps up to the largest magnitude in a slice; -32768: undefined
  root,   ///< bytes: the square root of the share of the slice's largest number, fine steps for small numbers
};

/// Which entries of an axis the page keeps.
struct Crop {
  enum class Rule {
    all,        ///< every entry
    first,      ///< the first ones
    near,       ///< coordinates up to `most`, if the array is too large
    strongest,  ///< those with the most energy, every head counted alike
  };
  Rule rule = Rule::all;
  const char* axis = "";
  double most = 0;
};

/// Arrays of one group that the page's views draw, stored alike.
struct KeptArrays {
  const char* group;
  std::vector<const char*> names;
  Store store = Store::exact;
  std::size_t slice = 1;  ///< how many of the last axes share one scale
  Crop crop = {};
};

/// The most important first.
const std::vector<KeptArrays>& kept_arrays() {
  using enum Crop::Rule;
  using enum Store;
  static const std::vector<KeptArrays> kept{
      {"head_account", {"measured_profile", "dealt_profile"}},
      {"comparison", {"first_profile", "second_profile"}},
      {"checkpoints_measured_offset", {"weight", "chance", "offset"}},
      {"checkpoints_head_account", {"part"}},
      {"offset_trace", {"mean_weight"}, exact, 1, {near, "offset", 128}},
      {"offset_trace", {"null_weight"}, even},
      {"score_sources", {"position_query", "position_key", "content_query", "content_key"}},
      {"offset_by_query", {"bin_first", "bin_last", "band_last", "band_share", "peak_offset", "peak_source"}},
      {"offset_by_query", {"profile"}, even},
      {"word_atlas", {"profile"}},
      {"position_atlas", {"kernel"}, even},
      {"rotary_wave", {"kernel"}, even},
      {"rotary_wave", {"frequency", "coefficient_real", "coefficient_imaginary", "pair_offset"}},
      {"attention_map", {"weight"}},
      {"attention_map", {"largest", "mean"}, root, 2},
      {"phase_delay", {"by_frequency", "cross_real", "cross_imaginary"}, even},
      {"delay_spectrum", {"by_frequency", "cross_real", "cross_imaginary"}, even},
      {"redefined", {"query", "key"}, even, 1, {first, "wave", 2}},
      {"phase_spectrum", {"query", "key"}, root, 2, {strongest, "frequency", 96}},
  };
  return kept;
}

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

/// Keeps the places with the largest score, in the order in which they stand.
void keep_largest(std::vector<std::size_t>& places, const std::vector<double>& score, std::size_t count) {
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return score[a] > score[b]; });
  places.resize(std::min(places.size(), count));
  std::sort(places.begin(), places.end());
}

/// [map_head]  largest mean weight of the head.
std::vector<double> head_weights(const Result& result, const Axis& heads) {
  const auto& names = std::get<std::vector<std::string>>(heads.values);
  std::vector<double> weights(names.size(), 0.0);
  for (const HeadFinding& found : head_findings(result))
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == head_name(found.name.layer, found.name.head) && !std::isnan(found.weight))
        weights[i] = found.weight;
  return weights;
}

/// [entry of the axis]  its share of the sum of squares, summed over what stands before the axis.
std::vector<double> energies(const Field& field, std::size_t axis) {
  const std::vector<double> values = as_doubles(field);
  const auto size = static_cast<std::size_t>(field.axes[axis].size());
  std::size_t inner = 1;
  for (std::size_t a = axis + 1; a < field.axes.size(); ++a) inner *= static_cast<std::size_t>(field.axes[a].size());
  std::vector<double> shares(size, 0.0);
  for (std::size_t first = 0; first < values.size(); first += size * inner) {
    std::vector<double> energy(size, 0.0);
    for (std::size_t i = 0; i < size * inner; ++i)
      if (std::isfinite(values[first + i])) energy[i / inner] += values[first + i] * values[first + i];
    const double all = std::accumulate(energy.begin(), energy.end(), 0.0);
    for (std::size_t i = 0; i < size && all > 0; ++i) shares[i] += energy[i] / all;
  }
  return shares;
}

void crop(Part& part, std::size_t axis, const KeptArrays& kept) {
  const Field& field = *part.field;
  std::vector<std::size_t>& places = part.kept[axis];
  const auto most = static_cast<std::size_t>(kept.crop.most);
  switch (kept.crop.rule) {
    case Crop::Rule::all:
      return;
    case Crop::Rule::first:
      places.resize(std::min(places.size(), most));
      return;
    case Crop::Rule::strongest:
      if (places.size() > most) keep_largest(places, energies(field, axis), most);
      return;
    case Crop::Rule::near:
      if (bytes_of(part, kept.store) <= most_of_one) return;
      const std::vector<double> values = coordinates(field, field.axes[axis].name);
      std::erase_if(places, [&](std::size_t place) { return std::abs(values[place]) > kept.crop.most; });
  }
}

Part kept_part(const Result& result, const Field& field, const KeptArrays& kept) {
  Part part = whole(field);
  for (std::size_t a = 0; a < field.axes.size(); ++a) {
    if (field.axes[a].name == kept.crop.axis) crop(part, a, kept);
    if (field.axes[a].name == "map_head") {
      const std::size_t of_one = bytes_of(part, kept.store) / std::max<std::size_t>(1, part.kept[a].size());
      keep_largest(part.kept[a], head_weights(result, field.axes[a]), most_of_one / std::max<std::size_t>(1, of_one));
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

PageMeasures page_measures(const Result& result) {
  PageMeasures page;
  for (const Field& field : result.fields) {
    const auto places = places_in(field);
    if (!places) continue;
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

namespace {

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

ordered_json notes_json(const Field& field) {
  ordered_json notes = ordered_json::object();
  for (const auto& [name, remark] : field.attributes) notes[visible_text(name)] = remark_text(remark);
  return notes;
}

/// A Field's numbers, packed, and their description.
struct PackedArray {
  std::string block;
  ordered_json said;
};

PackedArray packed_array(const Part& part, const KeptArrays& kept) {
  std::size_t slice = 1;
  for (std::size_t a = part.kept.size() - std::min(kept.slice, part.kept.size()); a < part.kept.size(); ++a)
    slice *= part.kept[a].size();
  const std::vector<double> values = values_of(part);
  const Scaled scaled =
      kept.store == Store::exact ? Scaled{exact_bytes(values), {}} : scaled_bytes(values, slice, kept.store);
  ordered_json axes = ordered_json::array();
  for (std::size_t a = 0; a < part.kept.size(); ++a)
    axes.push_back(axis_json(part_of(part.field->axes[a], part.kept[a])));
  return {packed_text(scaled.bytes),
          {{"axes", axes},
           {"whole", part.entries() == static_cast<std::size_t>(part.field->size())},
           {"store", name_of(kept.store)},
           {"slice", slice},
           {"scales", scaled.scales},
           {"notes", notes_json(*part.field)}}};
}

}  // namespace

PageArrays page_arrays(const Result& result, std::size_t most) {
  PageArrays page{ordered_json::object(), {}, {}};
  std::size_t used = 0;
  const auto keep = [&](const std::string& name, const KeptArrays& kept) {
    const Field* field = result.find(name);
    if (field == nullptr || field->axes.empty() || field->size() == 0) return;
    field->check_shape();
    const Part part = kept_part(result, *field, kept);
    PackedArray packed;
    if (part.entries() > 0 && bytes_of(part, kept.store) <= most_of_one) packed = packed_array(part, kept);
    if (packed.block.empty() || used + packed.block.size() > most) {
      page.left_out.push_back(name);
      return;
    }
    used += packed.block.size();
    packed.said["block"] = page.blocks.size();
    page.said[name] = std::move(packed.said);
    page.blocks.push_back(std::move(packed.block));
  };
  for (const KeptArrays& kept : kept_arrays())
    for (const char* name : kept.names) keep(fmt::format("{}/{}", kept.group, name), kept);
  return page;
}

}  // namespace headwave
