#pragma once

#include "source.h"

namespace headwave {

/// Documents with the states of a model that ran elsewhere, and whose weights are at hand: a model of PyTorch.
class RecordedSource : public Source {
 public:
  /// Document i without these states.
  [[nodiscard]] virtual Document ids_alone(Index i) const = 0;
};

/// Document i for another pass of the model: its ids alone where they are enough, otherwise with what is stored of it.
inline Document ids_alone(const Source& source, Index i) {
  const auto* recorded = dynamic_cast<const RecordedSource*>(&source);
  return recorded != nullptr ? recorded->ids_alone(i) : source.document(i);
}

}  // namespace headwave
