#include "input_options.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/files/input_text.h"
#include "../../data/sources/stored_states.h"
#include "../../data/sources/text_documents.h"
#include "../../job/inputs/job_input.h"
#include "../../job/inputs/stored_sums.h"
#include "../../job/run/provenance.h"
#include "../../reports/drawing/visible_text.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "option_row.h"
#include "values.h"

namespace headwave::cli {

namespace {

CLI::Validator range_of_layers() {
  return {[](const std::string& given) {
            return first_layers(given) ? std::string() : fmt::format("'{}': expected {}", given, expected_first_layers);
          },
          "0-N", "first layers"};
}

}  // namespace

PlaceOptionsGiven add_place_options(CLI::App& command, PlaceOptions& options) {
  const OptionRows row(command);
  return {row("--layers", options.layers, "0-N", "first layers only, 0-7; later layers are neither read nor computed",
              range_of_layers()),
          row("--weights", options.weights, nullptr,
              "where weights are: in memory, or read layer by layer, for models larger than memory; auto: decided by "
              "their size; changes no digit",
              one_of({"auto", "memory", "layers"}))
              ->capture_default_str()};
}

ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options) {
  ModelPlace place(model, map);
  if (!options.layers.empty()) place.layers = first_layers(options.layers).value_or(0);
  place.weights_in = weights_in(options.weights).value_or(WeightsIn::either);
  if (!options.max_memory.empty()) place.memory = bytes_of(options.max_memory);
  return place;
}

namespace {

std::string unknown_axes(const std::string& text) {
  if (array_axes(text)) return {};
  return fmt::format("'{}': expected {}", text, expected_axes);
}

}  // namespace

StoredOptionsGiven add_stored_options(CLI::App& command, StoredOptions& options) {
  const OptionRows row(command, "Stored states");
  StoredStatesOptions& states = options.states;
  StoredOptionsGiven added{};
  added.head_count = row("--head-count", states.heads, "N",
                         "number of heads, if neither the file nor the model says it", whole_number(1, 100000));
  added.layer =
      row("--layer", states.layer, "N",
          "layer whose queries and keys are made of the states; for files that do not say it", whole_number(0, 1023));
  added.dataset =
      row("--dataset", states.dataset, "NAME",
          "dataset of the states or attention; {layer} stands for the layer's number, {document} for any text");
  added.axes =
      row("--axes", options.axes, "AXES",
          "axes of the dataset in order: layer,document,token,width, or of attention layer,document,head,query,key",
          CLI::Validator(unknown_axes, "", "axes"))
          ->needs(added.dataset);
  added.apply_norm = row("--apply-norm", states.apply_norm, nullptr,
                         "apply the model's norm before attention: the states are of the residual stream");
  added.any_states =
      row("--any-states", states.any_states, nullptr, "accept states even if they do not look normalised");
  return added;
}

StoredStatesOptions stored_of(const StoredOptions& options) {
  StoredStatesOptions states = options.states;
  if (!options.axes.empty()) states.axes = array_axes(options.axes).value();
  return states;
}

namespace {

void add_interventions(CLI::App& command, InputOptions& options, SourceOptions& added) {
  const OptionRows row(command, "Interventions");
  added.intervene = row(
      "--intervene", options.interventions, "WHAT",
      fmt::format("run with part of the model or text changed: {}; HEADS as in L2H3,L4H1; may be given several times",
                  known_interventions()));
  added.shuffles = row("--shuffles", options.intervening.shuffles, nullptr,
                       "with shuffled-words: number of random orders of every document's words, to average over",
                       whole_number(1, 100000))
                       ->capture_default_str();
}

}  // namespace

