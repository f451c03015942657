#include "tokenizer_json.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"
#include "../files/json_object.h"
#include "../files/printable.h"
#include "byte_pair_encoding.h"
#include "token_pipeline.h"
#include "tokenizer_json_ends.h"
#include "tokenizer_json_steps.h"
#include "unigram.h"
#include "word_piece.h"

namespace headwave {

namespace {

using nlohmann::json;

/// What a tokenizer.json is long by, taken out while it is read.
struct LongParts {
  std::vector<VocabularyEntry> vocabulary;
  std::vector<double> scores;  ///< of pieces that come in a list, their ids their places
  std::vector<Merge> merges;
  std::vector<AddedToken> added;
};

// "left right", or ["left", "right"] in newer files.
Merge merge_of(const json& value, const std::string& place) {
  if (!value.is_array()) return merge_of_line(text_of(value, place), place);
  if (value.size() != 2) throw FormatError(fmt::format("{}: expected two pieces, found {}", place, value.size()));
  return {text_of(value[0], place), text_of(value[1], place)};
}

// ["\u2581the", -3.5]
void take_scored(const json& pair, const std::string& place, LongParts& parts) {
  if (pair.size() != 2 || !pair[1].is_number())
    throw FormatError(fmt::format("{}: expected a piece and its score, found {}", place, kind_of(pair)));
  parts.vocabulary.push_back({text_of(pair[0], place), static_cast<std::int64_t>(parts.scores.size())});
  parts.scores.push_back(pair[1].get<double>());
}

/// The rest of the file, as it stands there.
json read_apart(const std::filesystem::path& path, const std::string& name, LongParts& parts) {
  JsonOptions options{.max_bytes = largest_tokenizer_file};
  options.takers[{"model", "vocab"}] = [&](const std::string& piece, const json& id) {
    require_room_for_one(parts.vocabulary.size(), name, "tokens");
    if (id.is_array()) return take_scored(id, fmt::format("{}: model: vocab[{}]", name, parts.scores.size()), parts);
    parts.vocabulary.push_back({piece, integer_of(id, fmt::format("{}: model: vocab: '{}'", name, printable(piece)))});
  };
  options.takers[{"model", "merges"}] = [&](const std::string& /*key*/, const json& value) {
    require_room_for_one(parts.merges.size(), name, "merges");
    parts.merges.push_back(merge_of(value, fmt::format("{}: model: merges[{}]", name, parts.merges.size())));
  };
  options.takers[{"added_tokens"}] = [&](const std::string& /*key*/, const json& value) {
    require_room_for_one(parts.added.size(), name, "added tokens");
    const JsonObject object(value, fmt::format("{}: added_tokens[{}]", name, parts.added.size()));
    parts.added.push_back(json_added_token(object, object.integer("id")));
  };
  return json_of_file(path, options);
}

/// @throws FormatError if the model has no vocabulary by piece
Vocabulary vocabulary_of(const JsonObject& model, LongParts& parts) {
  (void)model.object("vocab");
  return {std::move(parts.vocabulary), model.place(), RepeatedPiece::refused};
}

std::string type_of(const JsonObject& model) {
  if (model.has("type")) return model.text("type");
  if (model.has("merges")) return "BPE";
  if (model.has("max_input_chars_per_word")) return "WordPiece";
  if (model.has("unk_id")) return "Unigram";
  throw FormatError(fmt::format(
      "{}: 'type' is missing, and it has neither merges, max_input_chars_per_word nor unk_id to tell", model.place()));
}

std::unique_ptr<TokenModel> byte_pair_model(const JsonObject& model, LongParts& parts) {
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
  (void)model.list("merges");
  return byte_pair_encoding(vocabulary_of(model, parts), parts.merges, options, model.place());
}

std::unique_ptr<TokenModel> word_piece_model(const JsonObject& model, LongParts& parts) {
  WordPieceOptions options;
  options.unknown = model.text("unk_token", options.unknown);
  options.continuing_prefix = model.text("continuing_subword_prefix", options.continuing_prefix);
  const std::int64_t longest =
      model.integer("max_input_chars_per_word", static_cast<std::int64_t>(options.longest_word));
  options.longest_word = longest < 0 ? 0 : static_cast<std::size_t>(longest);
  return word_piece(vocabulary_of(model, parts), options, model.place());
}

std::unique_ptr<TokenModel> unigram_model(const JsonObject& model, LongParts& parts) {
  (void)model.list("vocab");
  UnigramOptions options;
  options.scores = std::move(parts.scores);
  const std::int64_t unknown = model.integer("unk_id");
  options.unknown = static_cast<std::int32_t>(std::clamp<std::int64_t>(unknown, -1, most_tokens));
  options.byte_fallback = model.flag("byte_fallback", false);
  return unigram({std::move(parts.vocabulary), model.place()}, std::move(options), model.place());
}

// Pad and mask go by their usual names; the unknown token by what the model says.
SpecialTokens specials_of(const JsonObject& file, const JsonObject& model, const TokenPipeline& pipeline,
                          TokenizerUse use) {
  const Vocabulary& vocabulary = pipeline.model->vocabulary();
  SpecialTokens special = specials_by_name(vocabulary);
  const auto added = [&](std::int32_t& id, const char* of_bert, const char* of_roberta) {
    for (const AddedToken& token : pipeline.added)
      if (id < 0 && (token.content == of_bert || token.content == of_roberta)) id = static_cast<std::int32_t>(token.id);
  };
  added(special.pad, "[PAD]", "<pad>");
  added(special.mask, "[MASK]", "<mask>");
  added(special.unknown, "[UNK]", "<unk>");
  if (model.has("unk_id")) special.unknown = static_cast<std::int32_t>(model.integer("unk_id"));
  if (model.has("unk_token")) special.unknown = vocabulary.id(model.text("unk_token"));
  const SpecialTokens ends = use == TokenizerUse::text ? json_document_ends(file) : SpecialTokens{};
  special.opens = ends.opens;
  special.closes = ends.closes;
  return special;
}

}  // namespace

std::unique_ptr<Tokenizer> json_tokenizer(const std::filesystem::path& path, TokenizerUse use) {
  const std::string name = shown_path(path);
  LongParts parts;
  const json root = read_apart(path, name, parts);
  const JsonObject file(root, name);
  const JsonObject model = file.object("model");
  const std::string type = type_of(model);

  TokenPipeline pipeline;
  pipeline.files = {path};
  if (type == "WordPiece") {
    pipeline.model = word_piece_model(model, parts);
  } else if (type == "BPE") {
    pipeline.model = byte_pair_model(model, parts);
  } else if (type == "WordLevel") {
    pipeline.model = whole_words(vocabulary_of(model, parts), model.text("unk_token"), model.place());
  } else if (type == "Unigram") {
    pipeline.model = unigram_model(model, parts);
  } else {
    throw FormatError(fmt::format("{}: model type '{}' is not known, expected WordPiece, BPE, WordLevel or Unigram",
                                  name, printable(type)));
  }
  pipeline.kind = fmt::format("{}{} ({})", is_byte_level(file) ? "byte-level " : "", type, path.filename().string());
  if (file.has("added_tokens")) (void)file.list("added_tokens");
  pipeline.added = std::move(parts.added);
  pipeline.normalizer = json_normalizer(file);
  pipeline.splitter = json_splitter(file);
  pipeline.readable = json_readable(file);
  pipeline.special = specials_of(file, model, pipeline, use);
  auto tokenizer = tokenizer_of(std::move(pipeline), name);
  const SpecialTokens special = tokenizer->special_tokens();
  for (const std::int32_t id : {special.opens, special.closes})
    if (id >= tokenizer->vocabulary())
      throw FormatError(fmt::format("{}: post_processor: token id {} is not in the vocabulary of {}", name, id,
                                    tokenizer->vocabulary()));
  return tokenizer;
}

}  // namespace headwave
