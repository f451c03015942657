#include "head_sentence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"
#include "head_composition.h"

namespace headwave {

namespace {

const std::string said_verdict = "head_account/verdict", said_strength = "head_account/strength",
                  said_part = "head_account/part", said_offset = "head_account/measured_offset",
                  said_profile = "head_account/measured_profile", said_by_position = "head_account/position_strength",
                  said_null = "head_account/null_strength", said_overlap = "head_account/overlap";
constexpr double weak_below = 0.05;  // strength: a profile as good as uniform (docs/account.md)

std::string number_word(Index number) {
  static const std::array<const char*, 11> words{"no",  "one",   "two",   "three", "four", "five",
                                                 "six", "seven", "eight", "nine",  "ten"};
  return number < std::ssize(words) ? words[static_cast<std::size_t>(number)] : fmt::format("{}", number);
}

std::string tokens_text(double tokens) {
  const auto count = static_cast<Index>(std::abs(tokens));
  return fmt::format("{} token{}", number_word(count), count == 1 ? "" : "s");
}

std::string where_text(double offset) {
  if (!std::isfinite(offset)) return "looks no nearer than the end of the search";
  if (offset == 0) return "looks at itself";
  return fmt::format("looks {} {}", tokens_text(offset), offset < 0 ? "back" : "ahead");
}

/// @param parts  by position, by self, by context
std::string why_text(const std::string& verdict, const std::array<double, 3>& parts) {
  const auto percent = [](double part) { return fmt::format("{:.0f} %", 100 * part); };
  if (verdict == "mixed")
    return fmt::format("mixed, {} by position, {} by self and {} by context of what can be explained",
                       percent(parts[0]), percent(parts[1]), percent(parts[2]));
  const double part = parts[verdict == "positional" ? 0 : verdict == "self" ? 1 : 2];
  return fmt::format("{}, {} of what can be explained", verdict, percent(part));
}

/// "1 back", or with the offsets around the largest weight that get half of it or more: "3 back, -4 to -1"; "broadly, ..."
/// if these are more than half of all.
/// @param looks  of the largest weight alone
std::string with_span(const std::string& looks, std::span<const double> profile, const std::vector<Index>& offsets,
                      double offset) {
  if (!std::isfinite(offset)) return looks;
  const auto peak = std::ranges::find(offsets, static_cast<Index>(offset));
  if (peak == offsets.end()) return looks;
  auto first = static_cast<std::size_t>(peak - offsets.begin()), last = first;
  const double half = 0.5 * profile[first];
  while (first > 0 && profile[first - 1] >= half) --first;
  while (last + 1 < profile.size() && profile[last + 1] >= half) ++last;
  if (first == last) return looks;
  const auto text = [&](std::size_t at) { return signed_tokens(static_cast<double>(offsets[at])); };
  return fmt::format("{}, {} to {}", 2 * (last - first) > profile.size() ? "broadly" : looks, text(first), text(last));
}

/// "1 back", "3 ahead"
std::string looks_text(const std::string& verdict, double offset) {
  if (verdict == "no preference") return "no preferred offset";
  return std::isfinite(offset) ? tokens_away(offset) : "at the search's end";
}

/// "positional 94 %", "position 68, context 29 %": of a mixed head the two largest parts, if they matter; what is
/// missing to 100 is the third.
std::string why_cell(const std::string& verdict, const std::array<double, 3>& parts) {
  constexpr double matters = 0.1;
  if (verdict == "no preference") return {};
  if (verdict == "undefined") return "too few documents";
  const auto percent = [](const char* name, double part) { return fmt::format("{} {:.0f}", name, 100 * part); };
  if (verdict == "positional") return percent("positional", parts[0]) + " %";
  if (verdict == "self") return percent("self", parts[1]) + " %";
  if (verdict == "context") return percent("context", parts[2]) + " %";
  std::string text;
  for (const auto& [name, part] : {std::pair("position", parts[0]), {"self", parts[1]}, {"context", parts[2]}})
    if (part >= matters && part > std::ranges::min(parts)) text += (text.empty() ? "" : ", ") + percent(name, part);
  return text + " %";
}

/// Why a head has no preference though its profile is not weak, with the numbers that were compared: "that other
/// documents share (strength 0.86)" or "beyond chance (strength 0.86; by position 0.03, with places in random order 0.04)".
std::string no_preference_text(const Result& result, std::size_t head, double strength) {
  const Field* overlap = result.find(said_overlap);
  if (overlap != nullptr && has_axis(*overlap, "match")) {
    const std::vector<double>& all = doubles_of(result, said_overlap, {"match", "layer", "head"});
    const std::size_t matches = labels_of(*overlap, "match").size();
    const std::size_t at = place_of(*overlap, "match", "replicated") * (all.size() / matches) + head;
    const double least = attribute_number(result.at(said_verdict).attributes, "least_replicated");
    if (!std::isnan(least) && !(all[at] >= least))
      return fmt::format(" that other documents share (strength {:.2f})", strength);
  }
  const std::string tail = fmt::format(" beyond chance (strength {:.2f}", strength);
  if (result.find(said_by_position) == nullptr || result.find(said_null) == nullptr) return tail + ")";
  const double by_position = doubles_of(result, said_by_position, {"layer", "head"})[head],
               null = doubles_of(result, said_null, {"layer", "head"})[head];
  if (!std::isfinite(by_position) || !std::isfinite(null)) return tail + ")";
  return fmt::format("{}; by position {:.2f}, with places in random order {:.2f})", tail, by_position, null);
}

/// The sentences of heads whose whole attention is accounted for.
std::vector<HeadSentence> composed_sentences(const std::vector<HeadComposition>& heads) {
  std::vector<HeadSentence> sentences;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadComposition& head = heads[i];
    sentences.push_back({.name = head.name,
                         .bits = head.bits,
                         .strength = not_defined,
                         .offset = head.offset,
                         .text = visible_text(head.text),
                         .looks = head.looks,
                         .why = head.why,
                         .follows = head.follows});
  }
  return sentences;
}

}  // namespace

