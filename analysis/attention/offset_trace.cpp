#include "offset_trace.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "../../core/bytes/append.h"
#include "../../core/fields/fields.h"

namespace headwave {

OffsetTraceSum::OffsetTraceSum(HeadGrid grid, Index length, Index reach, Index pairs) : correlation_(grid, pairs) {
  const Index rows = grid.rows();
  sum_.grid = std::move(grid);
  sum_.length = length;
  sum_.reach = reach;
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind] = sum_.weight[kind] = Matrix::Zero(rows, diagonals(length));
    sum_.count[kind] = documents_with_pairs_[kind] = Vector::Zero(diagonals(length));
    sum_.null_weight[kind] = Matrix::Zero(rows, 2 * reach + 1);
    null_[kind] = NullMoments(rows, 2 * reach + 1);
    documents_with_null_[kind] = Vector::Zero(2 * reach + 1);
  }
}

void OffsetTraceSum::add(const DocumentTraces& document) {
  const Index rows = sum_.grid.rows();
  const Index width = diagonals(document.length);
  const Index first = sum_.length - document.length;
  const Index near = std::min(sum_.reach, document.length - 1);
  Matrix& own = by_document_.emplace_back(Matrix::Constant(rows, 2 * sum_.reach + 1, not_defined));
  for (Index t = -near; t <= near; ++t)
    if (document.count[all_pairs][t + document.length - 1] > 0)
      own.col(sum_.reach + t) = document.trace[all_pairs].col(t + document.length - 1);
  sum_.lengths.push_back(document.length);
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind].middleCols(first, width) += document.trace[kind];
    sum_.count[kind].segment(first, width) += document.count[kind];
    for (Index t = 0; t < width; ++t) {
      if (document.count[kind][t] == 0.0) continue;
      sum_.weight[kind].col(first + t) += document.trace[kind].col(t) / document.count[kind][t];
      documents_with_pairs_[kind][first + t] += 1.0;
    }
    for (Index t = 0; t < document.null_weight[kind].cols() && rows > 0; ++t) {
      if (std::isnan(document.null_weight[kind](0, t))) continue;
      sum_.null_weight[kind].col(t) += document.null_weight[kind].col(t);
      null_[kind].add(t, document.null_variance[kind].col(t), document.null_third[kind].col(t));
      documents_with_null_[kind][t] += 1.0;
    }
  }
  correlation_.add(document.deviations);
  ++sum_.documents;
}

void OffsetTraceSum::join(OffsetTraceSum&& next) {
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    sum_.trace[kind] += next.sum_.trace[kind];
    sum_.weight[kind] += next.sum_.weight[kind];
    sum_.count[kind] += next.sum_.count[kind];
    sum_.null_weight[kind] += next.sum_.null_weight[kind];
    null_[kind] += next.null_[kind];
    documents_with_pairs_[kind] += next.documents_with_pairs_[kind];
    documents_with_null_[kind] += next.documents_with_null_[kind];
  }
  correlation_.join(next.correlation_);
  append(by_document_, std::move(next.by_document_));
  append(sum_.lengths, std::move(next.sum_.lengths));
  sum_.documents += next.sum_.documents;
}

OffsetTraces OffsetTraceSum::traces() const {
  OffsetTraces traces = sum_;
  const Index rows = traces.grid.rows();
  traces.by_document.resize(traces.documents * rows, 2 * traces.reach + 1);
  for (std::size_t d = 0; d < by_document_.size(); ++d)
    traces.by_document.middleRows(static_cast<Index>(d) * rows, rows) = by_document_[d];
  const auto documents = static_cast<double>(traces.documents);
  traces.correlation = correlation_.correlation();
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind) {
    if (!are_finite(traces.trace[kind]))
      throw NumericError(
          "offset traces: an attention weight is not finite; look for NaN or huge values in the model's weights");
    traces.trace[kind] /= documents;
    traces.count[kind] /= documents;
    // 0 / 0 is NaN: no document has a pair at that offset.
    traces.weight[kind].array().rowwise() /= documents_with_pairs_[kind].transpose().array();
    // Moments of documents become those of their mean; 0 / 0 is NaN where there is no null.
    const auto documents_here = documents_with_null_[kind].transpose().array();
    NullMoments::Spread spread = null_[kind].of_sum(traces.correlation);
    traces.null_weight[kind].array().rowwise() /= documents_here;
    traces.null_skewness[kind] = std::move(spread.skewness);
    traces.null_deviation[kind] = std::move(spread.deviation);
    traces.null_deviation[kind].array().rowwise() /= documents_here;
    for (Index t = 0; t < documents_here.size(); ++t)
      if (documents_here[t] == 0) traces.null_skewness[kind].col(t).setConstant(not_defined);
  }
  return traces;
}

ComparableTraces comparable_traces(const OffsetTraces& traces, Index window) {
  ComparableTraces result{traces.by_document.middleCols(traces.reach - window, 2 * window + 1),
                          "none: weights summed along a diagonal"};
  result.values = result.values.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  const std::vector<Index>& lengths = traces.lengths;
  if (std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end()) return result;
  result.normalisation = "by length: sums divided by the document's number of queries, since documents differ in it";
  const Index rows = traces.grid.rows();
  for (std::size_t d = 0; d < lengths.size(); ++d)
    result.values.middleRows(static_cast<Index>(d) * rows, rows) /= static_cast<double>(lengths[d]);
  return result;
}

std::vector<Field> describe(const OffsetTraces& traces) {
  const Axis pairs = pairs_axis(), layer = layer_axis(traces.grid.layers), head = head_axis(traces.grid.heads);
  const Axis document = document_axis(traces.documents);
  const Axis offset = offset_axis("offset", -(traces.length - 1), traces.length - 1);
  const Axis near = offset_axis("near_offset", -traces.reach, traces.reach);
  const char* const no_null = "no document has enough pairs of that kind at that offset";
  Fields fields("offset_trace");
  fields
      .add("mean_weight", {pairs, layer, head, offset}, "1",
           "mean attention weight at an offset: trace / count, averaged over documents", traces.weight)
      .undefined("no document has a pair of that kind at that offset");
  fields.add("trace", {pairs, layer, head, offset}, "1",
             "attention weight summed along a diagonal, averaged over documents", traces.trace);
  fields.add("count", {pairs, offset}, "1", "query-key pairs at an offset, averaged over documents", traces.count);
  fields
      .add("null_weight", {pairs, layer, head, near}, "1",
           "mean attention weight expected at an offset if the queries are shuffled", traces.null_weight)
      .undefined(no_null);
  fields
      .add("null_deviation", {pairs, layer, head, near}, "1", "standard deviation of null_weight",
           traces.null_deviation)
      .undefined(no_null);
  fields.add("null_skewness", {pairs, layer, head, near}, "1", "skewness of null_weight", traces.null_skewness)
      .undefined(no_null);
  fields
      .add("document_correlation", {layer, head}, "1",
           "correlation between documents of the weights that pairs of places get, which null_deviation rests on",
           traces.correlation)
      .undefined("one document, or none that share a pair of places; counts as 1");
  fields
      .add("by_document", {document, layer, head, near}, "1",
           "attention weight summed along a diagonal, all pairs of one document", traces.by_document)
      .undefined("the document has no pair at that offset");
  fields.add("length", {document}, "token", "length of a document", traces.lengths);
  return fields.taken();
}

}  // namespace headwave