SourceOptions add_input_options(CLI::App& command, InputOptions& options) {
  const OptionRows row(command);
  SourceOptions added{};
  added.model =
      row("--model", options.model, "DIR", "Hugging Face model directory: config.json, model.safetensors, tokenizer");
  added.map = row("--map", options.map, "FILE",
                  "TOML file that says what the model's tensors are, in place of config.json; `headwave inspect --map "
                  "DIR` prints one");
  added.place = add_place_options(command, options.place);
  added.text = row("--text", options.text, "FILE",
                   "UTF-8 text file, cut into documents; -: standard input; or a sentence in quotes");
  added.target = row("--target", options.target, "FILE",
                     "text that an encoder-decoder writes, one line beside each line of --text; a line is a document");
  added.ids = row("--ids", options.ids, "FILE", "token ids instead of text, as JSON; -: standard input");
  added.states =
      row("--states", options.states, "FILE",
          "stored hidden states, queries and keys, or attention: HDF5, .npy, .npz, safetensors, or a folder of .npy");
  added.profiles = row("--profiles", options.profiles, "FILE",
                       "sums that headwave.watch(model, null=True) saved beside a running PyTorch model; several files "
                       "hold further documents (docs/profiles.md)");
  added.random = row("--random-tokens", options.random_tokens, "N",
                     "random tokens in place of a text: so many, three times, in every document (for induction)",
                     whole_number(1, 1048576));
  added.text->excludes(added.ids)->excludes(added.states)->excludes(added.random);
  added.random->excludes(added.ids)->excludes(added.states);
  added.ids->excludes(added.states);
  for (CLI::Option* other : {added.ids, added.states, added.random}) added.target->excludes(other);
  for (CLI::Option* other : {added.model, added.map, added.text, added.target, added.ids, added.states, added.random})
    added.profiles->excludes(other);
  added.documents = row("--documents", options.packing.documents, "N",
                        "number of documents; otherwise all there are, up to 100", whole_number(1, 10000000));
  added.length = row("--length", options.packing.length, "N",
                     "tokens per document, special tokens included; otherwise 512, or as many as the model has "
                     "positions",
                     whole_number(1, 1048576));
  added.no_special_tokens = row("!--no-special-tokens", options.packing.special_tokens, nullptr,
                                "add no special tokens, such as [CLS] and [SEP], to documents");
  added.allow_unknown = row("--allow-unknown", options.packing.allow_unknown, nullptr,
                            "accept a text even if the vocabulary cannot spell 90 % of its tokens or more");
  added.stored = add_stored_options(command, options.stored);
  add_interventions(command, options, added);
  return added;
}

