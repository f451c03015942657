#include "usual_arrays.h"

#include <array>

namespace headwave {

std::vector<std::string> names_by_layer(const std::string& word) {
  return {word + "/layer_{layer}", word + "_layer_{layer}", word + "/{layer}", word + "_{layer}"};
}

const std::vector<std::string>& usual_state_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = names_by_layer("hidden_states");
    all.insert(all.end(), {"layer_{layer}/hidden_states", "layer_{layer}", "hidden_states", "states", "embeddings",
                           "last_hidden_state"});
    return all;
  }();
  return names;
}

const std::vector<std::string>& usual_attention_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string word : {"attentions", "attention"}) {
      const std::vector<std::string> layers = names_by_layer(word);
      all.insert(all.end(), layers.begin(), layers.end());
      all.push_back("layer_{layer}/" + word);
    }
    all.insert(all.end(), {"attentions", "attention"});
    return all;
  }();
  return names;
}

std::vector<StoredAxis> usual_axes(std::size_t count, bool projected, bool layers_named, bool one_document) {
  if (count == 2) return {StoredAxis::token, StoredAxis::width};
  if (count == 3)
    return one_document && !layers_named ? std::vector{StoredAxis::layer, StoredAxis::token, StoredAxis::width}
                                         : std::vector{StoredAxis::document, StoredAxis::token, StoredAxis::width};
  if (count == 4 && projected) return {StoredAxis::document, StoredAxis::head, StoredAxis::token, StoredAxis::width};
  if (count == 4 && !layers_named)
    return {StoredAxis::layer, StoredAxis::document, StoredAxis::token, StoredAxis::width};
  return {};
}

std::vector<StoredAxis> usual_attention_axes(std::size_t count, bool layer_known, bool one_document) {
  constexpr std::array all{StoredAxis::layer, StoredAxis::document, StoredAxis::head, StoredAxis::query,
                           StoredAxis::key};
  if (count < 2 || count > all.size() || (count == all.size() && layer_known)) return {};
  if (count != 4) return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
  if (layer_known) return {StoredAxis::document, StoredAxis::head, StoredAxis::query, StoredAxis::key};
  if (one_document) return {StoredAxis::layer, StoredAxis::head, StoredAxis::query, StoredAxis::key};
  return {};
}

}  // namespace headwave
