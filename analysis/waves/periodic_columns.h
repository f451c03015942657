#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "../../core/fields/field.h"
#include "../pass/analysis_kind.h"
#include "wave_chain.h"

namespace headwave {

struct PeriodicOptions {
  Index lowest = 5;        ///< cycles per T: slower columns are drift
  double shortest = 4;     ///< tokens per cycle: faster columns are noise between neighbours; the band is fixed before
  double quantile = 0.99;  ///< of the same share in columns without order
  Index draws = 2000;      ///< of such columns
  std::uint64_t seed = 1;
};

/// The share of a column's power that its strongest line holds, and where that is.
struct PeakShare {
  Index frequency = 0;  ///< f >= 1 of the peak, cycles per T
  double share = 0;     ///< of the power at f >= 1 that lies within one bin of it; 0: the column is constant
};
/// @param spectrum  (floor(T/2) + 1)  transform of the column
PeakShare peak_share(Eigen::Ref<const Eigen::VectorXcd> spectrum, Index length);

/// What peak_share() exceeds in one of a hundred columns of T independent normal numbers.
///
/// Randomised phases alone would leave every |F[f]|, and so the share, as it was: the columns without order are those
/// whose power is random too, as in Fisher's test for a hidden periodicity.
///
/// Source: Fisher 1929, doi:10.1098/rspa.1929.0151; the criterion is this project's, the paper gives none.
double periodic_threshold(Index length, const PeriodicOptions& options = {});

/// Whether a column counts as periodic: its share exceeds the threshold and its peak lies inside the band.
bool is_periodic(const PeakShare& peak, Index length, double threshold, const PeriodicOptions& options);

/// What one document says of the columns of redefined queries and keys.
struct DocumentPeriodicColumns {
  Vector query, key;  ///< (rows)  number of periodic columns
  Matrix share;       ///< (rows * d_head, 2)  peak shares of query and key columns; NaN: beyond the rank
  Matrix frequency;   ///< (rows * d_head, 2)  where those peaks are, cycles per T
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.query, self.key, self.share, self.frequency);
  }

  explicit DocumentPeriodicColumns(Index rows = 0, Index components = 0);
};

/// Gathers the peaks of every column over one document.
class PeriodicColumnsListener : public WaveListener {
 public:
  /// @param threshold  periodic_threshold()
  PeriodicColumnsListener(const HeadGrid& grid, Index components, double threshold, const PeriodicOptions& options)
      : components_(components), threshold_(threshold), options_(options), found_(grid.rows(), components) {}
  void see(const HeadWaves& waves) override;
  [[nodiscard]] DocumentPeriodicColumns taken() { return std::move(found_); }

 private:
  Index components_;
  double threshold_;
  PeriodicOptions options_;
  DocumentPeriodicColumns found_;
};

/// Periodic columns of every head: means over documents, frequencies of the first one.
struct PeriodicColumns {
  HeadGrid grid;
  Index components = 0, documents = 0;
  double threshold = 0;
  PeriodicOptions options;
  DocumentPeriodicColumns mean;  ///< a sum until mean_of()
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.documents, self.mean);
  }
};

/// Empty, for add_document().
PeriodicColumns periodic_columns(const HeadGrid& grid, Index components, double threshold,
                                 const PeriodicOptions& options = {});
void add_document(PeriodicColumns& sum, const DocumentPeriodicColumns& document);
/// Adds what the next documents came to.
void join_documents(PeriodicColumns& sum, const PeriodicColumns& next);
PeriodicColumns mean_of(PeriodicColumns sum);

/// Fields periodic_columns/...
std::vector<Field> describe(const PeriodicColumns& columns);

/// In a job: periodic_columns/...
const AnalysisKind& periodic_columns_analysis();

}  // namespace headwave
