#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/matrix.h"
#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

/// One claim of the published analysis, as an interval that a measurement meets or misses.
struct Published {
  std::string quantity;  ///< its name, as in published_of()
  std::string text;      ///< what is published, in few words
  double low, high;      ///< the measurement agrees where low <= it <= high
  std::string source;    ///< section or figure
};

/// One line of the table: what was published beside what was measured.
struct ReproducedQuantity {
  std::string name;
  std::string unit;       ///< ratio, count, layer, token or cycles/T
  double measured = 0;    ///< NaN: undefined for this model
  std::string published;  ///< empty: nothing is published of this model
  std::string source;
  double low = 0, high = 0;  ///< within which it agrees; NaN where nothing is published
  [[nodiscard]] bool compared() const { return !published.empty(); }
  [[nodiscard]] bool agrees() const { return measured >= low && measured <= high; }
};

/// Collects measured quantities beside published ones, in the order of the paper's argument.
class QuantityTable {
 public:
  /// @param model  as published_model() names it
  explicit QuantityTable(const std::string& model);

  void add(const std::string& name, const std::string& unit, double measured);

  /// The lines so far; none are left.
  [[nodiscard]] std::vector<ReproducedQuantity> taken();

 private:
  std::map<std::string, Published> published_;
  std::vector<ReproducedQuantity> quantities_;
};

/// The model that published numbers are about: "roberta-base" or "gpt2", by family and sizes; empty for any
/// other. A checkpoint of the same sizes that was trained further is taken for the same.
std::string published_model(const Model& model);

/// Everything published about a model, in the order of the paper's argument; empty for other models.
///
/// Where the paper gives a picture and no number, the interval is this project's reading of it, and the text
/// says what is claimed.
///
/// Source: Yamamoto and Matsuzaki 2023 (Japanese paper: JP; extended English version: EN).
const std::vector<Published>& published_of(std::string_view model);

/// A Field's numbers by (entry of the leading axes, entry of the others); nothing where there is no such
/// Field.
struct FieldRows {
  Matrix values;
  const Field* field = nullptr;
};

/// Reads numbers of heads from the result of a run, which must outlive it.
class RunReadings {
 public:
  /// @param result  with measured_offset/offset and weight, and offset_trace/mean_weight
  /// @throws ShapeError if one of these is missing
  explicit RunReadings(const Result& result);

  /// @param leading  how many axes the rows run over; missing Fields, and those of fewer axes, have no rows
  [[nodiscard]] FieldRows rows_of(const std::string& name, std::size_t leading) const;

  [[nodiscard]] Index heads() const { return heads_; }  ///< of a layer
  [[nodiscard]] Index row(const HeadName& head) const { return head.layer * heads_ + head.head; }
  [[nodiscard]] const Vector& offsets() const { return offset_; }  ///< (rows)  tokens; NaN: the head has none
  [[nodiscard]] double offset(const HeadName& head) const { return offset_[row(head)]; }

  /// The heads with the largest weights at an offset of their own, the largest first.
  [[nodiscard]] std::vector<HeadName> clearest(Index most) const;

  /// Mean attention weight of a head at an offset, over all pairs; NaN at none.
  [[nodiscard]] double weight_at(const HeadName& head, double offset) const;

  /// Lag in tokens at which a row of a Field whose last axis is `lag` is largest among |t| <= 30, where the
  /// published heads cancel; NaN as peak_offset().
  [[nodiscard]] double peak_lag(const std::string& name, std::size_t leading, Index row) const;

  /// One number of a Field by layer and head; NaN where it is not there.
  [[nodiscard]] double number(const std::string& name, Index row) const;

 private:
  const Result& result_;
  Index heads_ = 0;
  Vector offset_, weight_;
};

/// What carries a head's offset: its attention and scores by offset with words and positions, with positions
/// alone, with words alone, and with words in another order. One row for each condition and head, conditions
/// outermost.
class CarriedWaves {
 public:
  /// @param reach  offsets |t| <= reach are kept, in tokens
  CarriedWaves(std::vector<HeadName> heads, Index reach);

  /// Adds the rows of a condition from the result of a job; a condition that could not be run is omitted.
  /// @param result  with offset_trace/mean_weight, and with cross_covariance/weighted_centred where there is
  ///                a chain
  void add(const std::string& condition, const Result& result);

  /// Fields carried_waves/mean_weight and carried_waves/weighted (condition, carried_head, offset);
  /// none where nothing was added.
  [[nodiscard]] std::vector<Field> fields() const;

 private:
  std::vector<HeadName> heads_;
  std::vector<std::string> conditions_;
  Index reach_;
  std::vector<double> weight_, weighted_;
};

/// Adds the quantities that the paper reports of a run without interventions: head kinds, positions and their
/// spectrum, hidden states by layer, and where heads with an offset are.
///
/// The mathematics is in analysis/; this only says which Field each quantity is read from. Quantities of a
/// missing Field are NaN.
/// @param named  whether to look at the heads that the paper names, too: only on the paper's model
/// @throws ShapeError as RunReadings
void add_paper_quantities(QuantityTable& table, const RunReadings& run, bool named);

/// The paper's whole list on one model.
struct Reproduction {
  std::string model;  ///< the one that published numbers are about; empty: another one
  std::vector<ReproducedQuantity> quantities;
  Result result;  ///< of the run without interventions, with Fields reproduction/...
};

/// Runs a job unchanged, with positions only, words only and shuffled words, and measures what the paper
/// reports.
///
/// Quantities about named heads are those of the published model. On another model the clearest head, with
/// the largest weight at an offset of its own, takes their place where that makes sense.
/// @param input  opens model and documents anew for each run
/// @throws Error as `input` and run_job()
Reproduction reproduction(const std::function<JobInput()>& input, const JobOptions& options = {},
                          const ProgressCallback& progress = {});

/// Fields reproduction/measured, low, high, published and source (quantity).
std::vector<Field> describe(const Reproduction& reproduction);

}  // namespace headwave
