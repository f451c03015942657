#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/model/random_documents.h"
#include "../../core/model/source.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/stored_states.h"
#include "../../data/sources/text_documents.h"
#include "../../data/tokens/tokenizer.h"
#include "../run/job.h"

namespace headwave {

/// Ids that stand for text: those of tokens that are not special; all ids without a tokenizer.
/// @param rows  number of words of the model
std::vector<std::int32_t> text_words(Index rows, const Tokenizer* tokenizer);

/// How often words are drawn: p ~ 1 / rank, with ranks by id from the first piece of more than one character.
/// The alphabet (characters, bytes) before it has an order of its own and is left out, as are ids that were
/// kept free ([unused7]). Without such a piece or a tokenizer, ranks begin at the first id.
///
/// @param tokenizer  null if unknown
/// @throws FormatError if the vocabulary has no words of text
WordChances word_chances(Index rows, const Tokenizer* tokenizer);

/// The number of layers in a range of first layers: 8 for "0-7" and "0:7", 1 for "0".
/// @returns nothing if it is not such a range, or is longer than any model
std::optional<Index> first_layers(std::string_view range);

/// Reads "auto", "memory" or "layers": where weights are kept.
/// @returns nothing for any other word
std::optional<WeightsIn> weights_in(std::string_view word);

/// How messages describe a range of first layers.
inline constexpr auto expected_first_layers = "0-N, that is layers 0 to N: a layer needs all layers before it";

class StoredSums;

/// A model and the documents to run through it, or sums over documents that passed through it elsewhere.
struct JobInput {
  Model model;
  std::unique_ptr<Source> source;
  Attributes provenance;                             ///< of the model; the source has its own
  std::shared_ptr<const StoredSums> sums = nullptr;  ///< of stored profiles (stored_sums.h); null: documents are run
  std::vector<JobInput> others = {};  ///< further kinds of attention in stored profiles, each a job of its own

  /// The kinds of attention of the results, in order.
  [[nodiscard]] std::vector<AttentionKind> kinds() const;
};

/// Checks that some document has two tokens, since a single token can attend only to itself.
/// @param name  of the input in messages
/// @throws ShapeError if none has two
void require_two_tokens(const JobInput& input, const std::string& name);

/// Opens a model and a text, which the model's own tokenizer splits into tokens.
/// @param target  for an encoder-decoder: the text that it writes, line by line (text_documents.h)
/// @throws Error as open_model, open_tokenizer, decoder_start, text_documents and paired_texts; ShapeError if
///         documents are longer than the model's positions, or a target is given but the model reads no
///         pairs, or the other way round; FormatError if the tokenizer knows more tokens than the model
JobInput text_input(const ModelPlace& place, const TextPlace& text, const PackingOptions& packing = {},
                    const std::optional<TextPlace>& target = {});

/// Opens a model and token ids. The model's tokenizer, if it can be read, serves only to show tokens as text.
/// @throws Error as open_model and id_documents; ShapeError if pairs are given to a model that reads one
///         sequence, or the other way round
JobInput ids_input(const ModelPlace& place, const TextPlace& ids, const PackingOptions& packing = {});

/// Opens a model and makes documents of repeated random tokens, without the special tokens of a tokenizer.
/// @param special_token  begin each document with the tokenizer's opening token, if it has one
/// @throws Error as open_model, open_tokenizer and repeated_tokens; ShapeError if documents are longer than
///         the model's positions, or the model is an encoder-decoder
JobInput random_input(const ModelPlace& place, RepeatedTokensOptions options, bool special_token);

/// Documents of random words, drawn by word_chances().
struct WordInputOptions {
  Index documents = 4;
  Index length = 0;  ///< tokens per document; 0: 512, or as many as the model can read if fewer
  std::uint64_t seed = 1;
};

/// Makes documents of random words between the tokenizer's opening and closing tokens, if it has them. An
/// encoder-decoder gets two sequences with different words.
/// @param model  opened from `place`
/// @throws Error as open_tokenizer, word_chances and random_words; ShapeError if documents are longer than
///         the model's positions
JobInput word_input(Model model, const ModelPlace& place, const WordInputOptions& options = {});

/// Opens stored hidden states with the projections stored beside them, or stored queries and keys.
/// @throws Error as stored_states
JobInput states_input(const ArraysPlace& states, const StoredStatesOptions& options = {});

/// Opens stored hidden states and the model whose weights make queries and keys from them.
/// @throws Error as open_model and stored_states; ShapeError if the states do not have the model's width, or
///         more tokens than its position table
JobInput states_input(const ArraysPlace& states, const ModelPlace& place, const StoredStatesOptions& options = {});

/// Checks that heads lie in the stored layers, if documents are stored.
/// @throws ShapeError if a head does not; Error as the source
void require_stored(const Source& source, const std::vector<HeadName>& heads);

}  // namespace headwave
