#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis.h"
#include "mean_over_documents.h"
#include "row_look.h"

namespace headwave {

/// Base of probes that average numbers over the queries of a document, separately for each head.
class RowMeans : public RowLook {
 public:
  RowMeans(const Site& site, Index quantities)
      : RowLook(site), sum_(Matrix::Zero(quantities, site.grid.rows())), count_(sum_) {}

  /// Means of one document, (quantities, rows).
  [[nodiscard]] MeanOverDocuments taken() const { return MeanOverDocuments(means()); }

 protected:
  void add(Index quantity, const HeadRow& one, double value) {
    sum_(quantity, one.row) += value;
    count_(quantity, one.row) += 1.0;
  }
  /// Means of this document, (quantities, rows). NaN if no number was added.
  [[nodiscard]] Matrix means() const { return sum_.cwiseQuotient(count_); }

 private:
  Matrix sum_, count_;
};

/// Analysis that looks at all documents with the same Looker and computes its Fields from their sum alone.
/// @tparam Looker  constructed from (site, document), see look_of()
/// @tparam fields  function of (sum, site) that returns the Fields
template <class Looker, auto fields>
class AnalysisByLook : public AnalysisOf<std::decay_t<decltype(std::declval<Looker&>().taken())>> {
 public:
  using Sum = std::decay_t<decltype(std::declval<Looker&>().taken())>;
  using AnalysisOf<Sum>::AnalysisOf;
  [[nodiscard]] std::unique_ptr<Look> look(const Document& document, Index /*i*/) const override {
    return look_of<Looker>(this->site(), document);
  }

 protected:
  [[nodiscard]] std::vector<Field> finish_sum(Sum& sum, Finished& /*finished*/) override {
    return fields(sum, this->site());
  }
};

}  // namespace headwave
