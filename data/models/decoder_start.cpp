#include "decoder_start.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"
#include "../files/json_object.h"
#include "../files/printable.h"

namespace headwave {

std::int32_t decoder_start(const std::filesystem::path& folder) {
  constexpr const char* key = "decoder_start_token_id";
  for (const char* name : {"config.json", "generation_config.json"}) {
    const std::filesystem::path path = folder / name;
    std::error_code ignored;
    if (std::string_view(name) != "config.json" && !std::filesystem::exists(path, ignored)) continue;
    const nlohmann::json value = json_of_file(path);
    const JsonObject config(value, shown_path(path));
    if (!config.has(key)) continue;
    const std::int64_t id = config.integer(key);
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
      throw FormatError(fmt::format("{}: {} is {}, expected an id of a token", config.place(), key, id));
    return static_cast<std::int32_t>(id);
  }
  throw FormatError(fmt::format("{}: no {}, the id that the decoder reads first; expected it in config.json",
                                shown_path(folder / "config.json"), key),
                    give("ids", "FILE", "to give token ids"));
}

}  // namespace headwave
