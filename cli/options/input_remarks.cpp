#include "input_remarks.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/files/input_text.h"
#include "../../data/sources/state_documents.h"
#include "../../data/sources/text_documents.h"
#include "../../job/run/provenance.h"
#include "../../reports/drawing/visible_text.h"
#include "../terminal/terminal.h"

namespace headwave::cli {

namespace {

/// "one document of 12 tokens", "3 documents of up to 12 tokens"
std::string extent_text(Index documents, std::int64_t length, bool of_one_length) {
  return fmt::format("{} of {}{} tokens", documents == 1 ? "one document" : fmt::format("{} documents", documents),
                     of_one_length || documents == 1 ? "" : "up to ", length);
}

/// What messages call the file or folder that documents come from.
std::string source_name(const InputOptions& options, const SourceOptions& given) {
  if (!given.states->empty()) return options.states.string();
  if (!given.features->empty()) return options.features.string();
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

void say_unknown(const Document& document, const Tokenizer& tokenizer) {
  const double share = unknown_share(document.ids, tokenizer).value_or(0);
  if (const std::string remark = unknown_tokens_text("the text", share); !remark.empty()) say(remark);
}

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
  if (const auto found = provenance.find("replaced_characters"); found != provenance.end())
    if (const double share = std::get<double>(found->second); share > 0)
      remarks.push_back(fmt::format("{}: {:.2g} % of the characters could not be decoded as {} and became U+FFFD", name,
                                    100 * share, options.packing.encoding));
  for (const auto& [share, text] :
       {std::pair("unknown_share", &options.text), {"target_unknown_share", &options.target}})
    if (const auto found = provenance.find(share); found != provenance.end())
      if (std::string remark = unknown_tokens_text(input_name(*text), std::get<double>(found->second)); !remark.empty())
        remarks.push_back(std::move(remark));
  if (const auto found = input.provenance.find("tokenizer_unread"); found != input.provenance.end())
    remarks.push_back(fmt::format("{}: tokens are shown as ids, and none is known to be special or padding",
                                  std::get<std::string>(found->second)));
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
