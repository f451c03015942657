#include "headwave/cli/terminal.h"

#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

namespace headwave::cli {

namespace {

std::string remembered;
std::time_t started = 0;
bool line_is_open = false;

}  // namespace

bool& quiet() {
  static bool flag = false;
  return flag;
}

void remember_command_line(int argc, char** argv) {
  started = std::time(nullptr);
  remembered = "headwave";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain = word.find_first_of(" \t\n\"'\\$`*?;&|<>()") == std::string::npos && !word.empty();
    remembered += plain ? " " + word : " '" + word + "'";
  }
}

const std::string& command_line() {
  return remembered;
}

std::time_t program_start() {
  return started;
}

void say(const std::string& text) {
  if (quiet()) return;
  end_progress();
  std::fprintf(stderr, "%s\n", text.c_str());
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

ProgressCallback progress_line() {
  if (quiet() || isatty(STDERR_FILENO) == 0) return {};
  using Clock = std::chrono::steady_clock;
  struct Stage {
    std::string name;
    Clock::time_point started;
  };
  return [stage = std::make_shared<Stage>()](const JobProgress& now) {
    if (now.stage != stage->name) *stage = {now.stage, Clock::now()};
    const double passed = std::chrono::duration<double>(Clock::now() - stage->started).count();
    if (now.done == now.total) {
      end_progress();
      return;
    }
    if (passed < 1.0 && now.total > 1) return;
    std::string text = fmt::format("{}: {} of {}", now.stage, now.done, now.total);
    if (now.done > 0)
      text += fmt::format(", about {} left", duration_text(passed / static_cast<double>(now.done) *
                                                           static_cast<double>(now.total - now.done)));
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    line_is_open = true;
  };
}

void end_progress() {
  if (!line_is_open) return;
  std::fputs("\r\033[K", stderr);
  line_is_open = false;
}

}  // namespace headwave::cli
