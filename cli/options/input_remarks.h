#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/tokens/tokenizer.h"
#include "input_options.h"

namespace headwave::cli {

/// What one would want to know of an input that is read, and that is no error.
std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options, const SourceOptions& given);

/// Says so where the vocabulary cannot spell a typed text.
void say_unknown(const Document& document, const Tokenizer& tokenizer);

/// "rows 207 to 511 of the position table look as if they were never trained: ...", from what add_trained_rows()
/// (job/run/provenance.h) put there; empty where it put nothing.
std::string untrained_rows_text(const Attributes& provenance);

/// The same for a command that reads a position table: which rows it read. Empty also where it was asked for fewer than
/// were trained.
/// @param provenance  of its result
/// @param read        how many rows were read
std::string rows_read_text(const Attributes& provenance, Index read);

/// Of --rows, where a command reads a position table and no documents.
constexpr const char* rows_help =
    "how many rows of the position table are read, the first ones; 0: those that look trained";

/// Says a remark once: a command may open its input twice, to compare two runs over it.
void say_once(const std::string& remark);

}  // namespace headwave::cli
