#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../../core/fields/field.h"

namespace headwave {

/// Name of a result's mark in its provenance: a digest of its run. The page, figures and captions drawn from the result
/// carry the same mark under the same name, which shows whether they belong to it.
inline constexpr const char* run_mark_name = "run_sha256";

/// The mark of a result, 64 lower-case hexadecimal digits; empty if its provenance has no mark.
std::string run_mark(const Attributes& provenance);

/// Puts a mark into a drawn file, invisible to viewers: a comment before the end of a PDF, the metadata of an SVG, a
/// text chunk of a PNG, a meta element of a page, a comment in LaTeX. In a plain text it is the last line. Tables of
/// numbers get none.
/// @param ending  "pdf", "svg", "png", "html" or "txt"
/// @param mark    as of run_mark(); empty: the file stays as it is
std::string with_run_mark(std::string content, std::string_view ending, const std::string& mark);

/// The mark that a drawn file carries; empty if it has no mark or cannot be read.
std::string run_mark_in(const std::filesystem::path& file);

}  // namespace headwave
