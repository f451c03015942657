#include "place_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "../../job/inputs/place_text.h"
#include "values.h"

namespace headwave::cli {

namespace {

CLI::Validator range_of_layers() {
  return {[](const std::string& given) {
            return first_layers(given) ? std::string() : fmt::format("'{}': expected {}", given, expected_first_layers);
          },
          "0-N", "first layers"};
}

}  // namespace

PlaceOptionsGiven add_place_options(CLI::App& command, PlaceOptions& options, bool layers) {
  PlaceOptionsGiven given{};
  if (layers)
    given.layers = command
                       .add_option("--layers", options.layers,
                                   "the first layers alone, 0-7: what comes after them is neither read nor computed")
                       ->check(range_of_layers())
                       ->type_name("0-N");
  given.weights =
      command
          .add_option(
              "--weights", options.weights,
              "where weights are: memory, or layers, each read as it is needed and let go, for models larger than "
              "memory; auto: layers where all would take more than half of the memory there is, or, in a run over "
              "documents, would not fit beside the rest or make it half as large again; changes no digit")
          ->check(one_of({"auto", "memory", "layers"}))
          ->capture_default_str();
  return given;
}

ModelPlace place_of(const std::filesystem::path& model, const std::filesystem::path& map, const PlaceOptions& options) {
  ModelPlace place(model, map);
  if (!options.layers.empty()) place.layers = first_layers(options.layers).value_or(0);
  place.weights_in = weights_in(options.weights).value_or(WeightsIn::either);
  if (!options.max_memory.empty()) place.memory = bytes_of(options.max_memory);
  return place;
}

}  // namespace headwave::cli
