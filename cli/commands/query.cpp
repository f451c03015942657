#include <array>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/fields/head_name.h"
#include "../../core/model/key_free.h"
#include "../../core/model/layer_positions.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../data/models/model_directory.h"
#include "../../data/tokens/tokenizer.h"
#include "../../reports/drawing/terminal_table.h"
#include "../options/help.h"
#include "../options/run_input.h"
#include "../options/values.h"
#include "commands.h"

namespace headwave::cli {

namespace {

using nlohmann::ordered_json;

struct QueryOptions {
  std::filesystem::path model, map;
  std::string head, text;
  Index top = 5;
  bool json = false;
};

/// Keeps what enters one layer's projections.
class LayerStates : public Probe {
 public:
  explicit LayerStates(Index layer) : layer_(layer) {}
  using Probe::see;
  void see(const LayerInput& input) override {
    if (input.layer == layer_) states_ = input.states.cast<double>();
  }
  void see(const Tile& /*tile*/) override {}
  [[nodiscard]] const Matrix& states() const { return states_; }

 private:
  Index layer_;
  Matrix states_;
};

/// What a token's query would score highest, were it the key.
struct Sought {
  std::string token;
  std::vector<WordChance> words;  ///< with scores in the place of probabilities
};

std::vector<Sought> sought(const Model& model, const Tokenizer& tokenizer, const QueryOptions& options) {
  const HeadName head = parse_head_name(options.head);
  const Stack& stack = model.stack;
  if (head.layer >= stack.layers() || head.head >= stack.block.heads)
    throw ShapeError(fmt::format("there is no {}; the model has {} layers of {} heads", options.head, stack.layers(),
                                 stack.block.heads));
  if (stack.position_term != nullptr && !stack.position_term->additive())
    throw ShapeError(
        fmt::format("a {} turns queries and keys by their positions: its queries cannot be carried back "
                    "to hidden states",
                    model.family));
  Document document;
  document.name = "the text";
  const SpecialTokens special = tokenizer.special_tokens();
  if (special.opens >= 0) document.ids.push_back(special.opens);
  for (const std::int32_t id : tokenizer.encode(options.text)) document.ids.push_back(id);
  if (special.closes >= 0 && !stack.block.causal) document.ids.push_back(special.closes);
  LayerStates look(head.layer);
  const std::array<Probe*, 1> probes{&look};
  model_pass(model, document, probes);

  const AttentionWeights& weights = stack.blocks[static_cast<std::size_t>(head.layer)].self;
  const Matrix32 queries = key_free_queries(look.states(), weights, stack.block, head.head).cast<float>();
  Matrix32 words = layer_words(stack, head.layer);
  // What all words share moves every score alike, and the softmax does not see it.
  words.rowwise() -= words.colwise().mean().eval();
  const Matrix32 scores = queries * words.transpose() * static_cast<float>(stack.block.score_scale);
  std::vector<Sought> result;
  for (Index i = 0; i < scores.rows(); ++i)
    result.push_back({tokenizer.token_text(document.ids[static_cast<std::size_t>(i)]),
                      likeliest(scores.row(i).transpose().cast<double>(), options.top)});
  return result;
}

int query(const QueryOptions& options) {
  require_typed_text(options.text);
  const Model model = open_model({options.model, options.map});
  const std::unique_ptr<Tokenizer> tokenizer = open_tokenizer(options.model);
  const auto text_of = [&](Index id) {
    return id < tokenizer->vocabulary() ? tokenizer->token_text(static_cast<std::int32_t>(id))
                                        : fmt::format("<{}>", id);
  };
  ordered_json json = ordered_json::array();
  TableColumn tokens{"token", Align::left, {}}, looks{"its query scores highest (score)", Align::left, {}};
  for (const Sought& one : sought(model, *tokenizer, options)) {
    ordered_json words = ordered_json::array();
    std::string list;
    for (const WordChance& word : one.words) {
      words.push_back({{"token", text_of(word.id)}, {"id", word.id}, {"score", word.probability}});
      list += fmt::format("{}{} ({:.2f})", list.empty() ? "" : "  ", text_of(word.id), word.probability);
    }
    json.push_back({{"token", one.token}, {"words", words}});
    tokens.cells.push_back(one.token);
    looks.cells.push_back(list);
  }
  if (options.json)
    fmt::print("{}\n", ordered_json({{"version", 1}, {"head", options.head}, {"queries", json}})
                           .dump(2, ' ', false, ordered_json::error_handler_t::replace));
  else
    fmt::print("{}", terminal_table({tokens, looks}));
  return done;
}

}  // namespace

void add_query(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = program.add_subcommand(
      "query", "what a head looks for: the words whose keys each token's query would score highest");
  command->add_option("--model", options->model, "model directory: config.json, weights, tokenizer")
      ->required()
      ->type_name("DIR");
  command->add_option("--map", options->map, "what the model's tensors are, instead of config.json")->type_name("FILE");
  command->add_option("--head", options->head, "L2H3: head 3 of layer 2, both counted from 0")
      ->required()
      ->type_name("HEAD");
  command->add_option("text", options->text, "a text")->required();
  command->add_option("--top", options->top, "how many words for each token")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON, versioned, for other programs");
  add_examples(*command, {{"query --model minilm --head L0H2 \"the cat sat on the mat\"",
                           "the words that each token of the text would look for"},
                          {"query --model minilm --head L1H3 --top 10 --json \"the cat sat on the mat\"",
                           "more of them, for another program"}});
  command->final_callback([=, &chosen] { chosen = [=] { return query(*options); }; });
}

}  // namespace headwave::cli
