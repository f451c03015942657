#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "../pass/document_sum.h"
#include "account_documents.h"
#include "stream_parts.h"

namespace headwave {

/// The places of a document that are followed, and the pairs of them that count.
struct Stretch {
  Index first = 0, count = 0, reach = 0;
  Eigen::RowVectorXf ordinary;  // (count)  1: neither special nor the first, in none of the documents
  bool causal = false;

  /// Keys of the stretch that query i of it may look at.
  [[nodiscard]] KeySpan open(Index i, Index window) const { return allowed_keys(i, count, causal, window); }
  /// Those among them that are within reach.
  [[nodiscard]] KeySpan near(Index i, Index window) const {
    const KeySpan open = this->open(i, window);
    const Index from = std::max(open.first, i - reach), end = std::min(open.end(), i + reach + 1);
    return {from, std::max<Index>(0, end - from)};
  }
};

/// Queries and keys of a layer at the stretch's places, after a rotary term has turned them.
struct StretchLayer {
  Matrix32 query, key;  // (count, width)
};

/// Sums over documents of one layer, for the position kernel.
struct KernelSums {
  Matrix query, key;                               // (heads * sources, 2 reach + 1)
  std::vector<Matrix> earlier_query, earlier_key;  ///< [chosen head] (sources by head, 2 reach + 1)
  Largest<double> closure;
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.query, self.key, self.earlier_query, self.earlier_key, self.closure);
  }
};

/// Sums over pairs of documents of one layer, for what tokens add to the mean of their place.
struct ContentSums {
  Matrix query, key;                               // (heads * sources, content_offsets)
  Matrix sum, squares;                             // (heads, content_offsets)  of one pair's c(t)
  std::vector<Matrix> position_table, self_table;  ///< [chosen head] (sources^2, 2 reach + 1), (sources, sources)
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.query, self.key, self.sum, self.squares, self.position_table, self.self_table);
  }
};

struct LayerSums {
  KernelSums kernel;
  ContentSums content;
};

/// Number of pairs on each diagonal.
Vector pairs_of(const Stretch& stretch, Index window);

/// Turns queries or keys of the stretch as a rotary term turns those of a whole sequence.
void turn(const RotaryTerm* term, const Stretch& stretch, Index length, Index d_head, Eigen::Ref<Matrix32> rows);

/// Sources with all heads of an attention together.
std::vector<StreamSource> without_heads(const std::vector<StreamSource>& fine);

/// Inputs of the decomposition, the same for every document.
struct SourceWork {
  const AccountSite* site = nullptr;
  bool earlier = false;  ///< attention of earlier layers by head, for the chosen heads
  Stretch stretch;
  std::vector<StretchLayer> sums;          // of the grid's layers, over all documents of the site's length
  Index all = 0;                           // number of those documents
  std::vector<std::vector<Index>> chosen;  // heads of each layer of the grid

  [[nodiscard]] bool by_head() const {
    return earlier && std::any_of(chosen.begin(), chosen.end(), [](const auto& heads) { return !heads.empty(); });
  }
  [[nodiscard]] const Stack& stack() const { return *site->stack; }
};

class SourceProbe;

/// Two documents that pass through the model side by side, in the same layer at a time.
class SourcePair {
 public:
  SourcePair(const SourceWork& work, const Document& a, const Document& b);
  SourcePair(const SourcePair&) = delete;
  SourcePair& operator=(const SourcePair&) = delete;
  ~SourcePair();

  [[nodiscard]] Probe* probe(std::size_t i) const;
  /// Sources of the last layer, with attention by head if that was asked for.
  [[nodiscard]] const std::vector<StreamSource>& fine_sources() const;
  /// Adds the sums of both documents.
  void add_sums_to(std::vector<LayerSums>& sums) const;

 private:
  void read(std::size_t place);
  void add_head(Index head, Index window, Index number, const StretchLayer& difference, ContentSums& sums) const;
  template <class Queries, class Keys>
  [[nodiscard]] double content(const Queries& query, const Keys& key, Index t, Index window) const;
  void add_tables(Index head, Index window, Index number, const StretchLayer& difference, ContentSums& sums) const;

  const SourceWork& work_;
  const BlockSpec& spec_;
  std::vector<std::unique_ptr<SourceProbe>> probes_;
  std::mutex mutex_;
  bool one_is_there_ = false;
  std::vector<ContentSums> layers_;
};

}  // namespace headwave
