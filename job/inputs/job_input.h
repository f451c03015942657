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

/// Ids of the tokens that stand for text, which leaves out special tokens. Without a tokenizer, all ids.
/// @param rows  number of rows of the model's token embedding
std::vector<std::int32_t> text_words(Index rows, const Tokenizer* tokenizer);

/// Probabilities for drawing random words: p ~ 1 / rank. Ranks follow the ids, from the first token of more
/// than one character on. Earlier tokens are the alphabet (characters, bytes), whose order means something
/// else. They are left out, as are ids that were reserved ([unused7]). If there is no tokenizer, or no token
/// of more than one character, ranks begin at the first id.
///
/// @param tokenizer  null if unknown
/// @throws FormatError if no token stands for text
WordChances word_chances(Index rows, const Tokenizer* tokenizer);

/// Reads a range of first layers, and gives its number of layers: 8 for "0-7" and "0:7", 1 for "0".
/// @returns nothing if the text is not such a range, or the range is longer than any model
std::optional<Index> first_layers(std::string_view range);

/// Reads where weights are kept: "auto", "memory" or "layers".
/// @returns nothing for any other text
std::optional<WeightsIn> weights_in(std::string_view word);

/// How messages describe an expected range of first layers.
inline constexpr auto expected_first_layers = "0-N, that is layers 0 to N: a layer needs all layers before it";

class StoredSums;

/// A model and the documents to run through it, or sums over documents that passed through it elsewhere.
struct JobInput {
  Model model;
  std::unique_ptr<Source> source;
  Attributes provenance;                             ///< provenance of the model; `source` has its own
  std::shared_ptr<const StoredSums> sums = nullptr;  ///< sums of stored profiles; null: documents are run
  std::vector<JobInput> others = {};  ///< one further input for each other kind of attention in stored profiles

  /// The kinds of attention for which the input gives results, in the order of the results.
  [[nodiscard]] std::vector<AttentionKind> kinds() const;
};

/// Checks that at least one document has two tokens, since a single token can attend only to itself.
/// @param name  name of the input in messages
/// @throws ShapeError if no document has two tokens
void require_two_tokens(const JobInput& input, const std::string& name);

/// Opens a model and a text. The model's own tokenizer splits the text into tokens.
/// @param target  for an encoder-decoder: the texts that it writes, one line for each line of `text`
///                (text_documents.h)
/// @throws ShapeError if documents are longer than the model's positions, an encoder-decoder gets no target,
///         or another model gets one; FormatError if the tokenizer has more tokens than the model; any Error
///         that open_model(), open_tokenizer(), decoder_start(), text_documents() and paired_texts() throw
JobInput text_input(const ModelPlace& place, const TextPlace& text, const PackingOptions& packing = {},
                    const std::optional<TextPlace>& target = {});

/// Opens a model and token ids. The model's tokenizer, if it can be read, only serves to show tokens as text.
/// @throws ShapeError if an encoder-decoder gets single sequences, or another model gets pairs; any Error
///         that open_model() and id_documents() throw
JobInput ids_input(const ModelPlace& place, const TextPlace& ids, const PackingOptions& packing = {});

/// Opens a model, and makes documents of repeated random tokens without special tokens.
/// @param special_token  true: each document begins with the tokenizer's opening token, if there is one
/// @throws ShapeError if documents are longer than the model's positions, or the model is an encoder-decoder;
///         any Error that open_model(), open_tokenizer() and repeated_tokens() throw
JobInput random_input(const ModelPlace& place, RepeatedTokensOptions options, bool special_token);

/// Options for documents of random words, drawn by word_chances().
struct WordInputOptions {
  Index documents = 4;
  Index length = 0;  ///< tokens per document; 0: 512, or fewer if the model reads no more
  std::uint64_t seed = 1;
};

/// Makes documents of random words, each between the tokenizer's opening and closing tokens, if there are
/// any. An encoder-decoder gets two sequences with different words.
/// @param model  the model that was opened from `place`
/// @throws ShapeError if documents are longer than the model's positions; any Error that open_tokenizer(),
///         word_chances() and random_words() throw
JobInput word_input(Model model, const ModelPlace& place, const WordInputOptions& options = {});

/// Opens stored hidden states together with the projections in the same file, or stored queries and keys.
/// @throws Error as stored_states
JobInput states_input(const ArraysPlace& states, const StoredStatesOptions& options = {});

/// Opens stored hidden states and the model whose weights project them to queries and keys.
/// @throws ShapeError if the states do not have the model's width, or a document has more tokens than the
///         model has positions; any Error that open_model() and stored_states() throw
JobInput states_input(const ArraysPlace& states, const ModelPlace& place, const StoredStatesOptions& options = {});

/// Checks that all of these heads are in stored layers. Does nothing if no layers are stored.
/// @throws ShapeError if a head is in another layer; any Error that the source throws
void require_stored(const Source& source, const std::vector<HeadName>& heads);

}  // namespace headwave
