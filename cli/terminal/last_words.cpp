#include "last_words.h"

#include <csignal>
#include <utility>

#include <unistd.h>

namespace headwave::cli {

namespace {

std::string to_say;

/// Only what a signal's handler may do; then the signal ends the program as it would have.
extern "C" void say_last_words(int signal) {
  (void)!::write(STDERR_FILENO, to_say.data(), to_say.size());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

LastWords::LastWords(std::string words) {
  to_say = "\nheadwave: " + std::move(words) + "\n";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, say_last_words) == SIG_IGN) std::signal(signal, SIG_IGN);  // as nohup wants it
}

LastWords::~LastWords() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, SIG_DFL) == SIG_IGN) std::signal(signal, SIG_IGN);
}

}  // namespace headwave::cli
