#include "input_remarks.h"

#include <numeric>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../data/files/input_text.h"
#include "../../data/sources/stored_documents.h"
#include "../../reports/drawing/visible_text.h"
#include "../terminal/terminal.h"

namespace headwave::cli {

namespace {

/// "one document of 12 tokens", "3 documents of up to 12 tokens"
std::string extent_text(Index documents, std::int64_t length, bool of_one_length) {
  return fmt::format("{} of {}{} tokens", documents == 1 ? "one document" : fmt::format("{} documents", documents),
                     of_one_length || documents == 1 ? "" : "up to ", length);
}

/// What messages call the file or folder that documents come from.
std::string source_name(const InputOptions& options, const SourceOptions& given) {
  if (!given.states->empty()) return options.states.string();
  if (!given.images->empty()) return options.images.string();
  if (!given.features->empty()) return options.features.string();
  return input_name(given.text->empty() ? options.ids : options.text);
}

}  // namespace

std::vector<std::string> remarks_on(const JobInput& input, const InputOptions& options, const SourceOptions& given) {
  std::vector<std::string> remarks;
  const std::string name = input_name(given.text->empty() ? options.ids : options.text);
  const Attributes provenance = input.source->provenance();
  const Index documents = input.source->count();
  const bool counted = !given.text->empty() || !given.ids->empty();
  if (counted && !options.packing.documents && documents < usual_documents)
    remarks.push_back(fmt::format("{}: {}; statistics over so few are rough, {} are usual", name,
                                  extent_text(documents, std::get<std::int64_t>(provenance.at("length")),
                                              !given.text->empty() && given.target->empty()),
                                  usual_documents));
  if (const auto found = provenance.find("source_files_left_out"); found != provenance.end())
    remarks.push_back(fmt::format("{}: {} that {} not end in .png, .jpg or .jpeg left out", options.images.string(),
                                  std::get<std::int64_t>(found->second) == 1
                                      ? "a file"
                                      : fmt::format("{} files", std::get<std::int64_t>(found->second)),
                                  std::get<std::int64_t>(found->second) == 1 ? "does" : "do"));
  if (const auto found = provenance.find("equal_documents"); found != provenance.end()) {
    const auto equal = std::get<std::int64_t>(found->second);
    remarks.push_back(fmt::format("{}: {} of {} documents {} equal to an earlier one; each counts once, {} are left",
                                  source_name(options, given), equal, documents + equal, equal == 1 ? "is" : "are",
                                  documents));
  }
  if (const auto found = provenance.find("replaced_characters"); found != provenance.end())
    if (const double share = std::get<double>(found->second); share > 0)
      remarks.push_back(fmt::format("{}: {:.2g} % of the characters could not be decoded as {} and became U+FFFD", name,
                                    100 * share, options.packing.encoding));
  if (const auto found = provenance.find("stored_layers"); found != provenance.end()) {
    const auto& stored = std::get<std::string>(found->second);
    std::vector<Index> layers(input.model.stack.blocks.size());
    std::iota(layers.begin(), layers.end(), Index{0});
    const std::string all = layers_text(layers);
    std::string remark = fmt::format("{}: {}, layer{} {}", options.states.string(),
                                     extent_text(documents, std::get<std::int64_t>(provenance.at("length")), false),
                                     stored.find_first_of(",-") == stored.npos ? "" : "s", stored);
    if (!given.model->empty() && stored != all)
      remark += fmt::format(" of the model's {}; the others are not looked at", all);
    if (given.model->empty())
      remark += input.model.stack.block.causal ? "; attention is causal" : "; attention goes both ways";
    if (attribute_text(provenance, "special_tokens").starts_with("not known"))
      remark += "; no token is known to be special (pairs without_special are all pairs)";
    remarks.push_back(remark);
  }
  return remarks;
}

void say_once(const std::string& remark) {
  static std::set<std::string> said;
  if (said.insert(remark).second) say(visible_text(remark));
}

}  // namespace headwave::cli
