#include "run_sentence.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "../../core/fields/field_reader.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr Index longest_name = 80;  // columns; a file may call itself anything

std::string short_text(const std::string& text) {
  return shortened(visible_text(text), longest_name);
}

/// The last part of a path. Many models lie in a folder called `model`; then the folder above comes first.
std::string short_name(const std::string& path) {
  std::filesystem::path whole(path);
  if (whole.filename().empty()) whole = whole.parent_path();
  const bool says_little = whole.filename() == "model" && whole.has_parent_path();
  const std::filesystem::path name = says_little ? whole.parent_path().filename() / whole.filename() : whole.filename();
  return short_text(name.empty() ? path : name.string());
}

}  // namespace

std::string model_name(const Attributes& provenance) {
  const std::string model = attribute_text(provenance, "model");
  return model.empty() ? model : short_name(model);
}

namespace {

std::int64_t count_of(const Attributes& provenance, const std::string& name) {
  return static_cast<std::int64_t>(attribute_number(provenance, name, 0));
}

std::string source_text(const Attributes& provenance) {
  std::string source = short_text(attribute_text(provenance, "source"));
  const std::string file = attribute_text(provenance, "source_file");
  if (file.empty()) return source;
  const std::string digests = attribute_text(provenance, "source_sha256");  // a line for each file
  if (const auto files = std::ranges::count(digests, '\n') + (digests.ends_with('\n') ? 0 : 1);
      provenance.contains("watched") && files > 1)
    return fmt::format("{} from {} files", source, files);
  return fmt::format("{} from {}", source, file == "-" ? "standard input" : short_name(file));
}

}  // namespace

std::string counted(std::int64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string run_sentence(const Attributes& provenance) {
  const std::int64_t layers = count_of(provenance, "layers"), heads = count_of(provenance, "heads");
  const std::int64_t documents = count_of(provenance, "documents"), length = count_of(provenance, "length");
  const std::string model = model_name(provenance), family = attribute_text(provenance, "model_family");
  const bool counted_heads = layers > 0 && heads > 0;
  if (model.empty() && !counted_heads) return {};
  std::string text = model.empty() ? "A model" : model;
  if (!family.empty() && family != attribute_text(provenance, "model"))
    text += fmt::format(" ({})", short_text(family));
  if (counted_heads) text += fmt::format(", {} of {}", counted(layers, "layer"), counted(heads, "head"));
  if (const std::string kind = attribute_text(provenance, "attention"); !kind.empty())
    text += fmt::format(", {} attention", short_text(kind));
  if (documents > 0)
    text += fmt::format(", over {} of up to {}", counted(documents, "document"), counted(length, "token"));
  if (const std::string source = source_text(provenance); !source.empty()) text += fmt::format(" ({})", source);
  if (const std::string changes = attribute_text(provenance, "interventions"); !changes.empty())
    text += fmt::format(", with {}", short_text(changes));
  return text + ".";
}

}  // namespace headwave
