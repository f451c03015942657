#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/planted/planted.h"
#include "../../data/models/planted_directory.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/job_options.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct PlantOptions {
  std::filesystem::path folder;
  std::uint64_t seed = 1;
  Index documents = 100;
  bool force = false;
};

int plant(const PlantOptions& options) {
  const OutputFolder folder(
      options.folder,
      {{"model.safetensors", "config.json", "vocab.txt", "tokenizer_config.json", "ids.json", "truth.json"}},
      options.force);
  const PlantedModel planted = planted_model(planted_bank(options.seed));
  const auto documents = planted_documents(planted, options.documents, planted.spec.length, options.seed);
  write_planted_directory(planted, *documents, folder.path());
  say(
      fmt::format("wrote a BERT of {} layers x {} heads with known truth to {}; try\n  headwave run --model {} --ids "
                  "{} --out RESULT",
                  planted.model.stack.layers(), planted.model.stack.block.heads, visible_text(options.folder.string()),
                  visible_text(shell_word(options.folder.string())),
                  visible_text(shell_word((options.folder / "ids.json").string()))));
  return 0;
}

}  // namespace

void add_plant(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<PlantOptions>();
  CLI::App* command =
      program.add_subcommand("plant", "write the demo's model as a Hugging Face directory, with its truth beside it");
  command->add_option("--out", options->folder, "folder to write to")->required()->type_name("DIR");
  command->add_option("--documents", options->documents, "documents of random words in ids.json")
      ->check(whole_number(1, 100000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the model and of the documents")
      ->check(not_negative())
      ->capture_default_str();
  command->add_flag("--force", options->force, "replace an existing model");
  add_examples(*command,
               {{"plant --out planted", "a model directory like any other, whose truth lies beside it"},
                {"plant --out small --documents 5 --seed 2", "another one, with fewer documents of random words"}});
  command->final_callback([=, &chosen] { chosen = [=] { return plant(*options); }; });
}

}  // namespace headwave::cli
