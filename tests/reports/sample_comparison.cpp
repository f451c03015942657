#include "sample_comparison.h"

#include <cmath>

#include "../../core/fields/fields.h"

namespace headwave::sample {

void add_comparison(Result& result, const Size& size) {
  constexpr Index near = 3;
  const auto heads = static_cast<std::size_t>(size.layers * size.heads);
  std::vector<double> first, second, lower, upper, profile, other, at(heads, -1);
  std::vector<std::uint8_t> verdict, changed;
  std::vector<std::int64_t> rank;
  std::vector<std::string> kinds(heads, "previous"), others = kinds;
  for (std::size_t measure = 0; measure < 3; ++measure)
    for (std::size_t row = 0; row < heads; ++row) {
      const double moved = row == 1 ? 2 : measure == 0 ? 0 : 0.01 * static_cast<double>(row % 5) - 0.02;
      const bool absent = row == 2 && measure == 0, sure = measure < 2 && !absent;
      first.push_back(measure == 0 ? -1 : 0.5);
      second.push_back(absent ? std::nan("") : first.back() + moved);
      lower.push_back(sure ? moved - 0.1 : std::nan(""));
      upper.push_back(sure ? moved + 0.1 : std::nan(""));
      verdict.push_back(absent ? 3 : measure == 2 ? 2 : row == 1 ? 1 : 0);
    }
  for (std::size_t row = 0; row < heads; ++row) {
    changed.push_back(row == 1 ? 1 : 0);
    rank.push_back(row == 1 ? 0 : row == 0 ? 1 : static_cast<std::int64_t>(row));
    for (Index t = -near; t <= near; ++t) {
      profile.push_back(t == -1 ? 0.6 : 0.05);
      other.push_back(t == (row == 1 ? 1 : -1) ? 0.6 : 0.05);
    }
  }
  others[1] = "next";
  const std::vector<Axis> grid{layer_axis(size.layers), head_axis(size.heads)};
  const auto with = [&](Axis axis, bool outermost) {
    std::vector<Axis> axes = grid;
    axes.insert(outermost ? axes.begin() : axes.end(), std::move(axis));
    return axes;
  };
  const std::vector<std::string> names{"offset", "profile", "entropy"};
  const std::vector<Axis> axes = with({"measure", "1", "measure", names}, true);
  const std::vector<Axis> words = with({"word", "1", "word", std::vector<std::string>{"kind"}}, true);
  const std::vector<Axis> offsets = with(offset_axis("near_offset", -near, near), false);
  Fields fields("comparison");
  fields.add("first", axes, "1 or token", "first", first).undefined("none");
  fields.add("second", axes, "1 or token", "second", second).undefined("none");
  fields.add("lower", axes, "1 or token", "lower", lower).undefined("none");
  fields.add("upper", axes, "1 or token", "upper", upper).undefined("none");
  fields.flags("verdict", axes, "verdict", verdict, {"within", "beyond", "no interval", "undefined"});
  fields.flags("changed", grid, "changed", changed, {"no", "yes"});
  fields.add("rank", grid, "1", "rank", rank);
  fields.add("profile_offset", grid, "token", "where", at);
  fields.add("first_word", words, "1", "first", kinds);
  fields.add("second_word", words, "1", "second", others);
  const Axis setting{"setting", "1", "setting", std::vector<std::string>{"interventions", "text: seed"}};
  const Axis which{"result", "1", "result", std::vector<std::string>{"first", "second"}};
  fields.add("set_to", {setting, which}, "1", "told", std::vector<std::string>{"none", "shuffled-words", "1", "2"});
  fields.add("first_profile", offsets, "1", "profile", profile);
  fields.add("second_profile", offsets, "1", "profile", other);
  fields.note_all("level", 0.05);
  append(result.fields, fields.taken());
  Fields change("change");
  for (std::size_t measure = 0; measure < names.size(); ++measure) {
    std::vector<double> difference;
    for (std::size_t i = measure * heads; i < (measure + 1) * heads; ++i) difference.push_back(second[i] - first[i]);
    change.add(names[measure], grid, measure == 0 ? "token" : "1", "second - first", difference).undefined("none");
  }
  append(result.fields, change.taken());
}

Result comparison_result(const Size& size) {
  Result result{"headwave: a against b", {}, {{"first", "a"}, {"second", "b"}}};
  add_comparison(result, size);
  return result;
}

}  // namespace headwave::sample
