#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

/// What the analyses of one site have found so far, each result known by its type: whoever reads one says which in its
/// own source, and the compiler knows it.
class Finished {
 public:
  template <class Result>
  const Result& keep(Result result) {
    auto kept = std::make_shared<const Result>(std::move(result));
    results_[typeid(Result)] = kept;
    return *kept;
  }

  /// @returns nullptr where no analysis has found one
  template <class Result>
  [[nodiscard]] const Result* find() const {
    const auto found = results_.find(typeid(Result));
    return found == results_.end() ? nullptr : static_cast<const Result*>(found->second.get());
  }

  /// Of an analysis that the asking one reads.
  /// @throws ShapeError if there is none: its kind does not stand among the asking one's `reads`
  template <class Result>
  [[nodiscard]] const Result& get() const {
    if (const Result* found = find<Result>()) return *found;
    throw ShapeError(fmt::format("a result ({}) is read that no analysis before has found", typeid(Result).name()));
  }

 private:
  std::map<std::type_index, std::shared_ptr<const void>> results_;
};

}  // namespace headwave
