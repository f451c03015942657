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
    for (const std::string& name : tensors)
      if (storage->checkpoint->has(name)) storage->checkpoint->let_go(name);
  }
};

class StoredLayers : public LayerStore {
 public:
  StoredLayers(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map)
      : checkpoint_(std::move(checkpoint)), map_(map), all_(at_least_one(map)), queries_and_keys_(at_least_one(map)) {
    is_one_ = map_.layers > 1 && shape_of(0).second == shape_of(1).second;
  }

  [[nodiscard]] std::shared_ptr<const Block> block(Index layer) const override {
    const std::lock_guard lock(reading_);
    last_.reset();
    return held(all_, read_as(layer), LayerParts::all);
  }

  [[nodiscard]] std::shared_ptr<const Block> queries_and_keys(Index layer) const override {
    const std::lock_guard lock(reading_);
    const Index read = read_as(layer);
    if (auto whole = all_[static_cast<std::size_t>(read)].held.lock()) return whole;
    if (queries_and_keys_[static_cast<std::size_t>(read)].held.expired()) last_.reset();
    last_ = held(queries_and_keys_, read, LayerParts::queries_and_keys);
    return last_;
  }

  [[nodiscard]] double bytes(Index layer) const override {
    const auto [block, names] = shape_of(layer);
    double entries = 0;
    for (const std::string& name : names) {
      if (!checkpoint_->has(name)) continue;
      double of_tensor = 1;
      for (const Index extent : checkpoint_->info(name).shape) of_tensor *= static_cast<double>(extent);
      entries += of_tensor;
    }
    if (map_.self.fusion == Fusion::qkv_by_head)  // copies stand beside what they were made of
      for (const Linear& copy : {block.self.query, block.self.key, block.self.value})
        entries += static_cast<double>(copy.weight.size());
    return sizeof(float) * entries;
  }

  [[nodiscard]] bool is_one() const override { return is_one_; }

 private:
  /// A layer that is read again and again.
  struct Layer {
    std::weak_ptr<const Block> held;
    bool checked = false;  ///< its values are finite: they need not be looked at again
  };
  using Layers = std::vector<Layer>;

  /// A layer's shapes, and the names of its tensors.
  [[nodiscard]] std::pair<Block, std::set<std::string>> shape_of(Index layer) const {
    TensorReader reader(checkpoint_, {});
    reader.look_at(Reading::shape);
    reader.trust_values();
    const Block block = layer_weights(reader, map_, layer);
    return {block, reader.read()};
  }

  [[nodiscard]] Index read_as(Index layer) const { return is_one_ ? 0 : layer; }

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
  bool is_one_ = false;
  mutable std::mutex reading_;
  mutable Layers all_, queries_and_keys_;
  mutable std::shared_ptr<const Block> last_;  // queries and keys are asked for head by head
};

}  // namespace

std::shared_ptr<const LayerStore> stored_layers(std::shared_ptr<const Checkpoint> checkpoint, const StackMap& map) {
  return std::make_shared<StoredLayers>(std::move(checkpoint), map);
}

}  // namespace headwave
