#include <algorithm>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/model/prediction.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/text_documents.h"
#include "../../data/tokens/tokenizer.h"
#include "../../job/inputs/job_input.h"
#include "../../reports/drawing/terminal_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/values.h"
#include "commands.h"

namespace headwave::cli {

namespace {

using nlohmann::ordered_json;

struct PredictOptions {
  std::filesystem::path model, map;
  std::string text;
  Index top = 10;
  Index tokens = 0;
  bool json = false;
};

std::vector<Guess> guesses_of(const Model& model, const Tokenizer& tokenizer, const PredictOptions& options) {
  const Document document = typed_document(options.text, tokenizer, model.stack.block.causal);
  if (model.stack.block.causal) {
    std::vector<Guess> guesses = greedy_continuation(model, document, std::max<Index>(1, options.tokens), options.top);
    say_unknown(document, tokenizer);
    return guesses;
  }
  const std::int32_t mask = tokenizer.special_tokens().mask;
  std::vector<Guess> guesses = masked_guesses(model, document, mask, options.top);
  if (guesses.empty())
    throw ShapeError(
        mask < 0 ? "the tokenizer has no mask token; this model cannot be asked for a word"
                 : fmt::format("the text has no {}; put it where a word should be guessed", tokenizer.piece(mask)));
  say_unknown(document, tokenizer);
  return guesses;
}

void print_json(const std::vector<Guess>& guesses, const Tokenizer& tokenizer) {
  ordered_json json = ordered_json::array();
  for (const Guess& guess : guesses) {
    ordered_json words = ordered_json::array();
    for (const WordChance& word : guess.words)
      words.push_back({{"token", word_text(tokenizer, word.id)}, {"id", word.id}, {"probability", word.probability}});
    json.push_back({{"position", guess.place}, {"words", words}});
  }
  fmt::print("{}\n", ordered_json({{"version", 1}, {"predictions", json}})
                         .dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_tables(const std::vector<Guess>& guesses, const Tokenizer& tokenizer) {
  for (const Guess& guess : guesses) {
    TableColumn words{"token", Align::left, {}}, ids{"id", Align::right, {}}, chances{"probability", Align::right, {}};
    for (const WordChance& word : guess.words) {
      words.cells.push_back(word_text(tokenizer, word.id));
      ids.cells.push_back(fmt::format("{}", word.id));
      chances.cells.push_back(fmt::format("{:.4f}", word.probability));
    }
    fmt::print("position {}\n{}\n", guess.place, terminal_table({words, ids, chances}));
  }
}

int predict(const PredictOptions& options) {
  require_typed_text(options.text);
  const Model model = open_model({options.model, options.map});
  const std::unique_ptr<Tokenizer> tokenizer = open_tokenizer(options.model);
  if (model.decoder)
    throw ShapeError(
        fmt::format("{}: a {} writes a text about another; predictions are made for masked and causal "
                    "language models",
                    options.model.string(), model.family));
  if (options.tokens > 0 && !model.stack.block.causal)
    throw CLI::ValidationError("--tokens", "applies to causal models; this one guesses at masks");
  const std::vector<Guess> guesses = guesses_of(model, *tokenizer, options);
  if (options.json) {
    print_json(guesses, *tokenizer);
  } else if (options.tokens > 0) {
    std::string text;
    for (const Guess& guess : guesses) text += word_text(*tokenizer, guess.words.front().id);
    fmt::print("{}{}\n", visible_text(options.text), visible_text(text));
  } else {
    print_tables(guesses, *tokenizer);
  }
  return done;
}

}  // namespace

void add_predict(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command =
      program.add_subcommand("predict", "predict the words for [MASK] in a text, or the token that comes next");
  command->add_option("--model", options->model, "model directory: config.json, weights, tokenizer")
      ->required()
      ->type_name("DIR");
  command->add_option("--map", options->map, "what the model's tensors are, instead of config.json")->type_name("FILE");
  command->add_option("text", options->text, "\"text with [MASK]\", or the beginning of a text")->required();
  command->add_option("--top", options->top, "how many guesses at a place")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command->add_option("--tokens", options->tokens, "causal models: continue the text by so many tokens, greedily")
      ->check(whole_number(1, 1000000));
  command->add_flag("--json", options->json, "print JSON, versioned, for other programs");
  add_examples(*command, {{"predict --model bert \"the cat [MASK] on the mat\"", "the likeliest words in the gap"},
                          {"predict --model gpt2 \"once upon a\" --top 5", "the likeliest words that come next"},
                          {"predict --model gpt2 \"once upon a\" --tokens 20", "the text goes on"}});
  command->final_callback([=, &chosen] { chosen = [=] { return predict(*options); }; });
}

}  // namespace headwave::cli
