#include "head_sentence.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/measures.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char *sink_mass_field = "attention_bits/sink_mass", *place_gain_field = "matched_content/gain",
                     *account_offset_field = "head_account/measured_offset";
constexpr double said_share = 0.2, listed_share = 0.1;                  // of a head's bits
constexpr std::size_t most_said = 2, most_listed = 3, most_raised = 3;  // parts in a cell: the table fits 100 columns
constexpr Index longest_looks = 41;                                     // letters of a cell
constexpr std::array plain_cells{"sink", "by place", "certain words", "what it asks for"};  // where names do not fit
constexpr double explains = 0.3;      // share of a part that a hypothesis must explain to name it
constexpr double false_share = 0.05;  // share of false ones among the heads that are said to copy
constexpr double hardly = 0.01;       // nat: a loss that changes by less hardly matters
constexpr double broad = 8;           // tokens
constexpr double widest_told = 0.5;   // widest interval of a share that is still mentioned
enum PartIndex : std::size_t { sink_part, position_part, word_part, match_part };

/// A word as it is shown; in quotes if it is only punctuation.
std::string named_word(const std::string& word) {
  const bool plain = std::ranges::any_of(word, [](unsigned char c) { return c >= 0x80 || std::isalnum(c) != 0; });
  return plain ? visible_text(word) : fmt::format("\"{}\"", visible_text(word));
}

/// A finding about one head, in words for a cell and for a sentence.
struct Clause {
  std::string cell, sentence;
};

/// Hypotheses of the match part, in the order of the Field's axis, whose first entry is "the word itself".
const std::array match_clauses{
    Clause{"the same word", "at its own word, here and wherever else it stands"},
    Clause{"after an earlier copy", "at what followed an earlier copy of its token (induction)"},
    Clause{"after the same word", "where the same word stands before as before itself"}};
const Clause chosen_place{"a place by its word", "at a place that the query's word chooses"};

constexpr std::array quarters{"first", "second", "third", "last"};

class Sentences {
 public:
  explicit Sentences(const Result& result)
      : heads_(field_heads(result.at(bits_field))),
        sink_(attribute_text(result.at(sink_mass_field).attributes, "keys", "special tokens")) {
    for (const std::string& name : head_sentence_fields()) {
      const Field* field = result.find(name);
      if (field == nullptr || field->group() == "head_account" || field->axes.empty()) continue;  // no axes: undefined
      (void)field_heads(*field);  // refuses Fields without heads
      if (const auto* texts = std::get_if<std::vector<std::string>>(&field->values))
        texts_[field->quantity()] = texts;
      else if (!name.starts_with(place_gain_field))
        numbers_[field->quantity()] = {as_doubles(*field), field->axes.front().name == "layer"};
      else
        numbers_["place_" + field->quantity()] = {head_doubles(result, name, "place"), true};
    }
  }

  [[nodiscard]] std::vector<HeadSentence> all() const {
    std::vector<HeadSentence> found;
    for (std::size_t head = 0; head < heads_.size(); ++head) found.push_back(of(head));
    return found;
  }

 private:
  /// @param entry  along the axis beside layer and head; NaN if there is none
  [[nodiscard]] double at(std::string_view quantity, std::size_t head, std::size_t entry = 0) const {
    const auto found = numbers_.find(quantity);
    if (found == numbers_.end()) return not_defined;
    const auto& [values, by_head] = found->second;
    const std::size_t entries = values.size() / heads_.size();
    return entry < entries ? values[by_head ? head * entries + entry : entry * heads_.size() + head] : not_defined;
  }
  /// Empty if there is none.
  [[nodiscard]] std::string word_of(std::string_view quantity, std::size_t head, std::size_t entry = 0) const {
    const auto found = texts_.find(quantity);
    if (found == texts_.end()) return {};
    const std::size_t entries = found->second->size() / heads_.size();
    return entry < entries ? (*found->second)[head * entries + entry] : std::string();
  }

