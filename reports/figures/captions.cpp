#include "captions.h"

#include <algorithm>

#include <fmt/format.h>

#include "../drawing/visible_text.h"
#include "../tables/run_sentence.h"

namespace headwave {

namespace {

/// Whether the figure shows other numbers where other query-key pairs count.
bool counts_pairs(const FigureKind& kind) {
  return std::ranges::find(kind.fields, "offset_trace/mean_weight") != kind.fields.end();
}

}  // namespace

bool leaves_out_position_term(const FigureKind& kind, const Result& result) {
  return std::ranges::any_of(kind.fields, [&](const std::string& name) {
    const Field* field = result.find(name);
    return field != nullptr && field->attributes.contains("position_term");
  });
}

std::string caption_of(const FigureKind& kind, const Result& result, const FigureOptions& options,
                       const std::string& shown) {
  std::string text = kind.caption;
  if (!shown.empty()) text += " " + shown;
  if (leaves_out_position_term(kind, result)) {
    const std::string term = attribute_text(result.provenance, "position_term");
    text += fmt::format(" Queries and keys are those before the position term{}, which is left out.",
                        term.empty() ? "" : " (" + term + ")");
  }
  if (kind.says != nullptr)
    if (const std::string said = kind.says(result, options); !said.empty()) text += " " + said;
  if (counts_pairs(kind) && options.pairs != "all") {
    const bool known = !attribute_text(result.provenance, "special_tokens").starts_with("not known");
    if (options.pairs == "without_sink") text += " Pairs with the sink are left out.";
    if (options.pairs == "without_special" && known) text += " Pairs with special tokens are left out.";
    if (!known) text += " No token is known to be special.";
  }
  if (const std::string run = run_sentence(result.provenance); !run.empty()) text += " Model: " + run;
  return text;
}

DrawnFile caption_file(const std::string& caption) {
  return {"txt", visible_text(caption) + '\n'};
}

}  // namespace headwave
