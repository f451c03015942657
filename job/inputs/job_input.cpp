#include "job_input.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/model/model.h"
#include "../../data/files/digest.h"
#include "../../data/files/input_text.h"
#include "../../data/files/json_file.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/distinct_documents.h"
#include "../../data/sources/text_documents.h"
#include "../../data/tokens/tokenizer.h"

namespace headwave {

namespace {

/// "[unused7]", "<unused7>": rows of a vocabulary that were kept free and never trained.
bool is_unused(std::string_view piece) {
  return piece.size() > 1 && (piece.front() == '[' || piece.front() == '<') && piece.substr(1).starts_with("unused");
}

/// A single character, or a named byte: "<0x0A>".
bool is_letter(std::string_view piece) {
  if (piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>') return true;
  const auto starts = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return std::count_if(piece.begin(), piece.end(), starts) == 1;
}

}  // namespace

std::vector<std::int32_t> text_words(Index rows, const Tokenizer* tokenizer) {
  std::vector<std::int32_t> ids;
  for (Index row = 0; row < rows; ++row) {
    const auto id = static_cast<std::int32_t>(row);
    const bool known = tokenizer == nullptr || (row < tokenizer->vocabulary() && !tokenizer->piece(id).empty());
    if (known && !(tokenizer != nullptr && tokenizer->is_special(id))) ids.push_back(id);
  }
  return ids;
}

WordChances word_chances(Index rows, const Tokenizer* tokenizer) {
  std::vector<std::int32_t> ids = text_words(rows, tokenizer);
  if (tokenizer != nullptr) std::erase_if(ids, [&](std::int32_t id) { return is_unused(tokenizer->piece(id)); });
  if (ids.empty())
    throw FormatError(fmt::format("random words: none of the {} tokens of the model's vocabulary is text", rows),
                      give("passes", "0", "to use the weights alone"));
  if (tokenizer != nullptr) {
    const auto first =
        std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return !is_letter(tokenizer->piece(id)); });
    if (first != ids.end()) ids.erase(ids.begin(), first);
  }
  return ranked_words(std::move(ids));
}

std::optional<Index> first_layers(std::string_view range) {
  constexpr std::string_view begins = "0-", also = "0:";
  if (range == "0") return 1;
  if (!range.starts_with(begins) && !range.starts_with(also)) return {};
  range.remove_prefix(begins.size());
  Index last = -1;
  const auto [end, problem] = std::from_chars(range.data(), range.data() + range.size(), last);
  if (problem != std::errc() || end != range.data() + range.size() || last < 0 || last >= most_layers) return {};
  return last + 1;
}

std::optional<WeightsIn> weights_in(std::string_view word) {
  if (word == "auto") return WeightsIn::either;
  if (word == "memory") return WeightsIn::memory;
  if (word == "layers") return WeightsIn::layers;
  return {};
}

