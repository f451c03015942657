#include "typed_document.h"

#include "../../core/errors/error.h"

namespace headwave {

Document typed_document(std::string_view text, const Tokenizer& tokenizer, bool causal) {
  const SpecialTokens special = tokenizer.special_tokens();
  Document document;
  document.name = "the text";
  if (special.opens >= 0) document.ids.push_back(special.opens);
  const std::vector<std::int32_t> ids = tokenizer.encode(text);
  document.ids.insert(document.ids.end(), ids.begin(), ids.end());
  if (special.closes >= 0 && !causal) document.ids.push_back(special.closes);
  if (document.ids.empty()) throw ShapeError("the text is empty, and the model has no token to open it with");
  return document;
}

}  // namespace headwave
