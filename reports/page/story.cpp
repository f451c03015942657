#include "story.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../drawing/visible_text.h"
#include "../figures/chosen_heads.h"
#include "../tables/comparison_table.h"
#include "../tables/head_findings.h"
#include "../tables/head_table.h"
#include "../tables/run_sentence.h"

namespace headwave {

namespace {

std::vector<std::string> offset_sentences(const std::vector<HeadFinding>& heads) {
  const HeadFinding* clearest = nullptr;
  std::map<double, int> common;
  std::int64_t found = 0;
  for (const HeadFinding& head : heads) {
    if (std::isnan(head.offset)) continue;
    ++found;
    ++common[head.offset];
    if (clearest == nullptr || head.weight > clearest->weight) clearest = &head;
  }
  if (clearest == nullptr) return {};
  std::vector<std::pair<double, int>> order(common.begin(), common.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
    words.push_back(fmt::format("{} ({})", signed_offset(order[i].first), counted(order[i].second, "head")));
  return {fmt::format("{} of {} look at an offset of their own more than chance would have it; the clearest is {}, at "
                      "offset {} with a mean weight of {:.2f}.",
                      found, counted(std::ssize(heads), "head"), head_name(clearest->name.layer, clearest->name.head),
                      signed_offset(clearest->offset), clearest->weight),
          fmt::format("The offsets found most often: {}.", fmt::join(words, ", "))};
}

std::string strongest_sentence(std::vector<HeadFinding> heads) {
  std::erase_if(heads, [](const HeadFinding& head) { return std::isnan(head.strength); });
  std::ranges::stable_sort(heads, std::greater(), &HeadFinding::strength);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, heads.size()); ++i)
    words.push_back(fmt::format("{} ({:.2f}, {})", head_name(heads[i].name.layer, heads[i].name.head),
                                heads[i].strength, visible_text(heads[i].why)));
  return words.empty() ? "" : fmt::format(" The strongest profiles: {}.", fmt::join(words, ", "));
}

std::string account_sentence(const std::vector<HeadFinding>& heads) {
  std::map<std::string, int> verdicts;
  for (const HeadFinding& head : heads)
    if (!head.why.empty() && head.why != "undefined") ++verdicts[head.why];
  if (verdicts.empty()) return {};
  std::vector<std::string> words;
  for (const auto& [verdict, count] : verdicts) words.push_back(fmt::format("{} {}", visible_text(verdict), count));
  return fmt::format("What their profiles come from, by the account: {}.{}", fmt::join(words, ", "),
                     strongest_sentence(heads));
}

std::string sink_sentence(const Result& result) {
  if (result.find("head_types/sink_first") == nullptr) return {};
  const std::vector<double> first = head_doubles(result, "head_types/sink_first", "all");
  const auto count = std::count_if(first.begin(), first.end(), [](double share) { return share > 0.5; });
  if (count == 0) return {};
  return fmt::format("{} {} more than half of {} attention to the first token.", counted(count, "head"),
                     count == 1 ? "gives" : "give", count == 1 ? "its" : "their");
}

std::string planted_sentence(const std::vector<HeadFinding>& heads) {
  const auto planted =
      std::count_if(heads.begin(), heads.end(), [](const auto& head) { return head.planted.has_value(); });
  const auto found =
      std::count_if(heads.begin(), heads.end(), [](const auto& head) { return head.planted && head.planted->found; });
  return planted == 0 ? "" : fmt::format("Of {} planted heads {} were found as they were planted.", planted, found);
}

}  // namespace

std::vector<std::string> story_of(const Result& result) {
  const std::vector<HeadFinding> heads = head_findings(result);
  std::vector<std::string> sentences{run_sentence(result.provenance)};
  if (const std::string said = comparison_sentence(result); heads.empty() && !said.empty())
    sentences.push_back(said + ".");
  for (std::string& sentence : offset_sentences(heads)) sentences.push_back(std::move(sentence));
  sentences.push_back(account_sentence(heads));
  sentences.push_back(sink_sentence(result));
  sentences.push_back(planted_sentence(heads));
  std::string note = position_note(result);
  std::erase(note, '`');
  if (!note.empty())
    sentences.push_back(fmt::format("Offsets {}.", note.starts_with("offsets ") ? note.substr(8) : note));
  if (std::string grid = grid_note(result); !grid.empty()) {
    std::erase(grid, '`');
    sentences.push_back(fmt::format("Here t{}.", grid.substr(1)));
  }
  std::erase(sentences, "");
  return sentences;
}

}  // namespace headwave
