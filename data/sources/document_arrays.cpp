#include "document_arrays.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "name_pattern.h"

namespace headwave {

namespace {

StoredExtent extent_of(const StoredArrays& arrays, const StoredPart& part, const DocumentPlace& place) {
  const StoredExtent extent = stored_extent(arrays, part, place.text);
  if (extent.length != place.length || place.row >= extent.documents)
    throw FormatError(fmt::format("{} holds {} documents of {} tokens, another layer {} of {}; expected the same",
                                  arrays.called(name_of_document(part.name, place.text)), extent.documents,
                                  extent.length, place.row + 1, place.length));
  return extent;
}

/// One document's entries of an array, of one layer.
ArrayBlock document_block(const StoredPart& part, const DocumentPlace& place, const std::vector<Index>& shape) {
  ArrayBlock block = whole_block(shape);
  for (std::size_t a = 0; a < part.axes.size(); ++a) {
    if (part.axes[a] != StoredAxis::document && part.axes[a] != StoredAxis::layer) continue;
    block.first[a] = part.axes[a] == StoredAxis::layer ? part.entry : place.row;
    block.count[a] = 1;
  }
  return block;
}

/// Whether a block's entries come as a matrix has them: those of a token side by side, head by head.
bool is_by_token(const StoredPart& part, const ArrayBlock& block) {
  constexpr std::array order{StoredAxis::token, StoredAxis::head, StoredAxis::width};
  const auto* reached = order.begin();
  for (std::size_t a = 0; a < part.axes.size(); ++a) {
    if (block.count[a] == 1) continue;
    const auto* const found = std::find(reached, order.end(), part.axes[a]);
    if (found == order.end()) return false;
    reached = found;
  }
  return true;
}

/// The entries of a block by head, whatever the order of its axes.
class HeadEntries {
 public:
  HeadEntries(const StoredArrays& arrays, const std::string& name, const StoredPart& part, const ArrayBlock& block)
      : values_(arrays.block(name, block)) {
    count_.fill(1);
    Index step = 1;
    for (std::size_t a = part.axes.size(); a-- > 0; step *= block.count[a]) {
      stride_[at(part.axes[a])] = step;
      count_[at(part.axes[a])] = block.count[a];
    }
  }

  [[nodiscard]] Index count(StoredAxis axis) const { return count_[at(axis)]; }

  /// Copies a head's entries to where they belong.
  /// @param into  part of a row-major matrix
  template <class Part>
  void place(Index head, StoredAxis rows, StoredAxis columns, Part&& into) const {
    const float* first = values_.data() + static_cast<std::ptrdiff_t>(head * stride_[at(StoredAxis::head)]);
    const Index row = stride_[at(rows)], column = stride_[at(columns)];
    if (column == 1)
      into = Eigen::Map<const Matrix32, Eigen::Unaligned, Eigen::OuterStride<>>(first, count(rows), count(columns),
                                                                                Eigen::OuterStride<>(row));
    else
      into = Eigen::Map<const Matrix32, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>(
          first, count(rows), count(columns), {row, column});
  }

 private:
  static std::size_t at(StoredAxis axis) { return static_cast<std::size_t>(axis); }

  std::vector<float> values_;
  std::array<Index, stored_axis_kinds> stride_{}, count_{};
};

/// "first at token 5, in 12 of 512 tokens"
std::string not_finite_rows(const Matrix32& matrix) {
  Index first = -1, count = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    if (are_finite(matrix.row(i))) continue;
    if (count++ == 0) first = i;
  }
  return fmt::format("first at token {}, in {} of {} tokens", first, count, matrix.rows());
}

}  // namespace

Matrix32 document_matrix(const StoredArrays& arrays, const StoredPart& part, const DocumentPlace& place) {
  const std::string name = name_of_document(part.name, place.text);
  const StoredExtent extent = extent_of(arrays, part, place);
  const ArrayBlock block = document_block(part, place, arrays.shape(name));
  Matrix32 matrix;
  if (is_by_token(part, block)) {
    arrays.read(name, block, [&](std::size_t /*entries*/) {
      matrix.resize(extent.length, extent.width);
      return matrix.data();
    });
  } else {
    const HeadEntries entries(arrays, name, part, block);
    const Index width = entries.count(StoredAxis::width);
    matrix.resize(extent.length, extent.width);
    for (Index head = 0; head < entries.count(StoredAxis::head); ++head)
      entries.place(head, StoredAxis::token, StoredAxis::width, matrix.middleCols(head * width, width));
  }
  if (!are_finite(matrix))
    throw FormatError(fmt::format(
        "{} document {}{} holds NaN or infinite values, {}; expected finite states", arrays.called(name), place.row,
        part.entry < 0 ? "" : fmt::format(", entry {} of its layers,", part.entry), not_finite_rows(matrix)));
  return matrix;
}

FinishedAttention document_attention(std::shared_ptr<const StoredArrays> arrays, const StoredPart& part,
                                     const DocumentPlace& place, Index number) {
  const std::string name = name_of_document(part.name, place.text);
  FinishedAttention attention;
  attention.heads = extent_of(*arrays, part, place).width;
  attention.length = place.length;
  attention.called = fmt::format("{} document {}", arrays->called(name), number);
  const ArrayBlock all = document_block(part, place, arrays->shape(name));
  const auto query = static_cast<std::size_t>(std::ranges::find(part.axes, StoredAxis::query) - part.axes.begin());
  attention.rows = [arrays = std::move(arrays), part, name, all, query](Index first, Index count) {
    ArrayBlock block = all;
    block.first[query] = first;
    block.count[query] = count;
    const HeadEntries entries(*arrays, name, part, block);
    const Index heads = entries.count(StoredAxis::head);
    Matrix32 rows(heads * count, entries.count(StoredAxis::key));
    for (Index head = 0; head < heads; ++head)
      entries.place(head, StoredAxis::query, StoredAxis::key, rows.middleRows(head * count, count));
    return rows;
  };
  return attention;
}

}  // namespace headwave
