#include "document.h"

namespace headwave {

namespace {

/// T of a sequence. Without ids, as with stored states, only the document knows it.
Index length_of(const TokenSequence& tokens, const Document& document) {
  return tokens.ids.empty() ? document.length() : static_cast<Index>(tokens.ids.size());
}

}  // namespace

const char* name_of(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::self:
      return "self";
    case AttentionKind::causal:
      return "causal";
    case AttentionKind::cross:
      return "cross";
  }
  return "self";
}

Index Document::length() const {
  if (!ids.empty()) return static_cast<Index>(ids.size());
  if (stored.empty()) return 0;
  const StoredLayer& first = stored.front();
  if (!first.attention.empty()) return first.attention.length;
  return first.states.size() > 0 ? first.states.rows() : first.query.rows();
}

const TokenSequence& Document::query_tokens(AttentionKind kind) const {
  if (kind == AttentionKind::self || target.ids.empty()) return *this;
  return target;
}

const TokenSequence& Document::key_tokens(AttentionKind kind) const {
  if (kind == AttentionKind::causal && !target.ids.empty()) return target;
  return *this;
}

Index Document::queries(AttentionKind kind) const {
  return length_of(query_tokens(kind), *this);
}

Index Document::keys(AttentionKind kind) const {
  return length_of(key_tokens(kind), *this);
}

}  // namespace headwave
