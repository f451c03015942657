#pragma once

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/model/source.h"

namespace headwave {

/// Another source, of which one document cannot be read, or which has no documents.
class FailingSource : public Source {
 public:
  /// @param at  the document that cannot be read; -1: there are none at all
  FailingSource(const Source& whole, Index at) : whole_(whole), at_(at) {}
  [[nodiscard]] Index count() const override { return at_ < 0 ? 0 : whole_.count(); }
  [[nodiscard]] Document document(Index i) const override {
    if (i == at_ || at_ < 0) throw IoError(fmt::format("document {} cannot be read", i));
    return whole_.document(i);
  }
  [[nodiscard]] Index length(Index i) const override { return whole_.length(i); }
  [[nodiscard]] Attributes provenance() const override { return whole_.provenance(); }

 private:
  const Source& whole_;
  Index at_;
};

}  // namespace headwave
