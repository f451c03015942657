#pragma once

#include <memory>

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// The weights of a stack that are too many to be in memory together. A layer's are read when they are asked for, shared
/// by all who hold them at the time, and let go when nobody does; queries and keys when others are asked for, since their
/// heads are asked for one by one. May be asked from several threads.
class LayerStore {
 public:
  LayerStore() = default;
  LayerStore(const LayerStore&) = delete;
  LayerStore& operator=(const LayerStore&) = delete;
  virtual ~LayerStore() = default;

  /// All of a layer.
  /// @throws IoError, FormatError if it cannot be read, or holds NaN or infinity
  [[nodiscard]] virtual std::shared_ptr<const Block> block(Index layer) const = 0;
  /// A layer whose projections to queries and keys are there: what says what a head matches. The rest may be empty.
  /// @throws as block()
  [[nodiscard]] virtual std::shared_ptr<const Block> queries_and_keys(Index layer) const = 0;

  /// What a layer takes while somebody holds all of it, in bytes: nothing is read for it.
  [[nodiscard]] virtual double bytes(Index layer) const = 0;
  /// Whether all layers are one in the checkpoint (ALBERT), and shared by those who hold any.
  [[nodiscard]] virtual bool is_one() const = 0;
};

}  // namespace headwave
