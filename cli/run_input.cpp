#include "headwave/cli/run_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "headwave/cli/progress.h"
#include "headwave/cli/values.h"

namespace headwave::cli {

namespace {

bool single_npy(const std::filesystem::path& states) {
  return states.extension() == ".npy" && !std::filesystem::is_directory(states);
}

CLI::Option* add_states(CLI::App& command, InputOptions& options) {
  return command
      .add_option("--states", options.states,
                  "stored hidden states or queries and keys: HDF5, .npy, or a folder of .npy")
      ->type_name("FILE");
}

/// @returns --shuffles
CLI::Option* add_interventions(CLI::App& command, InputOptions& options, const InputWithout& without) {
  const char* group = "Interventions";
  if (!without.interventions.empty()) {
    refused_option(command, "--intervene", without.interventions);
    return refused_option(command, "--shuffles", without.interventions);
  }
  command
      .add_option("--intervene", options.interventions,
                  "run with part of the model or text changed: words-only, positions-only, shuffled-words, "
                  "without-heads=L0H1,L2H3, without-band=40:60, re-aim=L2H3:+2; may be given several times")
      ->type_name("WHAT")
      ->group(group);
  if (!without.shuffles.empty()) return refused_option(command, "--shuffles", without.shuffles);
  return command
      .add_option("--shuffles", options.intervening.shuffles, "orders of every document under shuffled-words")
      ->check(whole_number(1, 100000))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

SourceOptions add_input_options(CLI::App& command, InputOptions& options, const InputWithout& without) {
  SourceOptions added{};
  added.model = command
                    .add_option("--model", options.model,
                                "Hugging Face model directory: config.json, model.safetensors, tokenizer")
                    ->type_name("DIR");
  added.map = command
                  .add_option("--map", options.map,
                              "what the model's tensors are, instead of config.json; `headwave inspect --map DIR` "
                              "proposes one")
                  ->type_name("FILE");
  added.text = command.add_option("--text", options.text, "UTF-8 text, cut into documents")->type_name("FILE");
  added.ids = command.add_option("--ids", options.ids, "token ids instead of text: JSON, or one document per line")
                  ->type_name("FILE");
  added.states =
      without.states.empty() ? add_states(command, options) : refused_option(command, "--states", without.states);
  added.random = command
                     .add_option("--random-tokens", options.random_tokens,
                                 "instead of text: so many random tokens, twice, in every document (for induction)")
                     ->check(whole_number(1, 1048576))
                     ->type_name("N");
  added.text->excludes(added.ids)->excludes(added.states)->excludes(added.random);
  added.random->excludes(added.ids)->excludes(added.states);
  added.ids->excludes(added.states);
  added.documents = command.add_option("--documents", options.packing.documents, "how many documents")
                        ->check(whole_number(1, 10000000))
                        ->capture_default_str();
  added.length = command.add_option("--length", options.packing.length, "tokens per document, special tokens included")
                     ->check(whole_number(1, 1048576))
                     ->capture_default_str();
  added.no_special_tokens = command.add_flag("!--no-special-tokens", options.packing.special_tokens,
                                             "put no [CLS] and [SEP] (or their kin) around documents");
  if (without.states.empty()) {
    added.head_count =
        command
            .add_option("--head-count", options.stored.heads, "stored states: heads, where neither file nor model says")
            ->check(whole_number(1, 100000))
            ->type_name("N");
    added.layer =
        command.add_option("--layer", options.stored.layer, "stored states in one .npy file: the layer they enter")
            ->check(whole_number(0, 1023))
            ->type_name("N");
  } else {
    added.head_count = refused_option(command, "--head-count", "applies to stored states; " + without.states);
    added.layer = refused_option(command, "--layer", "applies to stored states; " + without.states);
  }
  added.shuffles = add_interventions(command, options, without);
  return added;
}

void require_usage(const SourceOptions& given, const InputOptions& options) {
  const auto refuse = [](const CLI::Option* option, const char* why) {
    if (!option->empty()) throw CLI::ValidationError(option->get_name(), why);
  };
  if (given.text->empty() && given.ids->empty() && given.states->empty() && given.random->empty())
    throw CLI::ValidationError(given.states->get_group().empty()
                                   ? "give one of --text, --ids and --random-tokens"
                                   : "give one of --text, --ids, --random-tokens and --states");
  // A stored job names it where it has no effect: 1, as it is without being given.
  if (options.intervening.shuffles > 1 && std::find(options.interventions.begin(), options.interventions.end(),
                                                    "shuffled-words") == options.interventions.end())
    refuse(given.shuffles, "applies to --intervene shuffled-words");
  if (given.model->empty()) refuse(given.map, "says what the tensors of --model are; give that too");
  if (given.states->empty()) {
    if (given.model->empty()) throw CLI::ValidationError("--text, --ids and --random-tokens need --model DIR");
    refuse(given.head_count, "applies to --states only; the model says how many heads there are");
    refuse(given.layer, "applies to --states FILE.npy only");
    if (!given.ids->empty()) refuse(given.no_special_tokens, "does not apply to --ids: nothing is put around them");
    if (!given.random->empty())
      refuse(given.length, "does not apply to --random-tokens, which says how many there are");
    return;
  }
  refuse(given.length, "does not apply to --states: documents are as they were stored");
  refuse(given.no_special_tokens, "does not apply to --states: documents are as they were stored");
  if (!given.model->empty())
    refuse(given.head_count, "does not apply with --model, which says how many heads there are");
  if (!single_npy(options.states)) refuse(given.layer, "applies to a single .npy file; here the names say the layers");
}

JobInput input_of(InputOptions& options, const SourceOptions& given, std::uint64_t seed) {
  progress_at("reading the model and the documents");
  const ModelPlace place(options.model, options.map);
  const auto open = [&]() -> JobInput {
    if (!given.text->empty()) return text_input(place, options.text, options.packing);
    if (!given.random->empty())
      return random_input(place, {options.packing.documents, options.random_tokens, 2, -1, seed},
                          options.packing.special_tokens);
    if (!given.ids->empty()) return ids_input(place, options.ids, options.packing);
    options.stored.documents = given.documents->empty() ? 0 : options.packing.documents;
    return given.model->empty() ? states_input(options.states, options.stored)
                                : states_input(options.states, place, options.stored);
  };
  JobInput input = open();
  for (Index i = 0; !given.ids->empty() && i < input.source->count() && !given.length->empty(); ++i)
    if (input.source->length(i) != options.packing.length)
      throw CLI::ValidationError("--length", fmt::format("does not apply: {} holds documents of their own lengths, "
                                                         "document {} has {} tokens",
                                                         options.ids.string(), i, input.source->length(i)));
  options.intervening.seed = seed;
  intervene(input, options.interventions, options.intervening);
  return input;
}

}  // namespace headwave::cli
