#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../analysis/attention/attention_map.h"
#include "../../analysis/attention/head_types.h"
#include "../../analysis/attention/offset_trace.h"
#include "../../analysis/attention/value_use.h"
#include "../../analysis/positions/state_moments.h"
#include "../../analysis/waves/wave_chain.h"
#include "../../core/model/source.h"
#include "job.h"

namespace headwave {

/// One kind of attention, and the heads that do it.
struct Site {
  AttentionKind kind = AttentionKind::self;
  HeadGrid grid;
  Index length = 0;            ///< T that the wave chain is about: the most common length, of two the longer
  std::vector<Index> numbers;  ///< (documents) which of those documents each one is, from 0; -1: of another length
  Index documents = 0;         ///< how many there are
  std::string no_chain;        ///< why the wave chain cannot be followed here; empty where it can
};

/// What the model pass over all documents leaves behind, of one kind of attention.
struct Passed {
  Site site;
  OffsetTraces traces;
  AttentionMaps maps;
  std::optional<HeadTypes> types;
  std::optional<ValueUse> values;
  std::vector<WaveHead> heads;  ///< of the chain; empty where there is none
  WaveChainOptions chain_options;
  std::optional<WaveChain> chain;
  std::vector<StateMoments> moments;  ///< by layer of the grid; empty where nobody asks
};

class StageReport;

/// Takes every document of a source through a model once, probes of all analyses looking on. What a document gives is
/// merged in the order of documents, so threads change no digit.
class DocumentPass {
 public:
  /// @param threads  at least 1
  DocumentPass(const Model& model, const Source& source, const JobOptions& options, int threads);

  [[nodiscard]] const Document& first() const { return first_; }
  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  /// Tokens of each document.
  [[nodiscard]] const std::vector<Index>& lengths() const { return lengths_; }

  /// @param report  is told of the stages "preparation" and "attention"
  /// @throws Error as the source, the model pass and the analyses do
  [[nodiscard]] std::vector<Passed> run(StageReport& report) const;

 private:
  struct Sums;
  struct Parts;
  [[nodiscard]] std::vector<Parts> parts_of(Index i, std::vector<Sums>& sums) const;

  const Model& model_;
  const Source& source_;
  const JobOptions& options_;
  int threads_;
  Document first_;
  std::vector<Index> lengths_;
  std::vector<Site> sites_;
};

}  // namespace headwave
