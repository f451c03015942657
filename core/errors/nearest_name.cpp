#include "nearest_name.h"

#include <algorithm>

namespace headwave {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances from the first i characters of a to all beginnings of b.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& known) {
  // A typed word may be as long as a command line, but no name is.
  constexpr std::size_t longest = 100, shortest_beginning = 3;
  if (word.empty() || word.size() > longest) return "";
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t distance = edit_distance(word, name);
    // A distance as long as the name itself is no match.
    if (distance < least && distance < name.size()) {
      least = distance;
      nearest = name;
    }
  }
  if (!nearest.empty() || word.size() < shortest_beginning) return nearest;
  const auto begun = std::find_if(known.begin(), known.end(), [&](const auto& name) { return name.starts_with(word); });
  return begun == known.end() ? "" : *begun;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace headwave