namespace {

/// Adds to the packing what the model can read.
PackingOptions packing_for(const Model& model, PackingOptions packing) {
  packing.positions = model.longest;
  packing.vocabulary =
      std::max(model.stack.embedding.words.rows(), model.decoder ? model.decoder->embedding.words.rows() : Index{0});
  return packing;
}

/// Checked before the text is read and tokenized, which can take a while.
void require_positions(const Model& model, const ModelPlace& place, Index length) {
  const Index positions = model.longest;
  if (positions > 0 && length > positions)
    throw ShapeError(fmt::format("{}: documents of {} tokens are requested, but the model has {} positions",
                                 place.weights.string(), length, positions),
                     give("length", fmt::format("{} or less", positions)));
}

/// An encoder-decoder reads pairs; other models read one sequence.
void require_sequences(const Model& model, const std::string& input, bool pairs) {
  if (model.decoder && !pairs)
    throw ShapeError(fmt::format("{}: the model is an encoder-decoder ({}), which reads a text and writes another",
                                 input, model.family),
                     {give("target", "FILE", "beside text, line by line"),
                      give("ids", "FILE", "with [{\"source\": [...], \"target\": [...]}, ...]")});
  if (!model.decoder && pairs)
    throw ShapeError(
        fmt::format("{}: found pairs of source and target, but a {} reads one sequence; give a list of lists of "
                    "token ids",
                    input, model.family));
}

/// Records how stored states were read, if options say so: they change the numbers that a file gives.
Attributes reading_provenance(const StoredStatesOptions& options) {
  std::vector<std::string> said;
  if (options.apply_norm) said.emplace_back("apply-norm");
  if (options.any_states) said.emplace_back("any-states");
  if (!options.dataset.empty()) said.push_back("dataset " + options.dataset);
  if (!options.axes.empty()) said.push_back("axes " + axes_text(options.axes));
  if (options.layer) said.push_back(fmt::format("layer {}", *options.layer));
  if (options.heads > 0) said.push_back(fmt::format("head-count {}", options.heads));
  Attributes provenance;
  if (!said.empty()) provenance["states_read"] = fmt::format("{}", fmt::join(said, ", "));
  return provenance;
}

/// Checks that a model has enough positions for states from elsewhere, before an analysis asks for them.
void require_positions_of_states(const Model& model, const Source& source, const std::filesystem::path& states) {
  const Index positions = model.longest > 0 ? model.longest : model.stack.embedding.positions.rows();
  for (Index i = 0; i < source.count() && positions > 0; ++i)
    if (source.length(i) > positions)
      throw ShapeError(
          fmt::format("{}: document {} has {} tokens, but the model has {} positions; are the states from this model?",
                      states.string(), i, source.length(i), positions));
}

/// The tokenizer beside a model, recorded in the provenance; null if there is none.
std::shared_ptr<const Tokenizer> tokenizer_beside(const ModelPlace& place, Attributes& provenance,
                                                  TokenizerUse use = TokenizerUse::text) {
  const std::filesystem::path there = tokenizer_place(place);
  if (!has_tokenizer(there)) return nullptr;
  std::shared_ptr<const Tokenizer> tokenizer = open_tokenizer(there, use);
  provenance["tokenizer"] = tokenizer->kind();
  provenance["tokenizer_sha256"] = sha256_list(tokenizer->files());
  return tokenizer;
}

/// The same for ids that need a tokenizer only for their texts. If it cannot be read, the result is null and
/// the provenance says why (`tokenizer_unread`).
std::shared_ptr<const Tokenizer> names_beside(const ModelPlace& place, Attributes& provenance) {
  try {
    return tokenizer_beside(place, provenance, TokenizerUse::names);
  } catch (const FormatError& problem) {
    provenance["tokenizer_unread"] = std::string(problem.what());
    return nullptr;
  }
}

/// Records the lengths that the checkpoint's files state and that documents exceed.
void note_lengths(Attributes& provenance, const ModelPlace& place, const Source& source) {
  Index longest = 0;
  for (Index i = 0; i < source.count(); ++i) longest = std::max(longest, source.length(i));
  provenance.merge(exceeded_lengths(tokenizer_place(place), longest));
}

}  // namespace

void require_two_tokens(const JobInput& input, const std::string& name) {
  const Source& source = *input.source;
  for (Index i = 0; i < source.count(); ++i)
    if (source.length(i) > 1) return;
  throw ShapeError(fmt::format("{}: {} a single token; attention needs two or more tokens in a document", name,
                               source.count() == 1 ? "the document has" : "all documents have"));
}

namespace {

/// Counts equal documents once.
JobInput input_of(Model model, std::unique_ptr<Source> documents, Attributes provenance, const ModelPlace& place) {
  std::unique_ptr<Source> source = distinct_documents(std::move(documents));
  note_lengths(provenance, place, *source);
  return {std::move(model), std::move(source), std::move(provenance)};
}

}  // namespace

JobInput text_input(const ModelPlace& place, const TextPlace& text, const PackingOptions& packing,
                    const std::optional<TextPlace>& target) {
  Model model = open_model(place);
  require_sequences(model, input_name(target.value_or(text)), target.has_value());
  if (packing.length) require_positions(model, place, *packing.length);
  const std::filesystem::path folder = tokenizer_place(place);
  const std::shared_ptr<const Tokenizer> tokenizer = open_tokenizer(folder);
  if (const Index words = model.stack.embedding.words.rows(); tokenizer->vocabulary() > words)
    throw FormatError(fmt::format("{}: the tokenizer has {} tokens, but the model has {}: they do not belong together",
                                  place.weights.string(), tokenizer->vocabulary(), words));
  Attributes provenance = model_provenance(place);
  provenance["tokenizer_sha256"] = sha256_list(tokenizer->files());
  const PackingOptions wanted = packing_for(model, packing);
  std::unique_ptr<Source> source = target ? paired_texts(text, *target, tokenizer, decoder_start(folder), wanted)
                                          : text_documents(text, tokenizer, wanted);
  return input_of(std::move(model), std::move(source), std::move(provenance), place);
}

