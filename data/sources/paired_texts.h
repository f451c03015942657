#pragma once

#include <cstdint>
#include <memory>

#include "text_documents.h"

namespace headwave {

/// Who turns the two texts of an encoder-decoder into ids.
struct PairedTokenizers {
  std::shared_ptr<const Tokenizer> text, target;
  std::int32_t decoder_start = 0;  ///< the id that its decoder reads before the first of the target
};

/// Two texts line by line as documents of an encoder-decoder: a line of the one is what the encoder reads, the line beside it what
/// is written. As in training the decoder reads
///
///     decoder_start, y_1, ..., y_{n-1}   where y_1 .. y_n are the target's ids, the closing token among them           (1)
///
/// so that at each of its positions the next id of the target is what it should predict. Lines that are blank in both texts are
/// passed over; nothing is cut or padded.
///
/// @param options  all but the length, which lines have by themselves
/// @throws IoError if a file cannot be read; FormatError if the texts differ in their number of lines, a line is blank in one
///         alone, there are fewer than are asked for, or one is longer than the model's positions
std::unique_ptr<Source> paired_texts(const TextPlace& text, const TextPlace& target, const PairedTokenizers& tokenizers,
                                     const PackingOptions& options = {});

}  // namespace headwave
