#include "word_chances.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "../../core/errors/nearest_name.h"
#include "../../data/files/input_text.h"

namespace headwave {

namespace {

constexpr std::size_t counted_bytes = std::size_t{16} << 20U;

/// "[unused7]", "<unused7>": rows that were kept free and never trained.
bool is_unused(std::string_view piece) {
  return piece.size() > 1 && (piece.front() == '[' || piece.front() == '<') && piece.substr(1).starts_with("unused");
}

/// A single character, or a byte by name: "<0x0A>".
bool is_letter(std::string_view piece) {
  if (piece.size() == 6 && piece.starts_with("<0x") && piece.back() == '>') return true;
  const auto starts = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return std::count_if(piece.begin(), piece.end(), starts) == 1;
}

WordChances counted_words(const std::string& file, std::vector<std::int32_t> ids, const Tokenizer* tokenizer) {
  if (file != "-" && !std::filesystem::exists(file))
    throw IoError(fmt::format("{}: there is no such file{}", file, did_you_mean(file, {"zipf", "uniform"})),
                  give("words", "zipf, uniform, or a text", "whose tokens are counted"));
  if (tokenizer == nullptr)
    throw FormatError(fmt::format("{}: the model has no tokenizer beside it to count tokens with", file),
                      give("words", "zipf or uniform"));
  const InputText text(file, {.enough = counted_bytes});
  std::vector<double> counts(static_cast<std::size_t>(tokenizer->vocabulary()));
  for (const std::int32_t id : tokenizer->encode(text.text())) ++counts[static_cast<std::size_t>(id)];
  WordChances words = even_words(std::move(ids));
  for (std::size_t i = 0; i < words.ids.size(); ++i)
    words.chance[static_cast<Index>(i)] = counts[static_cast<std::size_t>(words.ids[i])];
  if (words.chance.sum() <= 0)
    throw FormatError(fmt::format("{}: holds none of the model's words; expected a longer text", text.name()));
  return words;
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

WordChances word_chances(const std::string& words, Index rows, const Tokenizer* tokenizer) {
  std::vector<std::int32_t> ids = text_words(rows, tokenizer);
  if (tokenizer != nullptr) std::erase_if(ids, [&](std::int32_t id) { return is_unused(tokenizer->piece(id)); });
  if (ids.empty())
    throw FormatError(fmt::format("random words: none of the model's {} words stands for text", rows),
                      give("passes", "0", "to use the weights alone"));
  if (words == "uniform") return even_words(std::move(ids));
  if (words != "zipf") return counted_words(words, std::move(ids), tokenizer);
  if (tokenizer != nullptr) {
    const auto first =
        std::find_if(ids.begin(), ids.end(), [&](std::int32_t id) { return !is_letter(tokenizer->piece(id)); });
    if (first != ids.end()) ids.erase(ids.begin(), first);
  }
  return ranked_words(std::move(ids));
}

}  // namespace headwave