JobInput ids_input(const ModelPlace& place, const TextPlace& ids, const PackingOptions& packing) {
  Model model = open_model(place);
  Attributes provenance = model_provenance(place);
  const std::shared_ptr<const Tokenizer> tokenizer = names_beside(place, provenance);
  // The ids with which config.json pads and closes documents.
  const std::vector<std::int32_t> ends = configured_ids(place, {"pad_token_id", "eos_token_id"});
  std::unique_ptr<Source> source = id_documents(ids, tokenizer, packing_for(model, packing), {ends[0], ends[1]});
  require_sequences(model, input_name(ids), !source->document(0).target.ids.empty());
  return input_of(std::move(model), std::move(source), std::move(provenance), place);
}

JobInput random_input(const ModelPlace& place, RepeatedTokensOptions options, bool special_token) {
  Model model = open_model(place);
  require_sequences(model, "random tokens", false);
  Attributes provenance = model_provenance(place);
  const TokenizerUse use = special_token ? TokenizerUse::text : TokenizerUse::names;
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_beside(place, provenance, use);
  std::vector<std::int32_t> ids = text_words(model.stack.embedding.words.rows(), tokenizer.get());
  options.opening = special_token && tokenizer ? tokenizer->special_tokens().opens : -1;
  std::unique_ptr<Source> source = repeated_tokens(std::move(ids), options);
  if (const Index positions = model.longest; positions > 0 && source->length(0) > positions)
    throw ShapeError(
        fmt::format("{} random tokens {} times make documents of {} tokens, but the model has {} positions",
                    options.period, options.repeats, source->length(0), positions),
        give("random_tokens",
             fmt::format("{} or fewer", (positions - (options.opening >= 0 ? 1 : 0)) / options.repeats)));
  note_lengths(provenance, place, *source);
  return {std::move(model), std::move(source), std::move(provenance)};
}

JobInput word_input(Model model, const ModelPlace& place, const WordInputOptions& options) {
  Attributes provenance = model_provenance(place);
  const std::shared_ptr<const Tokenizer> tokenizer = tokenizer_beside(place, provenance);
  const SpecialTokens special = tokenizer ? tokenizer->special_tokens() : SpecialTokens{};
  RandomWordsOptions random;
  random.documents = options.documents;
  random.length = options.length > 0 ? options.length : usual_length(packing_for(model, {}));
  random.opens = special.opens;
  random.closes = special.closes;
  random.seed = options.seed;
  require_positions(model, place, random.length);
  WordChances target;
  if (model.decoder) target = word_chances(model.decoder->embedding.words.rows(), tokenizer.get());
  std::unique_ptr<Source> source =
      random_words(word_chances(model.stack.embedding.words.rows(), tokenizer.get()), random, std::move(target));
  return {std::move(model), std::move(source), std::move(provenance)};
}

JobInput states_input(const ArraysPlace& states, const StoredStatesOptions& options) {
  StoredInput stored = stored_states(states, options);
  return {std::move(stored.model), std::move(stored.source), reading_provenance(options)};
}

JobInput states_input(const ArraysPlace& states, const ModelPlace& place, const StoredStatesOptions& options) {
  StoredInput stored = stored_states(states, open_model(place), options);
  require_positions_of_states(stored.model, *stored.source, states.path);
  Attributes provenance = model_provenance(place);
  provenance.merge(reading_provenance(options));
  return {std::move(stored.model), std::move(stored.source), std::move(provenance)};
}

void require_stored(const Source& source, const std::vector<HeadName>& heads) {
  if (heads.empty()) return;
  std::vector<Index> stored;
  for (const StoredLayer& layer : source.document(0).stored) stored.push_back(layer.layer);
  for (const HeadName& head : heads)
    if (!stored.empty() && std::ranges::count(stored, head.layer) == 0)
      throw ShapeError(fmt::format("there is no head {}, because the stored layers are {}",
                                   head_name(head.layer, head.head), fmt::join(stored, ", ")));
}

std::vector<AttentionKind> JobInput::kinds() const {
  std::vector<AttentionKind> kinds = model.kinds();
  for (const JobInput& other : others) append(kinds, other.kinds());
  return kinds;
}

}  // namespace headwave
