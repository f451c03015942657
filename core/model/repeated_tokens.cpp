#include "repeated_tokens.h"

#include <utility>

#include <fmt/format.h>

#include "../numbers/random.h"

namespace headwave {

namespace {

class RepeatedTokens : public Source {
 public:
  RepeatedTokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options)
      : ids_(std::move(ids)), options_(options) {}

  [[nodiscard]] Index count() const override { return options_.documents; }
  [[nodiscard]] Index length(Index /*i*/) const override {
    return options_.period * options_.repeats + (options_.opening >= 0 ? 1 : 0);
  }

  [[nodiscard]] Document document(Index i) const override {
    Random random = Random(options_.seed).stream(static_cast<std::uint64_t>(i));
    std::vector<std::int32_t> drawn;
    for (Index n = 0; n < options_.period; ++n)
      drawn.push_back(ids_[static_cast<std::size_t>(random.below(static_cast<Index>(ids_.size())))]);
    Document document;
    document.name = fmt::format("{} random tokens, {} times, number {}", options_.period, options_.repeats, i);
    if (options_.opening >= 0) document.ids.push_back(options_.opening);
    for (Index n = 0; n < options_.repeats; ++n) document.ids.insert(document.ids.end(), drawn.begin(), drawn.end());
    document.special.assign(document.ids.size(), 0);
    if (options_.opening >= 0) document.special.front() = 1;
    return document;
  }

  [[nodiscard]] Attributes provenance() const override {
    return {{"source", std::string("repeated random tokens")},
            {"documents", static_cast<std::int64_t>(count())},
            {"length", static_cast<std::int64_t>(length(0))},
            {"period", static_cast<std::int64_t>(options_.period)},
            {"repeats", static_cast<std::int64_t>(options_.repeats)},
            {"token_seed", static_cast<std::int64_t>(options_.seed)},
            {"special_tokens", std::string(options_.opening >= 0 ? "one before every document" : "none")}};
  }

 private:
  std::vector<std::int32_t> ids_;
  RepeatedTokensOptions options_;
};

}  // namespace

std::unique_ptr<Source> repeated_tokens(std::vector<std::int32_t> ids, const RepeatedTokensOptions& options) {
  if (ids.empty() || options.documents < 1 || options.period < 1 || options.repeats < 1)
    throw ShapeError(
        fmt::format("repeated_tokens: {} documents of {} tokens {} times, drawn from {} ids; expected each "
                    "to be at least 1",
                    options.documents, options.period, options.repeats, ids.size()));
  return std::make_unique<RepeatedTokens>(std::move(ids), options);
}

}  // namespace headwave
