#include <cmath>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../analysis/attention/sought_words.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/text_documents.h"
#include "../../data/tokens/tokenizer.h"
#include "../../job/inputs/job_input.h"
#include "../../reports/drawing/terminal_table.h"
#include "../options/help.h"
#include "../options/input_options.h"
#include "../options/values.h"
#include "commands.h"

namespace headwave::cli {

namespace {

using nlohmann::ordered_json;

constexpr double reads_words = 0.5;  // share of scores from which a list of words says where a head looks

struct QueryOptions {
  std::filesystem::path model, map;
  std::string head, text;
  Index top = 5;
  bool json = false;
};

/// Whether the list of words says where the head looks; nothing where a text is too short to tell.
std::string share_text(double share, const std::string& head) {
  if (!std::isfinite(share)) return "";
  return fmt::format("Words give {:.0f} % of how the scores of {} differ from key to key in this text{}.\n\n",
                     100 * share, head, share < reads_words ? ": the list says little of where it looks" : "");
}

int query(const QueryOptions& options) {
  require_typed_text(options.text);
  const Model model = open_model({options.model, options.map});
  const std::unique_ptr<Tokenizer> tokenizer = open_tokenizer(options.model);
  const HeadName head = parse_head_name(options.head);
  const Document document = typed_document(options.text, *tokenizer, model.stack.block.causal);
  const SoughtWords sought = sought_words(model, document, head, options.top);
  say_unknown(document, *tokenizer);
  const double share = sought.share_of_words;
  ordered_json json = ordered_json::array();
  TableColumn tokens{"token", Align::left, {}}, looks{"its query scores highest (score)", Align::left, {}};
  for (std::size_t i = 0; i < sought.by_token.size(); ++i) {
    ordered_json words = ordered_json::array();
    std::string list;
    for (const SoughtWord& word : sought.by_token[i]) {
      const std::string text = word_text(*tokenizer, word.id);
      words.push_back({{"token", text}, {"id", word.id}, {"score", word.score}});
      list += fmt::format("{}{} ({:.2f})", list.empty() ? "" : "  ", text, word.score);
    }
    tokens.cells.push_back(tokenizer->token_text(document.ids[i]));
    looks.cells.push_back(list);
    json.push_back({{"token", tokens.cells.back()}, {"words", words}});
  }
  if (options.json)
    fmt::print("{}\n", ordered_json({{"version", 1},
                                     {"head", options.head},
                                     {"share_of_words", std::isfinite(share) ? ordered_json(share) : ordered_json()},
                                     {"queries", json}})
                           .dump(2, ' ', false, ordered_json::error_handler_t::replace));
  else
    fmt::print("{}{}", share_text(share, options.head), terminal_table({tokens, looks}));
  return done;
}

}  // namespace

void add_query(CLI::App& program, Command& chosen) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = program.add_subcommand(
      "query", "show what a head looks for: the words whose keys each token's query would score highest");
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