void require_usage(const SourceOptions& given, const InputOptions& options) {
  const std::vector<const CLI::Option*> sources{given.text, given.ids, given.random, given.states, given.profiles};
  if (std::ranges::all_of(sources, [](const CLI::Option* source) { return source->empty(); }))
    throw CLI::ValidationError("give one of --text, --ids, --random-tokens, --states and --profiles");
  const bool text = !given.text->empty(), ids = !given.ids->empty(), random = !given.random->empty(),
             states = !given.states->empty(), profiles = !given.profiles->empty(), model = !given.model->empty();
  if (!profiles && !states && !model) throw CLI::ValidationError("--text, --ids and --random-tokens need --model DIR");
  // A stored job names some options where they have no effect, with the value that is usual.
  const bool shuffles = options.intervening.shuffles > 1,
             shuffled = std::ranges::count(options.interventions, "shuffled-words") > 0,
             intervenes = !options.interventions.empty(), weights = options.place.weights != "auto";
  const char* const summed = "does not apply to --profiles: they are sums over documents that passed elsewhere";
  const char* const stored = "does not apply to --states: documents are as they were stored";
  const StoredOptionsGiven& of = given.stored;
  struct Rule {
    bool applies;
    std::vector<const CLI::Option*> refused;
    const char* why;
  };
  const std::vector<Rule> rules{
      {profiles,
       {given.documents, given.length, given.no_special_tokens, given.allow_unknown, given.place.layers, of.head_count,
        of.layer, of.dataset, of.axes, of.apply_norm, of.any_states},
       summed},
      {profiles && weights, {given.place.weights}, summed},
      {profiles && intervenes, {given.intervene}, summed},
      {!text, {given.allow_unknown}, "applies to --text only"},
      {!text, {given.target}, "is what is written where --text is read; give that too"},
      {options.text == "-" && options.target == "-",
       {given.target},
       "- is standard input, which --text reads; give one of them as a file"},
      {!given.target->empty(), {given.length}, "does not apply to --target: documents are lines as they stand"},
      {shuffles && !shuffled, {given.shuffles}, "applies to --intervene shuffled-words"},
      {!model, {given.map}, "says what the tensors of --model are; give that too"},
      {states, {given.place.layers}, "does not apply to --states: layers are those that were stored"},
      {!states, {of.head_count}, "applies to --states only; the model says how many heads there are"},
      {!states, {of.layer, of.dataset, of.axes, of.apply_norm, of.any_states}, "applies to --states only"},
      {ids, {given.no_special_tokens}, "does not apply to --ids: nothing is put around them"},
      {random, {given.length}, "does not apply to --random-tokens, which says how many there are"},
      {states && intervenes,
       {given.intervene},
       "does not apply to --states: what the model made of words and positions is stored"},
      {states, {given.length, given.no_special_tokens}, stored},
      {model, {of.head_count}, "does not apply with --model, which says how many heads there are"},
      {!model, {of.apply_norm, of.any_states}, "is about the norm of a model; give it with --model DIR"}};
  for (const auto& [applies, refused, why] : rules)
    for (const CLI::Option* option : refused)
      if (applies && !option->empty()) throw CLI::ValidationError(option->get_name(), why);
}

JobInput input_of(InputOptions& options, const SourceOptions& given, std::uint64_t seed) {
  if (!options.profiles.empty()) {
    progress_at("reading the profiles");
    return profiles_input(options.profiles);
  }
  progress_at("reading the model and the documents");
  const ModelPlace place = place_of(options.model, options.map, options.place);
  const auto open = [&]() -> JobInput {
    if (!given.target->empty()) return text_input(place, options.text, options.packing, options.target);
    if (!given.text->empty() && is_sentence(options.text)) {
      require_typed_text(options.text.string());
      return text_input(place, {"the command line", std::make_shared<const std::string>(options.text.string())},
                        options.packing);
    }
    if (!given.text->empty()) return text_input(place, options.text, options.packing);
    if (!given.random->empty())
      return random_input(place,
                          {.documents = options.packing.documents.value_or(usual_documents),
                           .period = options.random_tokens,
                           .seed = seed},
                          options.packing.special_tokens);
    if (!given.ids->empty()) return ids_input(place, options.ids, options.packing);
    options.stored.states.documents = options.packing.documents.value_or(0);
    return given.model->empty() ? states_input(options.states, stored_of(options.stored))
                                : states_input(options.states, place, stored_of(options.stored));
  };
  JobInput input = open();
  for (Index i = 0; !given.ids->empty() && i < input.source->count() && options.packing.length; ++i)
    if (input.source->length(i) != *options.packing.length)
      throw CLI::ValidationError("--length", fmt::format("does not apply: {} holds documents of their own lengths, "
                                                         "document {} has {} tokens",
                                                         input_name(options.ids), i, input.source->length(i)));
  if (given.random->empty())
    require_two_tokens(input, input_name(!given.text->empty()  ? options.text
                                         : !given.ids->empty() ? options.ids
                                                               : options.states));
  const std::vector<std::string> remarks = remarks_on(input, options, given);
  if (!options.interventions.empty()) progress_at("changing the model");
  options.intervening.seed = seed;
  intervene(input, options.interventions, options.intervening);
  for (const std::string& remark : remarks) say_once(remark);
  return input;
}

