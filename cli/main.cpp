#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>

#include "../core/algebra/kernels.h"
#include "../data/files/printable.h"
#include "../data/hdf5/hdf5_file.h"
#include "commands/commands.h"
#include "options/help.h"
#include "terminal/progress.h"
#include "terminal/terminal.h"

namespace headwave::cli {

namespace {

int exit_code(CLI::App& program, const Command& chosen, int argc, char** argv) {
  if (argc == 1) {
    std::fputs(program.help().c_str(), stdout);
    return done;
  }
  try {
    program.parse(argc, argv);
    return chosen();
  } catch (const CLI::ParseError& error) {
    // Commands throw it too: some options turn out not to apply only after the input is open.
    end_progress();
    if (error.get_exit_code() == 0) {
      std::ostringstream answer;  // of --help and --version
      program.exit(error, answer, answer);
      std::fputs(answer.str().c_str(), stdout);
      return done;
    }
    std::fprintf(stderr, "headwave: error: %s\n", usage_message(program, error).c_str());
    return usage;
  }
}

/// Opens /dev/null for standard streams that somebody closed. Otherwise files would get their numbers, and
/// what is printed would go into them. A closed output still accepts nothing.
void open_standard_streams() {
  for (int number = 0; number < 3; ++number)
    if (::fcntl(number, F_GETFD) == -1) (void)::open("/dev/null", number == 2 ? O_WRONLY : O_RDONLY);
}

/// The message in one line, whatever a file's name or a library put into it.
std::string one_line(const std::exception& error) {
  return printable(error_message(error), 4000);
}

}  // namespace

}  // namespace headwave::cli

int main(int argc, char** argv) {
  using namespace headwave::cli;
  open_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // files are finished even if standard output is closed (require_printed())
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow gives an error, as on a full disk
  headwave::tell_hdf5_crashes();
  CLI::App program("headwave shows why attention heads look where they look.", "headwave");
  program.set_version_flag("--version", [] {
    return fmt::format("headwave {} (kernels: {})", HEADWAVE_VERSION, headwave::instruction_set());
  });
  program.add_flag("-q,--quiet", quiet(), "print only results and errors");
  program.require_subcommand(1);
  program.fallthrough();
  program.footer(
      "Exit codes: 0 done, 1 input or run-time error, 2 wrong usage, 3 compared and found different.\n"
      "`headwave COMMAND --help` explains a command. Nothing is ever sent or fetched over a network.");

  remember_command_line(argc, argv);
  Command chosen;
  add_demo(program, chosen);
  add_run(program, chosen);
  add_merge(program, chosen);
  add_spectrum(program, chosen);
  add_figures(program, chosen);
  add_report(program, chosen);
  add_export(program, chosen);
  add_atlas(program, chosen);
  add_inspect(program, chosen);
  add_compare(program, chosen);
  add_validate(program, chosen);
  add_analyses(program, chosen);
  lay_out_help(program);

  try {
    const int code = exit_code(program, chosen, argc, argv);
    require_printed();
    return code;
  } catch (const std::bad_alloc&) {
    end_progress();
    std::fputs("headwave: error: out of memory; give fewer or shorter documents, or fewer threads\n", stderr);
  } catch (const std::exception& error) {
    end_progress();
    const bool unprinted = std::ferror(stdout) != 0 && dynamic_cast<const std::system_error*>(&error) != nullptr;
    if (unprinted && is_unread()) {  // in the midst of printing: end as other programs do
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    std::fprintf(stderr, "headwave: error: %s%s\n", unprinted ? "standard output: " : "", one_line(error).c_str());
  }
  return failed;
}
