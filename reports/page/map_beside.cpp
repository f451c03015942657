#include "map_beside.h"

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "page_data.h"

namespace headwave {

void require_map_beside(const Result& beside, const Result& result, const std::string& called) {
  if (beside.find("attention_map/weight") == nullptr)
    throw FormatError(
        fmt::format("{}: holds no attention map to show beside; expected the result of a run with the "
                    "analysis attention_map",
                    called));
  const auto said = [](const Result& of, const char* name) {
    const auto found = of.provenance.find(name);
    return found == of.provenance.end() ? std::string("none") : remark_text(found->second);
  };
  for (const char* name : {"model_sha256", "model_family", "d_model", "layers", "heads", "attention", "interventions"})
    if (const std::string want = said(result, name), found = said(beside, name); want != found)
      throw FormatError(
          fmt::format("{}: {}: {}; expected {}, as in the result that the page is of", called, name, found, want));
}

}  // namespace headwave