bool is_sentence(const std::filesystem::path& text) {
  const std::string& typed = text.native();
  const std::string ending = text.extension().string();
  std::error_code ignored;
  return typed.find(' ') != std::string::npos && typed.find('/') == std::string::npos &&
         (ending.size() <= 1 || ending.find(' ') != std::string::npos) && !std::filesystem::exists(text, ignored);
}

void require_typed_text(const std::string& text) {
  require_utf8(text, {.name = "the text on the command line",
                      .advice = "type it in a terminal whose locale is UTF-8, or have iconv turn it into that"});
}

namespace {

/// "one document of 12 tokens", "3 documents of up to 12 tokens"
std::string extent_text(Index documents, std::int64_t length, bool of_one_length) {
  return fmt::format("{} of {}{} tokens", documents == 1 ? "one document" : fmt::format("{} documents", documents),
                     of_one_length || documents == 1 ? "" : "up to ", length);
}

/// What messages call the file or folder that documents come from.
std::string source_name(const InputOptions& options, const SourceOptions& given) {
  if (!given.states->empty()) return options.states.string();
  return input_name(given.text->empty() ? options.ids : options.text);
}

/// How far the documents go in a stack that reads them, in tokens.
Index furthest(const JobInput& input, const Stack& stack) {
  Index tokens = 0;
  for (Index i = 0; i < input.source->count(); ++i) {
    if (!input.model.decoder) {
      tokens = std::max(tokens, input.source->length(i));
      continue;
    }
    const Document document = input.source->document(i);
    const TokenSequence& read = &stack == &input.model.stack ? document : document.target;
    tokens = std::max(tokens, static_cast<Index>(read.ids.size()));
  }
  return tokens;
}

/// What is read of a position table where it was never trained; empty: nothing.
std::string untrained_remark(const JobInput& input, const Stack& stack) {
  Attributes found;
  add_trained_rows(found, stack.embedding.positions);
  if (found.empty()) return {};
  const auto trained = std::get<std::int64_t>(found.at("trained_rows"));
  const Index tokens = furthest(input, stack);
  if (tokens <= trained) return {};
  return fmt::format("{}; documents of up to {} tokens reach into them: documents of {} tokens or fewer do not",
                     untrained_rows_text(found), tokens, trained);
}

/// "text.txt: 35 % of its tokens are unknown, ..."; empty where few are.
std::string unknown_tokens_text(const std::string& text, double share) {
  if (share < many_unknown) return {};
  return fmt::format(
      "{}: {:.0f} % of its tokens are unknown, since the model's vocabulary cannot spell them; is it in the language "
      "and the "
      "spelling that the model was trained on?",
      text, 100 * share);
}

}  // namespace

std::string untrained_rows_text(const Attributes& provenance) {
  if (!provenance.contains("trained_rows")) return {};
  const auto trained = std::get<std::int64_t>(provenance.at("trained_rows"));
  const auto rows = std::get<std::int64_t>(provenance.at("position_rows"));
  return fmt::format(
      "rows {} to {} of the position table look as if they were never trained (their norm is {:.3g}, that of the rows "
      "before them {:.3g})",
      trained, rows - 1, std::get<double>(provenance.at("untrained_norm")),
      std::get<double>(provenance.at("trained_norm")));
}

std::string rows_read_text(const Attributes& provenance, Index read) {
  const std::string untrained = untrained_rows_text(provenance);
  if (untrained.empty()) return {};
  const auto trained = std::get<std::int64_t>(provenance.at("trained_rows"));
  const auto rows = std::get<std::int64_t>(provenance.at("position_rows"));
  if (read < trained) return {};
  if (read > trained) return fmt::format("{}; rows 0 to {} are read, these among them", untrained, read - 1);
  return fmt::format("{}; rows 0 to {} are read (--rows {} reads all)", untrained, read - 1, rows);
}

