#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/model/random_documents.h"
#include "../../core/model/source.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/stored_states.h"
#include "../../data/sources/text_documents.h"

namespace headwave {

/// A model and the documents to run through it.
struct JobInput {
  Model model;
  std::unique_ptr<Source> source;
  Attributes provenance;   ///< of the model; the source knows its own
  std::int32_t mask = -1;  ///< id of the token that stands for a word to be guessed; -1: there is none
};

/// One token has nothing to look at but itself.
/// @param name  what messages call the input
/// @throws ShapeError if no document has two
void require_two_tokens(const JobInput& input, const std::string& name);

/// A text was given.
/// @param name  what messages call it
/// @throws ShapeError if the model reads images or sound
void require_words(const Model& model, const std::string& name);

/// Text through the model's own tokenizer.
/// @throws Error as open_model, open_tokenizer and text_documents; ShapeError if documents are longer than the model's
///         positions, or the model is an encoder-decoder, which reads pairs; FormatError if the tokenizer knows more tokens
///         than the model
JobInput text_input(const ModelPlace& place, const TextPlace& text, const PackingOptions& packing = {});

/// Two texts line by line for an encoder-decoder through its own tokenizer: what it reads, and what is written (paired_texts()).
/// @throws Error as open_model, open_tokenizer, decoder_start and paired_texts; ShapeError if the model reads one
///         sequence; FormatError if the tokenizer knows more tokens than the model
JobInput pairs_input(const ModelPlace& place, const TextPlace& text, const TextPlace& target,
                     const PackingOptions& packing = {});

/// Token ids that are ready; the model's tokenizer, where it has one that can be read, only gives their text.
/// @throws Error as open_model and id_documents; ShapeError if pairs came for a model that reads one sequence, or the
///         other way round
JobInput ids_input(const ModelPlace& place, const TextPlace& ids, const PackingOptions& packing = {});

/// Images or sounds that a model's own image processor or feature extractor prepared (feature_documents.h). The tokenizer of
/// a model of sound, where it has one that can be read, gives the text of what its decoder reads.
/// @throws Error as open_model and feature_documents; ShapeError if the model reads neither images nor sound
JobInput features_input(const ModelPlace& place, const ArraysPlace& features, std::optional<Index> documents = {});

/// Repeated random tokens, drawn from the vocabulary without the special tokens, where a tokenizer says which those
/// are.
/// @param special_token  put the tokenizer's opening token before them, where it has one
/// @throws Error as open_model, open_tokenizer and repeated_tokens; ShapeError if documents are longer than the model's
///         positions, or the model is an encoder-decoder
JobInput random_input(const ModelPlace& place, RepeatedTokensOptions options, bool special_token);

/// How documents of random words are made.
struct WordInputOptions {
  std::string words = "zipf";  ///< how often each: zipf, uniform, or a text to count in, see word_chances.h
  Index documents = 4;
  Index length = 0;  ///< tokens of a document; 0: 512, or as many as the model can read where they are fewer
  std::uint64_t seed = 1;
};

/// Documents of random words, between the tokenizer's opening and closing token where it has them; of an encoder-decoder
/// both sequences, each of its own words.
/// @param model  of that place
/// @throws Error as open_tokenizer, word_chances and random_words; ShapeError if documents are longer than the model's
///         positions
JobInput word_input(Model model, const ModelPlace& place, const WordInputOptions& options = {});

/// Stored hidden states, or stored queries and keys, with weights or queries and keys beside them.
/// @throws Error as stored_states
JobInput states_input(const ArraysPlace& states, const StoredStatesOptions& options = {});

/// The same with a model whose weights make queries and keys from the states.
/// @throws Error as open_model and stored_states; ShapeError if the states do not have the model's width, or more
///         tokens than its position table
JobInput states_input(const ArraysPlace& states, const ModelPlace& place, const StoredStatesOptions& options = {});

/// Heads are named of layers that are looked at: where layers are stored, these alone.
/// @param option  that names them, for messages, "--heads: "; may be empty
/// @throws ShapeError if one is not; Error as the source
void require_stored(const Source& source, const std::vector<HeadName>& heads, const std::string& option = "");

}  // namespace headwave
