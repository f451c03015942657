#include "unknown_tokens.h"

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

void UnknownTokens::count(const std::vector<std::int32_t>& ids) {
  const std::int32_t unknown = tokenizer_.special_tokens().unknown;
  for (const std::int32_t id : ids) {
    if (id == unknown) ++unknown_;
    if (id == unknown || !tokenizer_.is_special(id)) ++tokens_;
  }
}

std::optional<double> UnknownTokens::share() const {
  if (tokens_ == 0 || tokenizer_.special_tokens().unknown < 0) return {};
  return static_cast<double>(unknown_) / static_cast<double>(tokens_);
}

void UnknownTokens::require_known(const std::string& text, const PackingOptions& options) const {
  const double unknown = share().value_or(0);
  if (unknown < nearly_all_unknown || options.allow_unknown) return;
  throw FormatError(
      fmt::format(
          "{}: {:.0f} % of its tokens are unknown ({}), since the model's vocabulary cannot spell them; expected "
          "a text in the language and the spelling that the model was trained on",
          text, 100 * unknown, tokenizer_.piece(tokenizer_.special_tokens().unknown)),
      give("allow_unknown", "", "to take this one"));
}

}  // namespace headwave