  [[nodiscard]] HeadSentence of(std::size_t head) const {
    HeadSentence one{.name = heads_[head], .bits = at("bits", head)};
    for (std::size_t p = 0; p < part_names.size(); ++p) one.part[p] = at("part", head, p);
    if (one.part[position_part] >= said_share * one.bits) one.offset = at("place_offset", head);
    if (!std::isfinite(one.bits)) {
      one.looks = "undefined";
      return one;
    }
    const bool has_loss = std::isfinite(at("loss", head));
    one.effect = at(has_loss ? "loss" : "state", head);
    one.matters = at("q_value", head) <= matters_share;
    one.idle = has_loss ? at("loss_lower", head) > -hardly && at("loss_upper", head) < hardly
                        : one.effect <= at("state_placebo", head);
    one.writes = writes_cell(head);
    if (one.bits < close_to_uniform) {
      one.looks = "close to uniform";
      one.named = false;
      one.text = fmt::format("{} is close to uniform attention: {:.2f} bits{}",
                             head_name(one.name.layer, one.name.head), one.bits, effect_text(one, head));
      return one;
    }
    const double follow = at("follow", head);
    const Contradicted but = contradicted(one, head);
    if (std::isfinite(follow))
      one.follows = fmt::format("{}{:.2f}", but.by_swaps || but.by_moves ? "but " : "", follow);
    std::array<std::size_t, part_names.size()> order{sink_part, position_part, word_part, match_part};
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t p) { return one.part[p]; });
    std::vector<std::string> clauses, parts;
    for (const std::size_t p : order) {
      const double share = one.part[p] / one.bits;
      if (share >= listed_share && parts.size() < most_listed)
        parts.push_back(fmt::format("{} {:.0f}", part_names[p], 100 * share));
      if ((!(share >= said_share) && p != order.front()) || clauses.size() == most_said) continue;
      const Clause clause = clause_of(p, head);
      if (p == order.front()) one.named = clause.cell != plain_cells[p] || p == sink_part;
      clauses.push_back(clause.sentence);
      for (const std::string& cell : {clause.cell, std::string(plain_cells[p])}) {
        const std::string longer = one.looks + (one.looks.empty() ? "" : "; ") + cell;
        if (!one.looks.empty() && (cell.empty() || display_width(longer) > longest_looks)) continue;
        one.looks = longer;
        break;
      }
    }
    one.looks = shortened(one.looks, longest_looks);
    one.why = fmt::format("{} %", fmt::join(parts, ", "));
    one.text = sentence(one, clauses, but, head);
    return one;
  }

  /// Whether the head raises (1) or lowers (-1) the logits of the words that it attends to; 0: unknown.
  [[nodiscard]] int copies(std::size_t head) const {
    return !(at("copying_q_value", head) <= false_share) ? 0
           : at("copying", head) > 0                     ? 1
           : at("copying", head) < 0                     ? -1
                                                         : 0;
  }

  /// "copies: curse, bill"
  [[nodiscard]] std::string writes_cell(std::size_t head) const {
    std::vector<std::string> names;
    for (std::size_t rank = 0; rank < most_raised; ++rank)
      if (const std::string word = word_of("raised", head, rank); !word.empty()) names.push_back(named_word(word));
    const int copying = copies(head);
    std::string cell = copying > 0 ? "copies" : copying < 0 ? "lowers" : "";
    if (!names.empty()) cell += (cell.empty() ? "" : ": ") + fmt::format("{}", fmt::join(names, ", "));
    return cell;
  }

  /// "; it raises the logits of the words that it attends to (...)"; empty: unknown.
  [[nodiscard]] std::string writes_text(std::size_t head) const {
    std::vector<std::string> names;
    for (std::size_t rank = 0; rank < most_raised; ++rank)
      if (const std::string word = word_of("raised", head, rank); !word.empty())
        names.push_back(fmt::format("{} ({:+.2f})", named_word(word), at("raised_logit", head, rank)));
    const int copying = copies(head);
    if (copying == 0 && names.empty()) return {};
    std::string text = "; it ";
    if (copying != 0)
      text += fmt::format("{} the logits of the words that it attends to (copying {:+.2f} standard deviations)",
                          copying > 0 ? "raises" : "lowers", at("copying", head));
    if (!names.empty())
      text += fmt::format("{}raises most, on average over queries, the logits of {}", copying != 0 ? " and " : "",
                          fmt::join(names, ", "));
    return text;
  }

  /// "; without it the loss rises by 0.120 nats (...)"; empty: the head was not taken away.
  [[nodiscard]] std::string effect_text(const HeadSentence& one, std::size_t head) const {
    if (std::isnan(one.effect)) return {};
    const bool has_loss = std::isfinite(at("loss", head));
    const std::string changes =
        has_loss ? fmt::format("the loss {} by {:.3f} nats ({:+.3f} to {:+.3f}; a random change as large: {:+.3f})",
                               one.effect > 0 ? "rises" : "falls", std::abs(one.effect), at("loss_lower", head),
                               at("loss_upper", head), at("loss_placebo", head))
                 : fmt::format("the final state moves by {:.1f} % (a random change as large: {:.1f} %)",
                               100 * one.effect, 100 * at("state_placebo", head));
    const char* const then = !one.matters ? ", which chance or such a random change can explain"
                             : one.named  ? ""
                                          : ", although nothing names the largest part of what it finds";
    return fmt::format("; without it {}{}", changes, then);
  }

  [[nodiscard]] Clause clause_of(std::size_t part, std::size_t head) const {
    if (part == sink_part) return {sink_, "at " + sink_};
    if (part == word_part) {
      const std::string names = words_text(head, 2), more = words_text(head, 6);
      return names.empty() ? Clause{"certain words", "at certain words, whatever the query is"}
                           : Clause{"words: " + names, "at words such as " + more + ", whatever the query is"};
    }
    if (part == position_part) {
      const std::string places = places_text(head);
      return places.empty() ? Clause{"by place", "by where query and key stand"}
                            : Clause{places, places + bands_text(head)};
    }
    return match_clause(head);
  }

  [[nodiscard]] Clause match_clause(std::size_t head) const {
    const double match = at("part", head, match_part);
    const std::size_t named = named_match(head);
    if (named < match_clauses.size()) return match_clauses[named];
    if (at("place_gain", head) >= explains * match && !(at("place_gain_lower", head) <= 0) && at("follow", head) < 0.5)
      return chosen_place;
    const std::string pairs = pairs_text(head);
    return pairs.empty() ? Clause{"what it asks for", "at what the query asks for"}
                         : Clause{"pairs: " + pairs, "at what the query asks for, such as " + pairs};
  }

  /// "1 back", "2 back (-4 to -1)", "broadly -20 to +3", "1 back, 3 back"
  [[nodiscard]] std::string places_text(std::size_t head) const {
    std::string places;
    for (std::size_t place = 0; std::isfinite(at("place_offset", head, place)); ++place) {
      const double from = at("place_first", head, place), to = at("place_last", head, place);
      const std::string span = fmt::format("{} to {}", signed_tokens(from), signed_tokens(to));
      places += places.empty() ? "" : ", ";
      places += to - from >= broad
                    ? "broadly " + span
                    : tokens_away(at("place_offset", head, place)) + (to > from ? fmt::format(" ({})", span) : "");
    }
    return places;
  }

  /// "curse, bill, doctors": the words that draw most, at most `most` of them; empty: none is named.
  [[nodiscard]] std::string words_text(std::size_t head, std::size_t most) const {
    std::vector<std::string> names;
    for (std::size_t rank = 0; rank < most; ++rank)
      if (const std::string word = word_of("word", head, rank); !word.empty()) names.push_back(named_word(word));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  /// "un > ##k, du > fu": query words and the key words that they find with enough of the attention.
  [[nodiscard]] std::string pairs_text(std::size_t head) const {
    constexpr double worth_saying = 0.01;  // of attention on text
    constexpr std::size_t most = 2;
    std::vector<std::string> names;
    for (std::size_t rank = 0; !std::isnan(at("pair_share", head, rank)) && names.size() < most; ++rank)
      if (const std::string query = word_of("pair_query", head, rank), key = word_of("pair_key", head, rank);
          at("pair_share", head, rank) >= worth_saying && !query.empty() && !key.empty())
        names.push_back(fmt::format("{} > {}", named_word(query), named_word(key)));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  /// " (weight 1.00 from the last quarter of a document, 0.25 from the first)"; empty: no such difference.
  [[nodiscard]] std::string bands_text(std::size_t head) const {
    if (!(at("band_differs", head) > 0)) return {};
    std::size_t low = 0, high = 0;
    for (std::size_t band = 0; band < quarters.size(); ++band) {
      const double weight = at("band_weight", head, band);
      if (!(weight >= at("band_weight", head, low))) low = std::isfinite(weight) ? band : low;
      if (!(weight <= at("band_weight", head, high))) high = std::isfinite(weight) ? band : high;
    }
    return fmt::format(" (weight {:.2f} from the {} quarter of a document, {:.2f} from the {})",
                       at("band_weight", head, high), quarters[high], at("band_weight", head, low), quarters[low]);
  }

  /// The hypothesis that names the match; match_clauses.size() if none does.
  [[nodiscard]] std::size_t named_match(std::size_t head) const {
    std::size_t most = match_clauses.size();
    for (std::size_t h = 0; h < match_clauses.size(); ++h) {
      const double gain = at("gain", head, h + 1), lower = at("gain_lower", head, h + 1);
      if (!(gain >= explains * at("part", head, match_part)) || lower <= 0) continue;
      if (most == match_clauses.size() || gain > at("gain", head, most + 1)) most = h;
    }
    return most;
  }

  /// Which experiments contradict the parts of the bits on text.
  struct Contradicted {
    bool by_swaps = false;  ///< most is content, but attention stays with the place; or the other way round
    bool by_moves = false;  ///< most is position, but the profile stays when keys are moved
  };
  /// NaN if no key was moved, or if the interval is too wide to tell.
  [[nodiscard]] double moved(std::size_t head) const {
    return at("moved_upper", head) - at("moved_lower", head) <= widest_told ? at("moved", head) : not_defined;
  }
  /// A place that the query chooses counts as a place, not as content.
  [[nodiscard]] Contradicted contradicted(const HeadSentence& one, std::size_t head) const {
    const double by_query = std::fmax(0, at("place_gain", head));
    const double content = one.part[word_part] + one.part[match_part] - by_query,
                 text = one.part[position_part] + one.part[word_part] + one.part[match_part];
    if (!(text >= std::max(close_to_uniform, said_share * one.bits))) return {};
    const bool swapped = std::isfinite(at("follow", head));
    return {content > text / 2 ? swapped && at("follow_upper", head) < 0.5 : swapped && at("follow_lower", head) > 0.5,
            one.part[position_part] > std::max(text / 2, said_share * one.bits) && at("moved_upper", head) < 0.5 &&
                std::isfinite(moved(head))};
  }

  [[nodiscard]] std::string sentence(const HeadSentence& one, const std::vector<std::string>& clauses,
                                     const Contradicted& but, std::size_t head) const {
    std::string text =
        fmt::format("{} looks {}: {:.2f} bits beyond uniform attention ({})", head_name(one.name.layer, one.name.head),
                    fmt::join(clauses, " and "), one.bits, one.why);
    if (const std::size_t named = named_match(head);
        named < match_clauses.size() && one.part[match_part] / one.bits >= said_share)
      text += fmt::format(", {:.0f} % of match explained so", 100 * at("gain", head, named + 1) / one.part[match_part]);
    if (std::isfinite(at("follow", head)))
      text += fmt::format(
          "; when its strongest key and another swap contents, {:.2f} of the attention on the two goes with the "
          "content{}",
          at("follow", head), but.by_swaps ? ", against what its parts say" : "");
    if (std::isfinite(at("kept", head)))
      text += fmt::format("; with another token in the query, its strongest key keeps {:.2f} of its weight",
                          at("kept", head));
    if (one.part[position_part] >= said_share * one.bits && std::isfinite(moved(head)))
      text += fmt::format("; its keys moved by four tokens, {:.2f} of its offset profile follows{}", moved(head),
                          but.by_moves ? ", against what its parts say" : "");
    if (one.part[position_part] >= said_share * one.bits &&
        at("weight_without", head) < at("weight_placebo_lowest", head))
      text += fmt::format(
          "; without {} in its keys the largest weight goes from {:.2f} to {:.2f} (random directions: {:.2f})",
          visible_text(word_of("removed_source", head)), at("weight", head), at("weight_without", head),
          at("weight_placebo", head));
    return text + writes_text(head) + effect_text(one, head);
  }

  /// Values of a Field: head by head, or all heads for each entry of its other axis.
  struct Numbers {
    std::vector<double> values;
    bool by_head;
  };

  FieldHeads heads_;
  std::string sink_;
  std::map<std::string, Numbers, std::less<>> numbers_;  ///< by quantity: "follow"
  std::map<std::string, const std::vector<std::string>*, std::less<>> texts_;
};

/// Sentences of a result without bits, as with --only head_account: where the profile over offsets is
/// largest, and the part of it that positions give.
std::vector<HeadSentence> account_sentences(const Result& result) {
  const FieldHeads heads = field_heads(result.at(account_verdict_field));
  const auto verdicts = head_meanings(result, account_verdict_field, "");
  const auto& part = doubles_of(result, account_part_field, {"cause", "layer", "head"});
  const auto& offset = doubles_of(result, account_offset_field, {"layer", "head"});
  if (part.size() != 3 * heads.size())
    throw ShapeError(fmt::format("{}: expected 3 parts of each of {} heads, found {} in all", account_part_field,
                                 heads.size(), part.size()));
  std::vector<HeadSentence> sentences;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    HeadSentence& one = sentences.emplace_back(HeadSentence{.name = heads[i]});
    one.looks = "no preferred offset";
    if (verdicts[i] != said::no_preference.word) {
      one.offset = offset[i];
      one.looks = std::isfinite(offset[i]) ? tokens_away(offset[i]) : "at the search's end";
      one.why = std::isfinite(part[i]) && verdicts[i] != said::undefined_profile.word
                    ? fmt::format("position {:.0f} %", 100 * part[i])
                    : "too few documents";
    }
    one.text = visible_text(fmt::format("{} looks {}{}", head_name(one.name.layer, one.name.head),
                                        one.looks.starts_with("no ") ? "at " + one.looks : one.looks,
                                        one.why.empty() ? "" : " (" + one.why + ")"));
  }
  return sentences;
}

}  // namespace

