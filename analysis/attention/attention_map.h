#pragma once

#include <tuple>
#include <vector>

#include "../../core/attention/probe.h"
#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/numbers/matrix.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// Attention maps: the weights of chosen heads over the first n tokens of one document.
struct AttentionMaps {
  std::vector<HeadName> heads;
  std::vector<Matrix> weights;  ///< one per head, (n', n): rows are queries, columns keys
  std::vector<std::string>
      tokens;  ///< (n') text of the queries; ids where no text is known, positions where no ids are
  std::vector<std::string> key_tokens;  ///< (n) text of the keys; the same but in cross-attention
  std::string document;                 ///< name of the document
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.heads, self.weights, self.tokens, self.key_tokens, self.document);
  }
};

/// Keeps the first weights of chosen heads while they pass by. Rows do not sum to 1 where attention goes beyond
/// the first n tokens.
class AttentionMapProbe : public Probe {
 public:
  /// @param tokens  n; shorter documents give what they have
  /// @param kind    the attention that is looked at; others pass unseen
  AttentionMapProbe(std::vector<HeadName> heads, Index tokens, const Document& document,
                    AttentionKind kind = AttentionKind::self);

  using Probe::see;
  void see(const Tile& tile) override;

  [[nodiscard]] const AttentionMaps& maps() const { return maps_; }

 private:
  AttentionKind kind_;
  AttentionMaps maps_;
};

/// Fields attention_map/...
std::vector<Field> describe(const AttentionMaps& maps);

/// In a job: attention_map/..., of its first document.
const AnalysisKind& attention_map_analysis();

}  // namespace headwave