std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options, const SourceOptions& given) {
  std::vector<std::string> remarks;
  const std::string name = input_name(given.text->empty() ? options.ids : options.text);
  const Attributes provenance = input.source->provenance();
  const Index documents = input.source->count();
  for (const Stack* stack : {&input.model.stack, input.model.decoder ? &*input.model.decoder : nullptr})
    if (stack != nullptr)
      if (std::string remark = untrained_remark(input, *stack); !remark.empty()) remarks.push_back(std::move(remark));
  const bool counted = !given.text->empty() || !given.ids->empty();
  if (counted && !options.packing.documents && documents < usual_documents)
    remarks.push_back(fmt::format("{}: {}; statistics over so few are rough, {} are usual", name,
                                  extent_text(documents, std::get<std::int64_t>(provenance.at("length")),
                                              !given.text->empty() && given.target->empty()),
                                  usual_documents));
  if (const auto found = provenance.find("equal_documents"); found != provenance.end()) {
    const auto equal = std::get<std::int64_t>(found->second);
    remarks.push_back(fmt::format("{}: {} of {} documents {} equal to an earlier one; each counts once, {} are left",
                                  source_name(options, given), equal, documents + equal, equal == 1 ? "is" : "are",
                                  documents));
  }
  for (const auto& [share, text] :
       {std::pair("unknown_share", &options.text), {"target_unknown_share", &options.target}})
    if (const auto found = provenance.find(share); found != provenance.end())
      if (std::string remark = unknown_tokens_text(input_name(*text), std::get<double>(found->second)); !remark.empty())
        remarks.push_back(std::move(remark));
  if (const auto found = provenance.find("unk_strings"); found != provenance.end())
    remarks.push_back(fmt::format(
        "{}: contains the string <unk> {} times, which this tokenizer does not read as one token; it stands for rare "
        "words in tokenised editions of a text (as of WikiText): use the raw text",
        input_name(options.text), std::get<std::int64_t>(found->second)));
  if (const auto found = input.provenance.find("named_length"); found != input.provenance.end()) {
    const auto tokens = std::get<std::int64_t>(found->second);
    remarks.push_back(fmt::format(
        "{}: documents of up to {} tokens are longer than the model was made for: {}; give {}", options.model.string(),
        std::get<std::int64_t>(provenance.at("length")), attribute_text(input.provenance, "named_lengths"),
        !given.text->empty() && given.target->empty() ? fmt::format("--length {} or less", tokens)
                                                      : fmt::format("documents of {} tokens or fewer", tokens)));
  }
  if (const auto found = input.provenance.find("tokenizer_unread"); found != input.provenance.end())
    remarks.push_back(fmt::format("{}: tokens are shown as ids, and none is known to be special or padding",
                                  std::get<std::string>(found->second)));
  if (const auto found = input.provenance.find("left_out_stacks"); found != input.provenance.end())
    remarks.push_back(
        fmt::format("the profiles hold more, which a run does not look at: {}", std::get<std::string>(found->second)));
  if (const auto found = provenance.find("stored_layers"); found != provenance.end()) {
    const auto& stored = std::get<std::string>(found->second);
    std::vector<Index> layers(input.model.stack.blocks.size());
    std::iota(layers.begin(), layers.end(), Index{0});
    const std::string all = layers_text(layers);
    std::string remark = fmt::format("{}: {}, layer{} {}", options.states.string(),
                                     extent_text(documents, std::get<std::int64_t>(provenance.at("length")), false),
                                     stored.find_first_of(",-") == stored.npos ? "" : "s", stored);
    if (!given.model->empty() && stored != all)
      remark += fmt::format(" of the model's {}; the others are not looked at", all);
    if (given.model->empty())
      remark += input.model.stack.block.causal ? "; attention is causal" : "; attention goes both ways";
    if (attribute_text(provenance, "special_tokens").starts_with("not known"))
      remark += "; no token is known to be special (pairs without_special are all pairs)";
    remarks.push_back(remark);
  }
  return remarks;
}

void say_once(const std::string& remark) {
  static std::set<std::string> said;
  if (said.insert(remark).second) say(visible_text(remark));
}

}  // namespace headwave::cli