std::vector<HeadSentence> head_sentences(const Result& result) {
  if (const std::vector<HeadComposition> heads = head_compositions(result); !heads.empty()) {
    require_fitting(result, head_sentence_fields());
    return composed_sentences(heads);
  }
  for (const std::string& name : {said_verdict, said_strength, said_part, said_offset})
    if (result.find(name) == nullptr) return {};
  require_fitting(result, head_sentence_fields());
  const FieldHeads heads = field_heads(result.at(said_verdict));
  const auto verdicts = meanings_of(result, said_verdict, {"layer", "head"});
  const auto& strength = doubles_of(result, said_strength, {"layer", "head"});
  const auto& part = doubles_of(result, said_part, {"cause", "layer", "head"});
  const auto& offset = doubles_of(result, said_offset, {"layer", "head"});
  if (part.size() != 3 * heads.size())
    throw ShapeError(
        fmt::format("{}: expected 3 parts of each of {} heads, found {} in all", said_part, heads.size(), part.size()));
  const bool has_profile = result.find(said_profile) != nullptr;
  const std::vector<Index> offsets =
      has_profile ? whole_coordinates(result.at(said_profile), "offset") : std::vector<Index>();
  std::vector<HeadSentence> sentences;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string verdict = verdicts[i] == "unknown" ? "undefined" : verdicts[i];
    HeadSentence& sentence = sentences.emplace_back(
        HeadSentence{.name = heads[i], .bits = not_defined, .strength = strength[i], .offset = not_defined});
    if (verdict != "no preference") sentence.offset = offset[i];
    const std::array parts{part[i], part[heads.size() + i], part[2 * heads.size() + i]};
    sentence.looks = looks_text(verdict, offset[i]);
    if (has_profile && verdict != "no preference")
      sentence.looks = with_span(
          sentence.looks, slice_of(doubles_of(result, said_profile, {"layer", "head", "offset"}), i, offsets.size()),
          offsets, offset[i]);
    sentence.why = why_cell(verdict, parts);
    if (verdict == "undefined") continue;
    std::string text = head_name(heads[i].layer, heads[i].head) + " ";
    if (verdict == "no preference")
      text += "shows no preference" + (strength[i] < weak_below ? fmt::format(" (strength {:.2f})", strength[i])
                                                                : no_preference_text(result, i, strength[i]));
    else
      text += fmt::format("{} (strength {:.2f}): {}", where_text(offset[i]), strength[i], why_text(verdict, parts));
    sentence.text = visible_text(text);
  }
  return sentences;
}

const std::vector<std::string>& head_sentence_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{said_verdict, said_strength,    said_part, said_offset,
                                 said_profile, said_by_position, said_null, said_overlap};
    const std::vector<std::string>& more = head_composition_fields();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return names;
}

}  // namespace headwave
