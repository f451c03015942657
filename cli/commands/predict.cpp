#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/models/model_directory.h"
#include "../../data/tokens/tokenizer.h"
#include "../../reports/drawing/terminal_table.h"
#include "../../reports/drawing/visible_text.h"
#include "../options/help.h"
#include "../options/run_input.h"
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

/// What is predicted at one place of a text.
struct Guess {
  Index place = 0;
  std::vector<WordChance> words;
};

/// The text as the model was trained to see it: a masked model's between its opening and closing tokens, a causal
/// model's after its opening token, where the tokenizer has one.
Document document_of(const PredictOptions& options, const Tokenizer& tokenizer, bool causal) {
  const SpecialTokens special = tokenizer.special_tokens();
  Document document;
  document.name = "the text";
  if (special.opens >= 0) document.ids.push_back(special.opens);
  const std::vector<std::int32_t> ids = tokenizer.encode(options.text);
  document.ids.insert(document.ids.end(), ids.begin(), ids.end());
  if (special.closes >= 0 && !causal) document.ids.push_back(special.closes);
  if (document.ids.empty()) throw ShapeError("the text is empty, and the model has no token to open it with");
  return document;
}

Vector chances_at(const Model& model, const Matrix32& states, Index place) {
  const Matrix32 scores = logits(model, states.middleRows(place, 1));
  return probabilities(VectorView32(scores.data(), scores.cols()));
}

std::vector<Guess> masked_guesses(const Model& model, const Document& document, const Tokenizer& tokenizer, Index top) {
  const std::int32_t mask = tokenizer.special_tokens().mask;
  std::vector<Guess> guesses;
  const Matrix32 states = model_pass(model, document, {}, {.final_states = true});
  for (Index i = 0; i < document.length(); ++i)
    if (mask >= 0 && document.ids[static_cast<std::size_t>(i)] == mask)
      guesses.push_back({i, likeliest(chances_at(model, states, i), top)});
  if (guesses.empty())
    throw ShapeError(
        mask < 0 ? "the tokenizer has no mask token; this model cannot be asked for a word"
                 : fmt::format("the text has no {}; put it where a word should be guessed", tokenizer.piece(mask)));
  return guesses;
}

/// The next token, and where asked for those after it, the likeliest each time.
std::vector<Guess> causal_guesses(const Model& model, Document document, const PredictOptions& options) {
  std::vector<Guess> guesses;
  for (Index n = 0; n < std::max<Index>(1, options.tokens); ++n) {
    const Matrix32 states = model_pass(model, document, {}, {.final_states = true});
    guesses.push_back({document.length(), likeliest(chances_at(model, states, states.rows() - 1), options.top)});
    document.ids.push_back(static_cast<std::int32_t>(guesses.back().words.front().id));
  }
  return guesses;
}

/// A tokenizer may know fewer tokens than the model has rows for.
std::string text_of(const Tokenizer& tokenizer, Index id) {
  return id < tokenizer.vocabulary() ? tokenizer.token_text(static_cast<std::int32_t>(id)) : fmt::format("<{}>", id);
}

void print_json(const std::vector<Guess>& guesses, const Tokenizer& tokenizer) {
  ordered_json json = ordered_json::array();
  for (const Guess& guess : guesses) {
    ordered_json words = ordered_json::array();
    for (const WordChance& word : guess.words)
      words.push_back({{"token", text_of(tokenizer, word.id)}, {"id", word.id}, {"probability", word.probability}});
    json.push_back({{"position", guess.place}, {"words", words}});
  }
  fmt::print("{}\n", ordered_json({{"version", 1}, {"predictions", json}})
                         .dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

void print_tables(const std::vector<Guess>& guesses, const Tokenizer& tokenizer) {
  for (const Guess& guess : guesses) {
    TableColumn words{"token", Align::left, {}}, ids{"id", Align::right, {}}, chances{"probability", Align::right, {}};
    for (const WordChance& word : guess.words) {
      words.cells.push_back(text_of(tokenizer, word.id));
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
  const bool causal = model.stack.block.causal;
  if (options.tokens > 0 && !causal)
    throw CLI::ValidationError("--tokens", "applies to causal models; this one guesses at masks");
  const Document document = document_of(options, *tokenizer, causal);
  const std::vector<Guess> guesses =
      causal ? causal_guesses(model, document, options) : masked_guesses(model, document, *tokenizer, options.top);
  if (options.json) {
    print_json(guesses, *tokenizer);
  } else if (options.tokens > 0) {
    std::string text;
    for (const Guess& guess : guesses) text += text_of(*tokenizer, guess.words.front().id);
    fmt::print("{}{}\n", visible_text(options.text), visible_text(text));
  } else {
    print_tables(guesses, *tokenizer);
  }
  return done;
}

}  // namespace

void add_predict(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command = program.add_subcommand(
      "predict", "what a model guesses: the words behind [MASK] (or its kin), or the token that comes next");
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
