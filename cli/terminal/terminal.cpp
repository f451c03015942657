#include "terminal.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../../job/run/provenance.h"
#include "progress.h"

namespace headwave::cli {

namespace {

std::string remembered;
std::chrono::steady_clock::time_point clock_started;
std::time_t started = 0;
int why_unprinted = 0;  // errno of what standard output refused; 0: nothing, or unknown

/// Writes what is buffered, and remembers why that fails.
void note_unprinted() {
  errno = 0;
  std::fflush(stdout);
  if (std::ferror(stdout) == 0 || why_unprinted != 0) return;
  // If an earlier write failed, its reason is lost, but a device that refused it may give the reason again.
  if (errno == 0) (void)!::write(STDOUT_FILENO, "\n", 1);
  why_unprinted = errno;
}

}  // namespace

void remember_command_line(int argc, char** argv) {
  started = std::time(nullptr);
  clock_started = std::chrono::steady_clock::now();
  remembered = "headwave";
  for (int i = 1; i < argc; ++i) remembered += " " + shell_word(argv[i]);
}

void add_program(Attributes& provenance) {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - clock_started;
  headwave::add_program(provenance, {remembered, started, passed.count()});
}

void try_to_print(const std::function<void()>& print) {
  end_progress();
  try {
    print();
  } catch (const std::system_error&) {  // from fmt::print()
    if (std::ferror(stdout) == 0) throw;
  }
  note_unprinted();
}

void require_printed() {
  note_unprinted();
  if (std::ferror(stdout) == 0 || is_unread()) return;
  throw IoError(why_unprinted == 0
                    ? std::string("standard output cannot be written")
                    : fmt::format("standard output cannot be written: {}", std::strerror(why_unprinted)));
}

bool is_unread() {
  note_unprinted();
  return why_unprinted == EPIPE;
}

void say(const std::string& text) {
  if (quiet()) return;
  end_progress();
  std::fprintf(stderr, "%s\n", text.c_str());
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("%+,-./:=@_").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string error_message(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  if (ours == nullptr) return error.what();
  return ours->message([](const Remedy& remedy) {
    std::string flag = "--" + remedy.option;
    std::replace(flag.begin(), flag.end(), '_', '-');
    return remedy.value.empty() ? flag : flag + " " + remedy.value;
  });
}

}  // namespace headwave::cli
