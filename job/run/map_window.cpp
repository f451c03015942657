#include "map_window.h"

#include <cstdio>

#include <fmt/format.h>

#include "../../analysis/attention/attention_map.h"

namespace headwave {

const std::string map_window_values = "typical, or FIRST:END, 1 to 64 tokens";

bool set_map_window(JobOptions& options, const std::string& window) {
  if (window == "typical") return true;
  long first = 0, end = 0;
  if (std::sscanf(window.c_str(), "%ld:%ld", &first, &end) != 2 || window != fmt::format("{}:{}", first, end) ||
      first < 0 || end <= first || end - first > 64 || end > 1'000'000'000)
    return false;
  options[map_first_option] = first;
  options[map_tokens_option] = end - first;
  return true;
}

std::string map_window(const JobOptions& options) {
  const Index first = options[map_first_option];
  return first < 0 ? "typical" : fmt::format("{}:{}", first, first + options[map_tokens_option]);
}

}  // namespace headwave
