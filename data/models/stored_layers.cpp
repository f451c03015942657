#include "stored_layers.h"

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../files/printable.h"
#include "layer_weights.h"
#include "tensor_reader.h"

namespace headwave {

namespace {

/// A layer while somebody holds it.
struct HeldLayer {
  std::shared_ptr<const ModelStorage> storage;
  std::set<std::string> tensors;
  Block block;

  HeldLayer() = default;
  HeldLayer(const HeldLayer&) = delete;
  HeldLayer& operator=(const HeldLayer&) = delete;
  ~HeldLayer() {
    for (const std::string& name : tensors) storage->checkpoint->let_go(name);
  }
};

class StoredLayers : public LayerStore {
 public:
  StoredLayers(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map)
      : checkpoint_(std::move(checkpoint)), map_(map), all_(at_least_one(map)), queries_and_keys_(at_least_one(map)) {}

  [[nodiscard]] std::shared_ptr<const Block> block(Index layer) const override {
    const std::lock_guard lock(reading_);
    last_.reset();
    return held(all_, layer, LayerParts::all);
  }

  [[nodiscard]] std::shared_ptr<const Block> queries_and_keys(Index layer) const override {
    const std::lock_guard lock(reading_);
    if (auto whole = all_[static_cast<std::size_t>(layer)].held.lock()) return whole;
    if (queries_and_keys_[static_cast<std::size_t>(layer)].held.expired()) last_.reset();
    last_ = held(queries_and_keys_, layer, LayerParts::queries_and_keys);
    return last_;
  }

 private:
  /// A layer that is read again and again.
  struct Layer {
    std::weak_ptr<const Block> held;
    bool checked = false;  ///< its values are finite: they need not be looked at again
  };
  using Layers = std::vector<Layer>;

  static std::size_t at_least_one(const StackMap& map) {
    return static_cast<std::size_t>(std::max<Index>(map.layers, 1));
  }

  /// What somebody holds, or what is read now.
  std::shared_ptr<const Block> held(Layers& layers, Index layer, LayerParts parts) const {
    Layer& there = layers[static_cast<std::size_t>(layer)];
    if (auto block = there.held.lock()) return block;
    TensorReader reader(checkpoint_, {});
    if (there.checked) reader.trust_values();
    auto layer_held = std::make_shared<HeldLayer>();
    layer_held->storage = reader.storage();
    layer_held->block = layer_weights(reader, map_, layer, parts);
    layer_held->tensors = reader.read();
    if (!reader.problems().empty())
      throw FormatError(problems_text(shown_path(checkpoint_->path()), reader.problems()));
    std::shared_ptr<const Block> block(layer_held, &layer_held->block);
    there = {block, true};
    return block;
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  StackMap map_;
  mutable std::mutex reading_;
  mutable Layers all_, queries_and_keys_;
  mutable std::shared_ptr<const Block> last_;  // queries and keys are asked for head by head
};

}  // namespace

std::shared_ptr<const LayerStore> stored_layers(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map) {
  return std::make_shared<StoredLayers>(std::move(checkpoint), map);
}

}  // namespace headwave
