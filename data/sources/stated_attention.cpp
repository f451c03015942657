#include "stated_attention.h"

#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "stored_arrays.h"

namespace headwave {

namespace {

/// What the map says, and where it is silent the attributes beside the arrays.
class Stated {
 public:
  Stated(const StoredArrays& arrays, const StatedAttention& mapped) : arrays_(arrays), said_(mapped) {
    fill(said_.heads, "num_heads");
    fill(said_.d_head, "head_dim");
    fill(said_.window, "window");
    fill(said_.causal, "causal");
    fill(said_.turned, "turned");
    if (!said_.scale) said_.scale = arrays.number("score_scale");
    if (said_.scale && *said_.scale <= 0) refuse("score_scale", *said_.scale, "a number above 0");
  }
  [[nodiscard]] const StatedAttention& said() const { return said_; }

 private:
  [[noreturn]] void refuse(const char* name, double came, const char* expected) const {
    throw FormatError(
        fmt::format("{}: attribute '{}' is {:g}, expected {}", arrays_.path().string(), name, came, expected));
  }
  void fill(std::optional<Index>& size, const char* name) const {
    const std::optional<double> number = size ? std::nullopt : arrays_.number(name);
    if (!number) return;
    if (*number < 1 || *number > 1e6 || *number != std::floor(*number))
      refuse(name, *number, "a whole number of at least 1");
    size = static_cast<Index>(*number);
  }
  void fill(std::optional<bool>& flag, const char* name) const {
    const std::optional<double> number = flag ? std::nullopt : arrays_.number(name);
    if (!number) return;
    if (*number != 0 && *number != 1) refuse(name, *number, "0 or 1");
    flag = *number == 1;
  }

  const StoredArrays& arrays_;
  StatedAttention said_;
};

}  // namespace

std::string text_of(const StatedAttention& stated) {
  std::string text;
  const auto say = [&](const char* name, const auto& said) {
    if (said) text += fmt::format("{}{} {:g}", text.empty() ? "" : ", ", name, static_cast<double>(*said));
  };
  say("num_heads", stated.heads);
  say("head_dim", stated.d_head);
  say("window", stated.window);
  say("causal", stated.causal);
  say("turned", stated.turned);
  say("score_scale", stated.scale);
  return text.empty() ? "nothing" : text;
}

StatedAttention stated_attention(const StoredArrays& arrays, const StatedAttention& mapped) {
  return Stated(arrays, mapped).said();
}

void require_same_attention(const std::filesystem::path& path, const StatedAttention& stated, const BlockSpec& spec) {
  const auto differs = [&](const char* name, double came, double model) {
    throw ShapeError(fmt::format("{}: attribute '{}' is {:g}, the model's is {:g}; are the states from this model?",
                                 path.string(), name, came, model));
  };
  const auto number = [](auto value) { return static_cast<double>(value); };
  if (stated.heads && *stated.heads != spec.heads) differs("num_heads", number(*stated.heads), number(spec.heads));
  if (stated.d_head && *stated.d_head != spec.d_head) differs("head_dim", number(*stated.d_head), number(spec.d_head));
  if (stated.causal && *stated.causal != spec.causal) differs("causal", number(*stated.causal), number(spec.causal));
  if (stated.window && *stated.window != spec.window) differs("window", number(*stated.window), number(spec.window));
  // Attributes are often float32: seven digits.
  if (stated.scale && std::abs(*stated.scale - spec.score_scale) > 1e-6 * spec.score_scale)
    differs("score_scale", *stated.scale, spec.score_scale);
}

}  // namespace headwave
