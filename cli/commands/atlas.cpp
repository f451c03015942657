#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../job/studies/model_atlas.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/job_options.h"
#include "../options/option_row.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/result_folder.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

struct AtlasCommand {
  std::filesystem::path model, map;
  PlaceOptions place;
  ModelAtlasOptions atlas;
  FolderOptions folder;
};

int atlas(AtlasCommand& options) {
  const OutputFolder folder = opened_folder(options.folder, {options.map});
  progress_at("predicting the offsets of every head");
  std::vector<KindResult> results =
      model_atlas(place_of(options.model, options.map, options.place), options.atlas, progress());
  for (const KindResult& found : results)
    if (const auto missing = found.result.provenance.find("missing"); missing != found.result.provenance.end())
      say(fmt::format("the checkpoint is partial: it lacks {}; only the layers that it contains are analysed",
                      std::get<std::string>(missing->second)));
  for (const KindResult& found : results)
    if (const auto rows = found.result.provenance.find("positions_read"); rows != found.result.provenance.end())
      if (const std::string remark = rows_read_text(found.result.provenance, std::get<std::int64_t>(rows->second));
          !remark.empty())
        say_once(remark);
  write_results(folder, results);
  show_results(folder, results, options.folder);
  return done;
}

}  // namespace

void add_atlas(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<AtlasCommand>();
  CLI::App* command =
      program.add_subcommand("atlas", "predict where every head looks without a text, from weights and random words");
  const OptionRows row(*command);
  ModelAtlasOptions& atlas_options = options->atlas;
  PositionAtlasOptions& weights = atlas_options.atlas;
  row("--model", options->model, "DIR", "model directory: config.json, weights, and a tokenizer if there is one")
      ->required();
  row("--map", options->map, "FILE", "TOML file that describes the model's tensors (docs/model-map.md)");
  add_place_options(*command, options->place);
  row("--passes", atlas_options.words.documents, nullptr,
      "number of documents of random words to run; 0: predict from the weights alone", whole_number(0, 100000))
      ->capture_default_str();
  row("--length", weights.length, nullptr,
      "number of positions, and of tokens per document; 0: as many as the position table has, at most 512",
      whole_number(0, 1048576))
      ->capture_default_str();
  row("--rows", atlas_options.rows, nullptr, rows_help, whole_number(0, 1048576))->capture_default_str();
  row("--reach", weights.reach, nullptr, "largest offset that is predicted, in tokens", whole_number(1, 1048576))
      ->capture_default_str();
  row("--draws", weights.draws, nullptr,
      "number of random rotations of the key side that give the null distribution of predicted offsets",
      whole_number(3, 100000))
      ->capture_default_str();
  row("--level", weights.level, nullptr, "false discovery rate: accepted share of false ones among predicted offsets",
      real_number(0.0, 1.0))
      ->capture_default_str();
  row("--seed", weights.seed, nullptr, "seed of all random numbers", not_negative())->capture_default_str();
  row("--threads", weights.threads, nullptr, "number of threads; 0: one per core; results are identical",
      whole_number(0, 1024))
      ->capture_default_str();
  add_folder_options(*command, options->folder, true);
  add_drawing_options(*command, options->folder.drawing, false);
  add_table_options(*command, options->folder.table);
  add_examples(*command,
               {{"atlas --model minilm --out atlas",
                 "predict where every head looks; heads with the clearest prediction come first"},
                {"atlas --model minilm --passes 0 --out weights", "the same, predicted from the weights alone"}});
  command->final_callback([=, &chosen] { chosen = [=] { return atlas(*options); }; });
}

}  // namespace headwave::cli
