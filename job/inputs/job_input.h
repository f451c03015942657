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
#include "../../core/model/random_words.h"
#include "../../core/model/repeated_tokens.h"
#include "../../core/model/source.h"
#include "../../data/models/model_directory.h"
#include "../../data/sources/stored_states.h"
#include "../../data/sources/text_documents.h"
#include "../run/job.h"

namespace headwave {

/// How many layers "0-7" is, the first ones: 8. "0:7" is the same, "0" the first alone.
/// @returns nothing where it is no such range, or longer than a model can be
std::optional<Index> first_layers(std::string_view range);

/// Where "auto", "memory" or "layers" says that weights are.
/// @returns nothing of any other word
std::optional<WeightsIn> weights_in(std::string_view word);

/// What is expected of a range of first layers.
inline constexpr auto expected_first_layers =
    "0-N, the first layers up to layer N: a layer reads what those before it made, so all of them are computed";

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

/// Two texts line by line for an encoder-decoder through its own tokenizer: what it reads, and what is written (paired_texts.h).
/// @throws Error as open_model, open_tokenizer, decoder_start and paired_texts; ShapeError if the model reads one
///         sequence; FormatError if the tokenizer knows more tokens than the model
JobInput pairs_input(const ModelPlace& place, const TextPlace& text, const TextPlace& target,
                     const PackingOptions& packing = {});

/// Token ids that are ready; the model's tokenizer, where it has one that can be read, only gives their text.
/// @throws Error as open_model and id_documents; ShapeError if pairs came for a model that reads one sequence, or the
///         other way round
JobInput ids_input(const ModelPlace& place, const TextPlace& ids, const PackingOptions& packing = {});

/// A folder of images through the checkpoint's own preprocessor_config.json.
/// @throws Error as open_model and image_documents; IoError if there is no such file; ShapeError if the model reads none
JobInput images_input(const ModelPlace& place, const std::filesystem::path& folder,
                      std::optional<Index> documents = {});

/// Spectra that a model's feature extractor made of sounds, and the ids that its decoder reads (sound_documents.h); the
/// model's tokenizer, where it has one that can be read, only gives their text.
/// @throws Error as open_model and sound_documents; ShapeError if the model reads no sound
JobInput sound_input(const ModelPlace& place, const std::filesystem::path& features,
                     std::optional<Index> documents = {});

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
JobInput states_input(const StatesAt& states, const StoredStatesOptions& options = {});

/// The same with a model whose weights make queries and keys from the states.
/// @throws Error as open_model and stored_states; ShapeError if the states do not have the model's width, or more
///         tokens than its position table
JobInput states_input(const StatesAt& states, const ModelPlace& place, const StoredStatesOptions& options = {});

/// Heads are named of layers that are looked at: where layers are stored, these alone.
/// @param option  that names them, for messages, "--heads: "; may be empty
/// @throws ShapeError if one is not; Error as the source
void require_stored(const Source& source, const std::vector<HeadName>& heads, const std::string& option = "");

/// The job of an input: run_job_by_kind() of its model and documents, what is known of the model in the provenance.
/// @param progress, gather  as of run_job_by_kind()
/// @throws Error as require_maps() and run_job_by_kind(); ShapeError if an analysis of a grid is asked of a model
///         whose tokens stand in a row
std::vector<KindResult> run_input(const JobInput& input, const JobOptions& options,
                                  const ProgressCallback& progress = {}, const Gather& gather = {});

}  // namespace headwave
