#include "input_options.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "../../data/files/input_text.h"
#include "../../data/sources/stored_states.h"
#include "../../data/sources/text_documents.h"
#include "../../job/inputs/input_rules.h"
#include "../../job/inputs/job_input.h"
#include "../../job/inputs/stored_sums.h"
#include "../../job/run/provenance.h"
#include "../../reports/drawing/visible_text.h"
#include "../terminal/progress.h"
#include "../terminal/terminal.h"
#include "option_row.h"
#include "values.h"

namespace headwave::cli {

void add_place_options(CLI::App& command, PlaceOptions& options) {
  const OptionRows row(command);
  const auto wrong = [](const std::string& given) {
    return first_layers(given) ? std::string() : fmt::format("'{}': expected {}", given, expected_first_layers);
  };
  row("--layers", options.layers, "0-N", "compute only these layers, such as 0-7; later ones are not read",
      CLI::Validator(wrong, "", "first layers"));
  row("--weights", options.weights, nullptr,
      "load weights into memory, or layer by layer, without head_effect and head_writes; auto: by size",
      one_of({"auto", "memory", "layers"}))
      ->capture_default_str();
}

ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options) {
  ModelPlace place(model, map);
  if (!options.layers.empty()) place.layers = first_layers(options.layers).value_or(0);
  place.weights_in = weights_in(options.weights).value_or(WeightsIn::either);
  if (!options.max_memory.empty()) place.memory = bytes_of(options.max_memory);
  return place;
}

namespace {

void add_stored(CLI::App& command, InputOptions& options) {
  const OptionRows row(command, "Stored states");
  StoredStatesOptions& states = options.stored;
  row("--head-count", states.heads, "N", "number of heads, if neither file nor model gives it",
      whole_number(1, 100000));
  row("--layer", states.layer, "N", "layer that the states enter, if the file does not say it", whole_number(0, 1023));
  row("--dataset", states.dataset, "NAME",
      "name of the dataset in the file; {layer} stands for the layer's number, {document} for any text");
  const auto unknown_axes = [](const std::string& text) {
    return array_axes(text) ? std::string() : fmt::format("'{}': expected {}", text, expected_axes);
  };
  row("--axes", options.axes, "AXES",
      "axes of the dataset in order: layer,document,token,width, or for attention layer,document,head,query,key",
      CLI::Validator(unknown_axes, "", "axes"));
  row("--apply-norm", states.apply_norm, nullptr,
      "apply the model's norm before attention, for states from the residual stream");
  row("--any-states", states.any_states, nullptr, "accept states even if they do not look normalised");
}

void add_interventions(CLI::App& command, InputOptions& options) {
  const OptionRows row(command, "Interventions");
  row("--intervene", options.interventions, "WHAT",
      fmt::format("change model or text: {}; HEADS as L2H3,L4H1; repeatable", known_interventions()));
  row("--shuffles", options.intervening.shuffles, nullptr,
      "with shuffled-words: number of random orders to average over", whole_number(1, 100000))
      ->capture_default_str();
}

/// "--head-count" for "head_count".
std::string option_name(std::string name) {
  if (name == "shuffled_words") return "--intervene shuffled-words";
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

/// The options of a command that were given, by their names in input_rules(). A stored job also gives options
/// that have no effect, with their usual values; these are left out.
std::set<std::string> said_options(const CLI::App& command) {
  std::set<std::string> said;
  for (const CLI::Option* option : command.get_options({})) {
    if (option->empty() || option->get_lnames().empty()) continue;
    if (option->reduced_results().front() == option->get_default_str()) continue;
    std::string name = option->get_lnames().front();
    std::ranges::replace(name, '-', '_');
    said.insert(name);
  }
  return said;
}

}  // namespace

void add_input_options(CLI::App& command, InputOptions& options) {
  const OptionRows row(command);
  row("--model", options.model, "DIR", "Hugging Face model directory: config.json, model.safetensors, tokenizer");
  row("--map", options.map, "FILE",
      "TOML file that describes the model's tensors, for models of unknown families (docs/model-map.md)");
  add_place_options(command, options.place);
  row("--text", options.text, "FILE",
      "UTF-8 text file, cut into documents; - for standard input; or a sentence in quotes");
  row("--target", options.target, "FILE",
      "text for the decoder of an encoder-decoder: one line for each line of --text");
  row("--ids", options.ids, "FILE", "token ids as JSON; - for standard input");
  row("--states", options.states, "FILE",
      "stored hidden states, queries and keys, or attention: HDF5, .npy, .npz, safetensors, or a folder of .npy");
  row("--profiles", options.profiles, "FILE",
      "sums that headwave.watch(model, null=True) saved from a running PyTorch model (docs/profiles.md)");
  row("--random-tokens", options.random_tokens, "N",
      "N random tokens instead of a text, three times in every document; they show induction heads",
      whole_number(1, 1048576));
  row("--documents", options.packing.documents, "N", "number of documents; default: all, up to 100",
      whole_number(1, 10000000));
  row("--length", options.packing.length, "N",
      "tokens per document, special tokens included; default: 512, or as many as the model has positions",
      whole_number(1, 1048576));
  row("!--no-special-tokens", options.packing.special_tokens, nullptr, "omit special tokens such as [CLS] and [SEP]");
  row("--allow-unknown", options.packing.allow_unknown, nullptr,
      "accept a text even if the vocabulary cannot spell 90 % of its tokens");
  add_stored(command, options);
  add_interventions(command, options);
  for (const InputRule& rule : input_rules())
    if (rule.kind == InputRule::Kind::replaces)
      command.get_option(option_name(rule.option))->excludes(option_name(rule.other));
}

void require_usage(const CLI::App& command, const InputOptions& options) {
  std::set<std::string> said = said_options(command);
  if (std::ranges::count(options.interventions, "shuffled-words") > 0) said.insert("shuffled_words");
  const auto is_said = [&](const char* name) { return said.contains(name); };
  if (!std::ranges::any_of(std::array{"text", "ids", "random_tokens", "states", "profiles"}, is_said))
    throw CLI::ValidationError("give one of --text, --ids, --random-tokens, --states and --profiles");
  if (const InputRule* rule = broken_input_rule(said))
    throw CLI::ValidationError(option_name(rule->option),
                               fmt::format(fmt::runtime(rule->why), option_name(rule->other)));
  if (options.text == "-" && options.target == "-")
    throw CLI::ValidationError("--target", "- is standard input, which --text reads; give one of them as a file");
}

namespace {

/// Facts about an input that a user should know although they are no errors.
std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options);

/// The name of the file or folder of the documents in messages.
std::string source_name(const InputOptions& options) {
  if (!options.states.empty()) return options.states.string();
  return input_name(options.text.empty() ? options.ids : options.text);
}

JobInput opened_input(const InputOptions& options, std::uint64_t seed) {
  const ModelPlace place = place_of(options.model, options.map, options.place);
  if (!options.target.empty()) return text_input(place, options.text, options.packing, options.target);
  if (is_sentence(options.text)) {
    require_utf8(options.text.string(), "the text on the command line");
    return text_input(place, {"the command line", std::make_shared<const std::string>(options.text.string())},
                      options.packing);
  }
  if (!options.text.empty()) return text_input(place, options.text, options.packing);
  if (options.random_tokens > 0)
    return random_input(place,
                        {.documents = options.packing.documents.value_or(usual_documents),
                         .period = options.random_tokens,
                         .seed = seed},
                        options.packing.special_tokens);
  if (!options.ids.empty()) return ids_input(place, options.ids, options.packing);
  StoredStatesOptions stored = options.stored;
  if (!options.axes.empty()) stored.axes = array_axes(options.axes).value();
  stored.documents = options.packing.documents.value_or(0);
  return options.model.empty() ? states_input(options.states, stored) : states_input(options.states, place, stored);
}

}  // namespace

