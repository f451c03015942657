#include "byte_pair_encoding.h"

#include <cstddef>
#include <cstdint>
#include <queue>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "token_model.h"

namespace headwave {

namespace {

struct Joined {
  std::int32_t rank = 0;
  std::int32_t id = -1;  // -1: no merge
};

// A piece of a word that is being spelled, linked to its neighbours.
struct Symbol {
  std::int32_t id = 0;
  std::int32_t before = -1;
  std::int32_t after = -1;
  bool gone = false;  // joined to the one before
};

// A merge that was possible when it was noted. Its symbols may have changed since.
struct Candidate {
  std::int32_t rank = 0;
  std::int32_t at = 0;
  std::int32_t id = 0;
  // The largest comes first from a priority queue: the earliest merge, and the leftmost place of it.
  bool operator<(const Candidate& other) const { return std::tie(rank, at) > std::tie(other.rank, other.at); }
};

class BytePairEncoding final : public TokenModel {
 public:
  BytePairEncoding(Vocabulary entries, const std::vector<Merge>& merges, const BytePairOptions& options,
                   const std::string& file)
      : TokenModel(std::move(entries)), options_(options) {
    if (!options.unknown.empty()) unknown_ = unknown_id(vocabulary(), options.unknown, file);
    joined_.reserve(merges.size());
    for (std::size_t rank = 0; rank < merges.size(); ++rank)
      add_merge(merges[rank], options.ranks.empty() ? static_cast<std::int32_t>(rank) : options.ranks[rank], file);
    if (options_.byte_fallback)
      for (unsigned byte = 0; byte < 256; ++byte) byte_ids_.push_back(vocabulary().id(fmt::format("<0x{:02X}>", byte)));
  }

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    if (options_.whole_words_first || options_.whole_words.contains(std::string(word))) {
      if (const std::int32_t id = vocabulary().id(word); id >= 0) {
        ids.push_back(id);
        return;
      }
    }
    std::vector<Symbol> symbols = characters(word);
    join(symbols);
    for (const Symbol& symbol : symbols)
      if (!symbol.gone) ids.push_back(symbol.id);
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32U | static_cast<std::uint32_t>(right);
  }

  void add_merge(const Merge& merge, std::int32_t rank, const std::string& file) {
    const auto& [left, right] = merge;
    if (!right.starts_with(options_.continuing_prefix))
      throw FormatError(fmt::format("{}: merge {}: '{}' does not begin with the prefix '{}' of pieces within a word",
                                    file, rank, printable(right), printable(options_.continuing_prefix)));
    const std::string result = left + right.substr(options_.continuing_prefix.size());
    for (const std::string& piece : {left, right, result})
      if (vocabulary().id(piece) < 0)
        throw FormatError(
            fmt::format("{}: merge {} ('{}' with '{}') needs the token '{}', which is not in the vocabulary", file,
                        rank, printable(left), printable(right), printable(piece)));
    joined_[key(vocabulary().id(left), vocabulary().id(right))] = {rank, vocabulary().id(result)};
  }

  [[nodiscard]] Joined joined(std::int32_t left, std::int32_t right) const {
    const auto found = joined_.find(key(left, right));
    return found == joined_.end() ? Joined{} : found->second;
  }

  // The characters' tokens. An unknown token waits until a known one comes, so that it can be fused; a
  // character spelled in bytes overtakes it, as in Hugging Face's `tokenizers`.
  [[nodiscard]] std::vector<Symbol> characters(std::string_view word) const {
    std::vector<Symbol> symbols;
    bool unknown_waits = false;
    const auto put = [&](std::int32_t id) {
      const auto at = static_cast<std::int32_t>(symbols.size());
      if (at > 0) symbols.back().after = at;
      symbols.push_back({id, at - 1, -1, false});
    };
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t begin = at;
      at += utf8_length(word[at]);
      const std::string_view character = word.substr(begin, at - begin);
      const bool is_last = at == word.size();
      const std::int32_t id = character_id(character, begin == 0, is_last);
      if (id >= 0) {
        if (unknown_waits) put(unknown_);
        unknown_waits = false;
        put(id);
      } else if (has_bytes(character)) {
        for (const char byte : character) put(byte_ids_[static_cast<unsigned char>(byte)]);
      } else if (unknown_ >= 0) {
        if (unknown_waits && !options_.fuse_unknown) put(unknown_);
        unknown_waits = true;
      }
    }
    if (unknown_waits) put(unknown_);
    return symbols;
  }

  [[nodiscard]] std::int32_t character_id(std::string_view character, bool is_first, bool is_last) const {
    const bool prefixed = !is_first && !options_.continuing_prefix.empty();
    const bool suffixed = is_last && !options_.word_suffix.empty();
    if (!prefixed && !suffixed) return vocabulary().id(character);
    return vocabulary().id((prefixed ? options_.continuing_prefix : "") + std::string(character) +
                           (suffixed ? options_.word_suffix : ""));
  }

  [[nodiscard]] bool has_bytes(std::string_view character) const {
    if (!options_.byte_fallback) return false;
    for (const char byte : character)
      if (byte_ids_[static_cast<unsigned char>(byte)] < 0) return false;
    return true;
  }

  void join(std::vector<Symbol>& symbols) const {
    std::priority_queue<Candidate> candidates;
    const auto note = [&](std::int32_t at) {
      if (at < 0 || symbols[static_cast<std::size_t>(at)].after < 0) return;
      const Symbol& left = symbols[static_cast<std::size_t>(at)];
      const Joined merge = joined(left.id, symbols[static_cast<std::size_t>(left.after)].id);
      if (merge.id >= 0) candidates.push({merge.rank, at, merge.id});
    };
    for (std::int32_t at = 0; at + 1 < static_cast<std::int32_t>(symbols.size()); ++at) note(at);
    while (!candidates.empty()) {
      const Candidate next = candidates.top();
      candidates.pop();
      Symbol& left = symbols[static_cast<std::size_t>(next.at)];
      if (left.gone || left.after < 0) continue;
      Symbol& right = symbols[static_cast<std::size_t>(left.after)];
      if (joined(left.id, right.id).id != next.id) continue;
      left.id = next.id;
      left.after = right.after;
      right.gone = true;
      if (left.after >= 0) symbols[static_cast<std::size_t>(left.after)].before = next.at;
      note(left.before);
      note(next.at);
    }
  }

  BytePairOptions options_;
  std::int32_t unknown_ = -1;
  std::vector<std::int32_t> byte_ids_;
  std::unordered_map<std::uint64_t, Joined> joined_;
};

}  // namespace

std::unique_ptr<TokenModel> byte_pair_encoding(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                               const BytePairOptions& options, const std::string& file) {
  return std::make_unique<BytePairEncoding>(std::move(vocabulary), merges, options, file);
}

Merge merge_of_line(std::string_view line, const std::string& place) {
  const std::size_t blank = line.find(' ');
  const bool has_two_parts = blank != line.npos && line.find(' ', blank + 1) == line.npos;
  if (!has_two_parts || blank == 0 || blank + 1 == line.size())
    throw FormatError(
        fmt::format("{}: a merge is two pieces with one blank between, and this is '{}'", place, printable(line)));
  return {std::string(line.substr(0, blank)), std::string(line.substr(blank + 1))};
}

}  // namespace headwave
