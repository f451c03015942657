#include "packed_ids.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

constexpr Index usual_tokens = 512;

/// T, special tokens included.
/// @param tokens  how many there are
/// @param around  how many special tokens each document gets
Index document_length(Index tokens, Index around, const PackingOptions& options) {
  if (options.length) return *options.length;
  const Index usual = usual_length(options);
  const bool is_one_document = tokens > 0 && tokens + around < usual && options.documents.value_or(1) == 1;
  return is_one_document ? tokens + around : usual;
}

}  // namespace

Index usual_length(const PackingOptions& options) {
  return options.positions > 0 ? std::min(usual_tokens, options.positions) : usual_tokens;
}

std::vector<Ids> packed_ids(const Ids& tokens, std::int32_t opens, std::int32_t closes, const PackingOptions& options,
                            const std::string& name) {
  const auto count = static_cast<Index>(tokens.size());
  const Index around = (opens >= 0 ? 1 : 0) + (closes >= 0 ? 1 : 0);
  const Index length = document_length(count, around, options);
  const Index room = length - around;
  if (room < 1)
    throw ShapeError(
        fmt::format("a length of {} leaves no room beside the special tokens; ask for at least {}, or for none of them",
                    length, around + 1));
  const Index whole = count / room;
  const Index wanted = options.documents.value_or(std::clamp<Index>(whole, 1, usual_documents));
  if (whole < wanted && !options.documents)
    throw FormatError(
        fmt::format("{}: {} tokens, not enough for one document of {}; give more text, or ask for shorter documents",
                    name, count, length));
  if (whole < wanted)
    throw FormatError(
        fmt::format("{}: {} tokens, enough for {} documents of {}; {} were asked for: give more text, or ask for "
                    "fewer or shorter documents",
                    name, count, whole, length, wanted));
  std::vector<Ids> documents;
  for (Index i = 0; i < wanted; ++i) {
    Ids ids;
    if (opens >= 0) ids.push_back(opens);
    ids.insert(ids.end(), tokens.begin() + i * room, tokens.begin() + (i + 1) * room);
    if (closes >= 0) ids.push_back(closes);
    documents.push_back(std::move(ids));
  }
  return documents;
}

}  // namespace headwave
