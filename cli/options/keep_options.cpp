#include "keep_options.h"

#include <CLI/CLI.hpp>

#include "values.h"

namespace headwave::cli {

void add_keep_options(CLI::App& app, const std::string& command, KeepOptions& options) {
  app.add_flag("--resume", options.resume,
               "go on where a " + command + " of the same with the same --out was ended; begin if there was none")
      ->configurable(false);
  app.add_option(
         "--keep-every", options.keep_every,
         "seconds of documents after which a " + command + " keeps what it came to, for --resume; 0: after each")
      ->check(real_number(0, 1e6))
      ->capture_default_str()
      ->type_name("S")
      ->configurable(false);
}

}  // namespace headwave::cli
