#include "paired_texts.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/text_lines.h"
#include "id_pairs.h"
#include "unknown_tokens.h"

namespace headwave {

namespace {

std::vector<std::string_view> lines_of(const InputText& text) {
  std::vector<std::string_view> lines;
  each_line(text.text(), [&](std::string_view line) { lines.push_back(line); });
  return lines;
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

Ids ids_of(std::string_view line, const Tokenizer& tokenizer, bool special_tokens) {
  const SpecialTokens special = special_tokens ? tokenizer.special_tokens() : SpecialTokens{};
  Ids ids = tokenizer.encode(line);
  if (special.opens >= 0) ids.insert(ids.begin(), special.opens);
  if (special.closes >= 0) ids.push_back(special.closes);
  return ids;
}

/// Equation (1).
Ids read_by_decoder(Ids target, std::int32_t start) {
  target.insert(target.begin(), start);
  if (target.size() > 1) target.pop_back();
  return target;
}

}  // namespace

std::unique_ptr<Source> paired_texts(const TextPlace& text, const TextPlace& target, const PairedTokenizers& tokenizers,
                                     const PackingOptions& options) {
  const InputText read(text, {.encoding = options.encoding}), written(target, {.encoding = options.encoding});
  const std::vector<std::string_view> sources = lines_of(read), targets = lines_of(written);
  if (sources.size() != targets.size())
    throw FormatError(fmt::format("{}: {} lines, but {} has {}; expected a line of the one beside each of the other",
                                  written.name(), targets.size(), read.name(), sources.size()));
  std::vector<std::size_t> lines;
  for (std::size_t line = 0; line < sources.size(); ++line) {
    const bool no_source = is_blank_line(sources[line]), no_target = is_blank_line(targets[line]);
    if (no_source != no_target)
      throw FormatError(fmt::format("{}: line {} is blank, but it is not in {}; take both out, or neither",
                                    no_source ? read.name() : written.name(), line + 1,
                                    no_source ? written.name() : read.name()));
    if (!no_source) lines.push_back(line);
  }
  lines.resize(static_cast<std::size_t>(wanted_documents(static_cast<Index>(lines.size()), options, read.name())));

  std::vector<IdPair> documents;
  for (const std::size_t line : lines) {
    documents.push_back(
        {ids_of(sources[line], *tokenizers.text, options.special_tokens),
         read_by_decoder(ids_of(targets[line], *tokenizers.target, options.special_tokens), tokenizers.decoder_start)});
    require_readable(documents.back(), std::ssize(documents) - 1, options, read.name());
  }
  UnknownTokens unknown(*tokenizers.text), target_unknown(*tokenizers.target);
  for (const IdPair& document : documents) {
    unknown.count(document.ids);
    target_unknown.count({document.target.begin() + 1, document.target.end()});  // after the decoder's start
  }
  unknown.require_known(read.name(), options);
  target_unknown.require_known(written.name(), options);
  Attributes provenance = packing_provenance(documents);
  if (const auto share = unknown.share()) provenance["unknown_share"] = *share;
  if (const auto share = target_unknown.share()) provenance["target_unknown_share"] = *share;
  provenance.insert(read.provenance().begin(), read.provenance().end());
  for (const auto& [name, value] : written.provenance())
    if (name.starts_with("source_")) provenance["target_" + name.substr(7)] = value;
  provenance["source"] = std::string("two texts, line by line");
  provenance["tokenizer"] = tokenizers.text->kind();
  provenance["decoder_start"] = static_cast<std::int64_t>(tokenizers.decoder_start);
  provenance["special_tokens"] =
      special_tokens_text(options.special_tokens ? tokenizers.text->special_tokens() : SpecialTokens{}, "line");
  return id_pairs({std::move(documents), documents_name(text), tokenizers.text, tokenizers.target},
                  std::move(provenance));
}

}  // namespace headwave