std::string tokens_away(double offset) {
  if (offset == 0) return "at itself";
  return fmt::format("{:g} {}", std::abs(offset), offset < 0 ? "back" : "ahead");
}

std::string signed_tokens(double offset) {
  return offset == 0 ? "0" : fmt::format("{:+g}", offset);
}

std::vector<HeadSentence> head_sentences(const Result& result) {
  const auto has = [&](const std::string& name) { return result.find(name) != nullptr; };
  if (has(bits_field) && has(bits_part_field) && has(sink_mass_field)) {
    require_fitting(result, head_sentence_fields());
    std::vector<HeadSentence> heads = Sentences(result).all();
    if (is_composed(heads)) return heads;
  }
  if (!has(account_verdict_field) || !has(account_part_field) || !has(account_offset_field)) return {};
  require_fitting(result, head_sentence_fields());
  return account_sentences(result);
}

bool is_composed(const std::vector<HeadSentence>& heads) {
  return std::ranges::any_of(heads, [](const HeadSentence& head) { return std::isfinite(head.bits); });
}

std::string all_parts_text(const Result& result, const std::vector<HeadSentence>& heads) {
  std::array<double, part_names.size()> sums{};
  double all = 0;
  for (const HeadSentence& head : heads) {
    if (!std::isfinite(head.bits)) continue;
    all += head.bits;
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += head.part[p];
  }
  if (!(all > 0)) return {};
  const std::string keys = attribute_text(result.at(sink_mass_field).attributes, "keys");
  std::vector<std::string> parts;
  for (std::size_t p = 0; p < sums.size(); ++p)
    parts.push_back(fmt::format("{} {:.0f} %", p == sink_part && !keys.empty() ? visible_text(keys) : part_names[p],
                                100 * sums[p] / all));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string largest_parts_sentence(const std::vector<HeadSentence>& heads) {
  std::array<std::size_t, part_names.size()> largest{};
  std::size_t even = 0;
  for (const HeadSentence& head : heads) {
    if (!std::isfinite(head.bits)) continue;
    if (head.bits < close_to_uniform)
      ++even;
    else
      ++largest[static_cast<std::size_t>(std::ranges::max_element(head.part) - head.part.begin())];
  }
  std::vector<std::string> said;
  for (std::size_t p = 0; p < largest.size(); ++p)
    if (largest[p] > 0) said.push_back(fmt::format("{} in {}", part_names[p], largest[p]));
  std::string text = said.empty() ? "" : fmt::format("Heads by their largest part: {}", fmt::join(said, ", "));
  if (even > 0) text += fmt::format("{}{} close to uniform", text.empty() ? "Heads: " : "; ", even);
  return text.empty() ? text : text + ".";
}

std::string effect_findings(const Result& result, const std::vector<HeadSentence>& heads) {
  std::vector<double> bits;
  std::vector<HeadSentence> by_effect;
  for (const HeadSentence& head : heads) {
    if (!std::isfinite(head.bits) || !std::isfinite(head.effect)) continue;
    bits.push_back(head.bits);
    by_effect.push_back(head);
  }
  if (bits.empty()) return {};
  std::ranges::sort(bits);
  const double strong = bits[bits.size() - (bits.size() + 3) / 4];
  std::ranges::stable_sort(by_effect, std::greater(), [](const HeadSentence& head) { return std::abs(head.effect); });
  const Field* loss = result.find(model_loss_field);
  const auto listed = [&](const char* what, const auto& is_one) {
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    std::size_t more = 0;
    for (const HeadSentence& head : by_effect)
      if (is_one(head) && names.size() < most)
        names.push_back(fmt::format(
            "{} ({})", head_name(head.name.layer, head.name.head),
            loss != nullptr ? fmt::format("{:+.3f}", head.effect) : fmt::format("{:.1f} %", 100 * head.effect)));
      else
        more += is_one(head) ? 1 : 0;
    return fmt::format("{}{}: {}{}.", what, loss != nullptr ? ", with the change of the loss in nats" : "",
                       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                       more > 0 ? fmt::format(" and {} more", more) : "");
  };
  std::string text;
  if (loss != nullptr) {
    text = fmt::format("The model's loss is {:.2f} nats a token", as_doubles(*loss).front());
    if (const double uniform = attribute_number(loss->attributes, "uniform_loss"); std::isfinite(uniform))
      text += fmt::format(" ({:.2f} if all tokens were equally likely)", uniform);
    text += ". ";
  }
  return text +
         listed("Heads that matter although nothing names the largest part of what they find",
                [](const HeadSentence& head) { return head.matters && !head.named; }) +
         " " + listed("Strong heads that hardly matter", [&](const HeadSentence& head) {
           return head.idle && head.bits >= strong;
         });
}

std::optional<Field> largest_part_field(const Result& result) {
  const std::vector<HeadSentence> heads = head_sentences(result);
  if (!is_composed(heads)) return std::nullopt;
  std::vector<std::uint8_t> largest;
  for (const HeadSentence& head : heads)
    largest.push_back(static_cast<std::uint8_t>(head.bits >= close_to_uniform
                                                    ? std::ranges::max_element(head.part) - head.part.begin()
                                                    : std::ssize(head.part)));
  const Field& bits = result.at(bits_field);
  Field field{"looks/part",
              {bits.axis("layer"), bits.axis("head")},
              "1",
              "largest part of a head's attention beyond uniform attention",
              std::move(largest),
              {},
              {}};
  field.flag_meanings.assign(part_names.begin(), part_names.end());
  field.flag_meanings.emplace_back("close to uniform");
  return field;
}

const std::vector<std::string>& head_sentence_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{account_verdict_field, account_part_field, account_offset_field};
    for (const auto& [group, quantities] : std::initializer_list<std::pair<const char*, std::vector<const char*>>>{
             {"attention_bits",
              {"bits", "part", "gain", "gain_lower", "follow", "follow_lower", "follow_upper", "kept", "sink_mass",
               "place_offset", "place_first", "place_last", "band_weight", "band_differs"}},
             {"attention_words", {"word"}},
             {"matched_content", {"gain", "gain_lower", "pair_query", "pair_key", "pair_share"}},
             {"account_evidence",
              {"moved", "moved_lower", "moved_upper", "removed_source", "weight", "weight_without", "weight_placebo",
               "weight_placebo_lowest"}},
             {"head_writes", {"copying", "copying_q_value", "raised", "raised_logit"}},
             {"head_effect",
              {"loss", "loss_lower", "loss_upper", "loss_placebo", "state", "state_placebo", "q_value"}}})
      for (const char* quantity : quantities) all.push_back(fmt::format("{}/{}", group, quantity));
    return all;
  }();
  return names;
}

}  // namespace headwave
