#include "json_steps.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

void refuse_type(const JsonObject& step, const std::string& type, const char* known) {
  throw FormatError(fmt::format("{}: type '{}' is not known, expected {}: leaving it out would change what comes out",
                                step.place(), printable(type), known));
}

std::vector<JsonObject> steps_of(const JsonObject& step, const std::string& key) {
  std::vector<JsonObject> steps;
  for (const nlohmann::json& value : step.list(key))
    steps.emplace_back(value, fmt::format("{}: {}[{}]", step.place(), key, steps.size()));
  return steps;
}

}  // namespace headwave