JobInput input_of(InputOptions& options, std::uint64_t seed) {
  if (!options.profiles.empty()) {
    progress_at("reading the profiles");
    return profiles_input(options.profiles);
  }
  progress_at("reading the model and the documents");
  JobInput input = opened_input(options, seed);
  for (Index i = 0; !options.ids.empty() && i < input.source->count() && options.packing.length; ++i)
    if (input.source->length(i) != *options.packing.length)
      throw CLI::ValidationError(
          "--length",
          fmt::format("does not apply: {} states the length of each document, such as document {} of {} tokens",
                      input_name(options.ids), i, input.source->length(i)));
  if (options.random_tokens == 0) require_two_tokens(input, source_name(options));
  const std::vector<std::string> remarks = remarks_on(input, options);
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

namespace {

/// "one document of 12 tokens", "3 documents of up to 12 tokens"
std::string extent_text(Index documents, Index length, bool of_one_length) {
  return fmt::format("{} of {}{} tokens", documents == 1 ? "one document" : fmt::format("{} documents", documents),
                     of_one_length || documents == 1 ? "" : "up to ", length);
}

Index whole_of(const Attributes& attributes, const std::string& name) {
  return static_cast<Index>(attribute_number(attributes, name, 0));
}

/// "rows 207 to 511 of the position table look as if they were never trained (...)"; empty if none do.
std::string untrained_rows_text(const Attributes& provenance) {
  if (!provenance.contains("trained_rows")) return {};
  return fmt::format(
      "rows {} to {} of the position table look as if they were never trained (their norm is {:.3g}, that of the rows "
      "before them {:.3g})",
      whole_of(provenance, "trained_rows"), whole_of(provenance, "position_rows") - 1,
      attribute_number(provenance, "untrained_norm"), attribute_number(provenance, "trained_norm"));
}

/// The largest number of tokens in a document that a stack reads.
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

/// The remark that documents reach into untrained rows of a position table; empty if they do not.
std::string untrained_remark(const JobInput& input, const Stack& stack) {
  Attributes found;
  add_trained_rows(found, stack.embedding.positions);
  const Index trained = whole_of(found, "trained_rows"), tokens = found.empty() ? 0 : furthest(input, stack);
  if (tokens <= trained) return {};
  return fmt::format("{}; documents of up to {} tokens use these rows, documents of {} tokens or fewer do not",
                     untrained_rows_text(found), tokens, trained);
}

/// "states.h5: 20 documents of up to 512 tokens, layers 0-5; attention is causal"
std::string stored_remark(const JobInput& input, const InputOptions& options, const Attributes& provenance) {
  const std::string stored = attribute_text(provenance, "stored_layers");
  std::vector<Index> layers(input.model.stack.blocks.size());
  std::iota(layers.begin(), layers.end(), Index{0});
  const std::string all = layers_text(layers);
  std::string remark = fmt::format("{}: {}, layer{} {}", options.states.string(),
                                   extent_text(input.source->count(), whole_of(provenance, "length"), false),
                                   stored.find_first_of(",-") == stored.npos ? "" : "s", stored);
  if (options.model.empty())
    remark += input.model.stack.block.causal ? "; attention is causal" : "; attention is bidirectional";
  else if (stored != all)
    remark += fmt::format(" of the model's {}; the others are not analysed", all);
  if (attribute_text(provenance, "special_tokens").starts_with("not known"))
    remark += "; no token is known to be special (pairs without_special are all pairs)";
  return remark;
}

std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options) {
  std::vector<std::string> remarks;
  const std::string name = source_name(options);
  const Attributes provenance = input.source->provenance();
  const Index documents = input.source->count(), length = whole_of(provenance, "length");
  const bool text = !options.text.empty(), of_one_length = text && options.target.empty();
  for (const Stack* stack : {&input.model.stack, input.model.decoder ? &*input.model.decoder : nullptr})
    if (stack != nullptr)
      if (std::string remark = untrained_remark(input, *stack); !remark.empty()) remarks.push_back(std::move(remark));
  if ((text || !options.ids.empty()) && !options.packing.documents && documents < usual_documents)
    remarks.push_back(fmt::format("{}: {}; statistics over so few are rough, {} documents are usual", name,
                                  extent_text(documents, length, of_one_length), usual_documents));
  if (const Index equal = whole_of(provenance, "equal_documents"); provenance.contains("equal_documents"))
    remarks.push_back(fmt::format("{}: {} of {} documents {} equal to an earlier one; each counts once, so {} remain",
                                  name, equal, documents + equal, equal == 1 ? "is" : "are", documents));
  for (const auto& [unknown, file] :
       {std::pair("unknown_share", &options.text), {"target_unknown_share", &options.target}})
    if (const double share = attribute_number(provenance, unknown, 0); share >= many_unknown)
      remarks.push_back(fmt::format(
          "{}: {:.0f} % of its tokens are unknown, since the model's vocabulary cannot spell them; is it in the "
          "language and the spelling that the model was trained on?",
          input_name(*file), 100 * share));
  if (provenance.contains("unk_strings"))
    remarks.push_back(fmt::format(
        "{}: contains the string <unk> {} times, which this tokenizer does not read as one token; it stands for rare "
        "words in tokenised editions of a text (as of WikiText): use the raw text",
        input_name(options.text), whole_of(provenance, "unk_strings")));
  if (const Index tokens = whole_of(input.provenance, "named_length"); tokens > 0)
    remarks.push_back(
        fmt::format("{}: documents of up to {} tokens are longer than the model was made for: {}; give {}",
                    options.model.string(), length, attribute_text(input.provenance, "named_lengths"),
                    of_one_length ? fmt::format("--length {} or less", tokens)
                                  : fmt::format("documents of {} tokens or fewer", tokens)));
  if (const std::string unread = attribute_text(input.provenance, "tokenizer_unread"); !unread.empty())
    remarks.push_back(fmt::format("{}: tokens are shown as ids, and none is known to be special or padding", unread));
  if (const std::string more = attribute_text(input.provenance, "left_out_stacks"); !more.empty())
    remarks.push_back(fmt::format("the profiles also hold layers that a run omits: {}", more));
  if (provenance.contains("stored_layers")) remarks.push_back(stored_remark(input, options, provenance));
  return remarks;
}

}  // namespace

std::string rows_read_text(const Attributes& provenance, Index read) {
  const std::string untrained = untrained_rows_text(provenance);
  const Index trained = whole_of(provenance, "trained_rows");
  if (untrained.empty() || read < trained) return {};
  if (read > trained) return fmt::format("{}; rows 0 to {} are read, which includes these", untrained, read - 1);
  return fmt::format("{}; rows 0 to {} are read (--rows {} reads all)", untrained, read - 1,
                     whole_of(provenance, "position_rows"));
}

void say_once(const std::string& remark) {
  static std::set<std::string> said;
  if (said.insert(remark).second) say(visible_text(remark));
}

}  // namespace headwave::cli
