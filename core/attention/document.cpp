#include "document.h"

namespace headwave {

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
  return stored.front().states.size() > 0 ? stored.front().states.rows() : stored.front().query.rows();
}

const TokenSequence& Document::query_tokens(AttentionKind kind) const {
  if (kind == AttentionKind::self || target.ids.empty()) return *this;
  return target;
}

const TokenSequence& Document::key_tokens(AttentionKind kind) const {
  if (kind == AttentionKind::causal && !target.ids.empty()) return target;
  return *this;
}

}  // namespace headwave
