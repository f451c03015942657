#include <charconv>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/hdf5/hdf5_file.h"
#include "../../job/inputs/identity.h"
#include "../../job/run/sealed_file.h"
#include "../../job/studies/state_capture.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/values.h"
#include "../results/output_folder.h"
#include "../results/resuming.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "commands.h"

namespace headwave::cli {

namespace {

namespace fs = std::filesystem;

struct CaptureCommand {
  InputOptions input;
  CaptureOptions capture;
  fs::path file;
  std::string layers, what = "states", type = "float32";
  std::uint64_t seed = 1;
  bool force = false;
  ResumeOptions keep;
};

/// "0,3-5": single layers and ranges, both ends with them; ':' says the same as '-'. None of an empty text.
std::vector<Index> layers_of(const std::string& text) {
  constexpr Index most = 4096;
  std::vector<Index> layers;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto demand = [&](bool right) {
    if (!right) throw CLI::ValidationError("--layers", "expected layers such as 0,3 or 0-5, got '" + text + "'");
  };
  const auto number = [&] {
    Index value = -1;
    const auto [rest, error] = std::from_chars(at, end, value);
    demand(error == std::errc() && value >= 0 && value <= most);
    at = rest;
    return value;
  };
  while (at != end) {
    const Index first = number();
    Index last = first;
    if (at != end && (*at == '-' || *at == ':')) last = (++at, number());
    demand(last >= first && (at == end || (*at == ',' && at + 1 != end)));
    for (Index layer = first; layer <= last; ++layer) layers.push_back(layer);
    if (at != end) ++at;
  }
  return layers;
}

/// All that what is stored depends on.
Attributes identity_of(const JobInput& input, const CaptureOptions& options) {
  Attributes identity = input_identity(input);
  identity.merge(capture_provenance(input.model, options));
  return identity;
}

/// Whether the file is there that would be written, so that there is nothing to go on with.
/// @throws FormatError naming what differs, if it is of another capture, or what it lacks
bool is_finished(CaptureCommand& options, const SourceOptions& given) {
  if (!options.keep.resume || options.force || !fs::exists(options.file)) return false;
  const JobInput input = input_of(options.input, given, options.seed);
  require_same_identity(
      identity_text(stated_identity(Hdf5File(options.file).attributes("/provenance"))),
      identity_text(identity_of(input, options.capture)), options.file.string(),
      {give("force", "", "in place of --resume to replace it"), give("out", "FILE", "for another one")});
  require_captured(input.model, *input.source, options.file, options.capture);
  return true;
}

void capture_kept(const JobInput& input, const CaptureCommand& options, ResumeFile& kept) {
  const LastWords words = resume_words();
  Attributes provenance = input.provenance;
  add_program(provenance, 0);
  provenance.erase("wall_time_s");  // not known before the file is there
  capture_states(input.model, *input.source, options.file, provenance, options.capture, progress(), &kept);
}

int capture(CaptureCommand& options, const SourceOptions& given) {
  if (!options.capture.projections) require_capturable(options.input.interventions);
  const fs::path name = options.file.filename(), inside = options.file.parent_path();
  const fs::path kept_name = name.string() + ".unfinished", lock = "." + name.string() + ".lock";
  OutputFiles files{{name}, {kept_name}, lock};
  for (const fs::path& part : captured_parts(options.file)) files.more.push_back(part.filename());
  files.read = read_files(options.input);
  require_unread(inside, files);
  if (is_finished(options, given)) {
    remove_resume_file(inside / kept_name, inside / lock, [&] { remove_captured_parts(options.file); });
    say(fmt::format("{}: is finished; there is nothing to go on with", visible_text(options.file.string())));
    return done;
  }
  const OutputFolder folder(inside, files, options.force);
  const fs::path file = resume_file_in(folder, kept_name, options.keep, options.force);
  const JobInput input = input_of(options.input, given, options.seed);
  if (options.capture.packing == 0) folder.require_space(capture_bytes(input.model, *input.source, options.capture));
  ResumeFile kept(file, identity_of(input, options.capture), options.keep.keep_every);
  capture_kept(input, options, kept);
  end_progress();
  const auto word = [](const std::string& text) { return visible_text(shell_word(text)); };
  std::string with_model;
  if (!options.capture.projections) {
    with_model = " --model " + word(options.input.model.string());
    for (const std::string& one :
         interventions_again(attribute_text(input.provenance, "interventions"), options.capture.projections))
      with_model += " --intervene " + word(one);
  }
  say(fmt::format("wrote {} of {} documents to {}; try\n  headwave run --states {}{} --out RESULT",
                  options.capture.projections ? "queries and keys" : "hidden states", input.source->count(),
                  visible_text(options.file.string()), word(options.file.string()), with_model));
  return done;
}

}  // namespace

void add_capture(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<CaptureCommand>();
  CLI::App* command =
      program.add_subcommand("capture", "store a model's hidden states, or queries and keys, for many runs");
  const SourceOptions source =
      add_input_options(*command, options->input,
                        {.states = "these are stored states already; give a text or token ids", .layers = true});
  command->add_option("--out", options->file, "HDF5 file to write")->required()->type_name("FILE");
  command->add_option("--layers", options->layers, "layers to store, 0,3 or 0-5; otherwise all")->type_name("LAYERS");
  command
      ->add_option("--what", options->what,
                   "states: input of the layers' projections; projections: queries and keys as attention takes them")
      ->check(one_of({"states", "projections"}))
      ->capture_default_str();
  command->add_option("--dtype", options->type, "type of the numbers; float16 halves the file and keeps 11 bits")
      ->check(one_of({"float32", "float16"}))
      ->capture_default_str();
  command->add_option("--compress", options->capture.packing, "zlib's level; 0: not packed, and faster to read")
      ->check(whole_number(0, 9))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of random tokens and shuffled words")
      ->check(not_negative())
      ->capture_default_str();
  command->add_option("--threads", options->capture.threads, "number of threads, 0: one per core; changes no digit")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  command->add_flag("--force", options->force, "replace an existing file");
  add_resume_options(*command, "capture", options->keep);
  add_examples(
      *command,
      {{"capture --model minilm --text text.txt --documents 100 --length 512 --out states.h5",
        "what enters every layer; then `headwave run --states states.h5 --model minilm`"},
       {"capture --model minilm --text text.txt --documents 20 --length 128 --layers 0-2 --dtype float16 --out "
        "first.h5",
        "three layers, in half the room"}});
  command->final_callback([=, &chosen] {
    require_usage(source, options->input);
    options->capture.layers = layers_of(options->layers);
    options->capture.projections = options->what == "projections";
    options->capture.half = options->type == "float16";
    options->input.intervening.threads = options->capture.threads;
    chosen = [=] { return capture(*options, source); };
  });
}

}  // namespace headwave::cli
