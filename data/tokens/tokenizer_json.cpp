#include "tokenizer_json.h"

#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/numbers/error.h"
#include "../files/json_file.h"
#include "../files/json_object.h"
#include "../files/printable.h"
#include "byte_pair_encoding.h"
#include "token_pipeline.h"
#include "tokenizer_json_steps.h"
#include "word_piece.h"

namespace headwave {

namespace {

using nlohmann::json;

Vocabulary vocabulary_of(const JsonObject& model) {
  const JsonObject vocab = model.object("vocab");
  std::vector<VocabularyEntry> entries;
  entries.reserve(vocab.value().size());
  for (const auto& [piece, id] : vocab.value().items())
    entries.push_back({piece, integer_of(id, fmt::format("{}: '{}'", vocab.place(), printable(piece)))});
  return {std::move(entries), model.place()};
}

// "left right", or ["left", "right"] in newer files.
std::vector<Merge> merges_of(const JsonObject& model) {
  std::vector<Merge> merges;
  for (const json& value : model.list("merges")) {
    const std::string place = fmt::format("{}: merges[{}]", model.place(), merges.size());
    if (!value.is_array()) {
      merges.push_back(merge_of_line(text_of(value, place), place));
      continue;
    }
    if (value.size() != 2) throw FormatError(fmt::format("{}: expected two pieces, found {}", place, value.size()));
    merges.emplace_back(text_of(value[0], place), text_of(value[1], place));
  }
  return merges;
}

std::string type_of(const JsonObject& model) {
  if (model.has("type")) return model.text("type");
  if (model.has("merges")) return "BPE";
  if (model.has("max_input_chars_per_word")) return "WordPiece";
  throw FormatError(fmt::format("{}: 'type' is missing, and it has neither merges nor max_input_chars_per_word to tell",
                                model.place()));
}

std::unique_ptr<TokenModel> byte_pair_model(const JsonObject& model) {
  if (const json* dropout = model.find("dropout"))
    if (!dropout->is_number() || dropout->get<double>() != 0.0)
      throw FormatError(
          fmt::format("{}: dropout {} would make ids random: set it to null", model.place(), kind_of(*dropout)));
  BytePairOptions options;
  options.unknown = model.text("unk_token", "");
  options.fuse_unknown = model.flag("fuse_unk", false);
  options.byte_fallback = model.flag("byte_fallback", false);
  options.whole_words_first = model.flag("ignore_merges", false);
  options.continuing_prefix = model.text("continuing_subword_prefix", "");
  options.word_suffix = model.text("end_of_word_suffix", "");
  return byte_pair_encoding(vocabulary_of(model), merges_of(model), options, model.place());
}

std::unique_ptr<TokenModel> word_piece_model(const JsonObject& model) {
  WordPieceOptions options;
  options.unknown = model.text("unk_token", options.unknown);
  options.continuing_prefix = model.text("continuing_subword_prefix", options.continuing_prefix);
  const std::int64_t longest =
      model.integer("max_input_chars_per_word", static_cast<std::int64_t>(options.longest_word));
  options.longest_word = longest < 0 ? 0 : static_cast<std::size_t>(longest);
  return word_piece(vocabulary_of(model), options, model.place());
}

std::vector<AddedToken> added_tokens_of(const JsonObject& file) {
  std::vector<AddedToken> tokens;
  if (!file.has("added_tokens")) return tokens;
  for (const json& value : file.list("added_tokens")) {
    const JsonObject object(value, fmt::format("{}: added_tokens[{}]", file.place(), tokens.size()));
    tokens.push_back(json_added_token(object, object.integer("id")));
  }
  return tokens;
}

// Pad and mask go by their usual names; the unknown token by what the model says.
SpecialTokens specials_of(const JsonObject& file, const JsonObject& model, const TokenPipeline& pipeline) {
  const Vocabulary& vocabulary = pipeline.model->vocabulary();
  SpecialTokens special = specials_by_name(vocabulary);
  const auto added = [&](std::int32_t& id, const char* of_bert, const char* of_roberta) {
    for (const AddedToken& token : pipeline.added)
      if (id < 0 && (token.content == of_bert || token.content == of_roberta)) id = static_cast<std::int32_t>(token.id);
  };
  added(special.pad, "[PAD]", "<pad>");
  added(special.mask, "[MASK]", "<mask>");
  added(special.unknown, "[UNK]", "<unk>");
  if (model.has("unk_token")) special.unknown = vocabulary.id(model.text("unk_token"));
  const SpecialTokens ends = json_document_ends(file);
  special.opens = ends.opens;
  special.closes = ends.closes;
  return special;
}

}  // namespace

std::unique_ptr<Tokenizer> json_tokenizer(const std::filesystem::path& path) {
  const std::string name = shown_path(path);
  const json root = json_of_file(path, largest_tokenizer_file);
  const JsonObject file(root, name);
  const JsonObject model = file.object("model");
  const std::string type = type_of(model);

  TokenPipeline pipeline;
  pipeline.files = {path};
  if (type == "WordPiece") {
    pipeline.model = word_piece_model(model);
  } else if (type == "BPE") {
    pipeline.model = byte_pair_model(model);
  } else if (type == "WordLevel") {
    pipeline.model = whole_words(vocabulary_of(model), model.text("unk_token"), model.place());
  } else {
    throw FormatError(
        fmt::format("{}: model type '{}' is not known, expected WordPiece, BPE or WordLevel", name, printable(type)));
  }
  pipeline.kind = fmt::format("{}{} ({})", is_byte_level(file) ? "byte-level " : "", type, path.filename().string());
  pipeline.added = added_tokens_of(file);
  pipeline.normalizer = json_normalizer(file);
  pipeline.splitter = json_splitter(file);
  pipeline.readable = json_readable(file);
  pipeline.special = specials_of(file, model, pipeline);
  auto tokenizer = tokenizer_of(std::move(pipeline), name);
  const SpecialTokens special = tokenizer->special_tokens();
  for (const std::int32_t id : {special.opens, special.closes})
    if (id >= tokenizer->vocabulary())
      throw FormatError(fmt::format("{}: post_processor: token id {} is not in the vocabulary of {}", name, id,
                                    tokenizer->vocabulary()));
  return tokenizer;
}

}  // namespace headwave
