#include "terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "../../core/numbers/error.h"
#include "progress.h"
#include "shell_words.h"

namespace headwave::cli {

namespace {

std::string remembered;
std::time_t started = 0;

}  // namespace

bool& quiet() {
  static bool flag = false;
  return flag;
}

void remember_command_line(int argc, char** argv) {
  started = std::time(nullptr);
  remembered = "headwave";
  for (int i = 1; i < argc; ++i) remembered += " " + shell_word(argv[i]);
}

const std::string& command_line() {
  return remembered;
}

std::time_t program_start() {
  return started;
}

bool is_seen() {
  return isatty(STDOUT_FILENO) != 0;
}

Signs output_signs() {
  const auto said = [](const char* name) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes it
    return std::string(text == nullptr ? "" : text);
  };
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = said(name);
  const bool utf8 = locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
  return is_seen() && utf8 && said("NO_COLOR").empty() ? Signs::blocks : Signs::ascii;
}

void require_printed() {
  errno = 0;
  std::fflush(stdout);
  if (std::ferror(stdout) == 0) return;
  // Where it was an earlier write that failed the reason is gone, but a device that refused one may say it again.
  if (errno == 0) (void)!::write(STDOUT_FILENO, "\n", 1);
  throw IoError(errno == 0 ? std::string("standard output cannot be written")
                           : fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

void say(const std::string& text) {
  if (quiet()) return;
  end_progress();
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace headwave::cli
