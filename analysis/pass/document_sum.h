#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/bytes/bytes.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// Adds the sum of the next documents to a sum over documents.
///
/// A sum over documents is a plain struct (core/bytes/members.h). The same struct serves for one document,
/// for a block of documents and for a whole job. Two structs are added member by member:
///
///     number, matrix           they are added; an empty matrix adds nothing
///     string                   the first string that is not empty is kept
///     array, vector            elements are added one by one; a vector grows to the longer of the two
///     ByDocument               the next values are appended, in the order of documents
///     First, Largest, ...      the struct's own add() is called
///     other struct             its members are added one by one
///
/// A default-constructed struct is the sum over no documents.
template <class T>
void add_to(T& sum, std::type_identity_t<T>&& next) {
  if constexpr (requires { sum.add(std::move(next)); }) {
    sum.add(std::move(next));
  } else if constexpr (HasMembers<T>) {
    const auto sums = members_of(sum), parts = members_of(next);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (add_to(std::get<i>(sums), std::move(std::get<i>(parts))), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(sums)>>());
  } else if constexpr (std::is_arithmetic_v<T>) {
    sum += next;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (sum.empty()) sum = std::move(next);
  } else if constexpr (requires { sum.rows(); }) {
    if (next.size() == 0) return;
    if (sum.size() == 0)
      sum = std::move(next);
    else
      sum += next;
  } else {
    if constexpr (requires { sum.resize(0); }) sum.resize(std::max(sum.size(), next.size()));
    for (std::size_t i = 0; i < next.size(); ++i) add_to(sum[i], std::move(next[i]));
  }
}

/// One value for each document, in the order of documents.
template <class T>
struct ByDocument : std::vector<T> {
  using std::vector<T>::vector;
  void add(ByDocument&& next) {
    this->insert(this->end(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
  }
  template <class Self>
  static auto members(Self& self) {
    using List = std::conditional_t<std::is_const_v<Self>, const std::vector<T>, std::vector<T>>;
    return std::tie(static_cast<List&>(self));
  }
};

/// The value of the first document that has one.
template <class T>
struct First {
  std::optional<T> value = {};
  void add(First&& next) {
    if (!value) value = std::move(next.value);
  }
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.value);
  }
};

/// The largest value over all documents; at least 0.
template <class T>
struct Largest {
  T value = 0;
  void add(Largest&& next) { value = std::max(value, next.value); }
};

/// Mean of matrices over documents. Each entry is averaged over the documents that define it.
class DefinedMean {
 public:
  DefinedMean() = default;
  /// Sum of one document.
  /// @param values  NaN marks an undefined entry
  explicit DefinedMean(const Matrix& values)
      : sum_(values.array().isNaN().select(0.0, values.array())), count_((!values.array().isNaN()).cast<double>()) {}

  /// Sum of several documents.
  /// @param count  number of documents that define each entry
  DefinedMean(Matrix sum, Matrix count) : sum_(std::move(sum)), count_(std::move(count)) {}

  /// The mean of each entry; NaN if no document defines the entry.
  [[nodiscard]] Matrix value() const { return sum_.cwiseQuotient(count_); }
  /// Number of documents that define each entry.
  [[nodiscard]] const Matrix& count() const { return count_; }
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.sum_, self.count_);
  }

 private:
  Matrix sum_, count_;
};

/// Sum over documents for one analysis, whatever its type. It covers one document, a block, or a whole job.
/// It can be written to bytes, and the same analysis can read them in another process or on another machine
/// of the same kind. Nothing else is needed to resume, divide or merge a job.
class DocumentSum {
 public:
  DocumentSum() = default;
  DocumentSum(const DocumentSum&) = delete;
  DocumentSum& operator=(const DocumentSum&) = delete;
  virtual ~DocumentSum() = default;
  /// Adds this analysis's sum over the next documents. The order of additions affects the last digits.
  virtual void add(DocumentSum&& next) = 0;
  virtual void write(ByteWriter& bytes) const = 0;
  /// @throws FormatError if the bytes are not a sum of this type
  virtual void read(ByteReader& bytes) = 0;
};

template <class Sum>
class DocumentSumOf : public DocumentSum {
 public:
  explicit DocumentSumOf(Sum sum = {}) : value(std::move(sum)) {}
  void add(DocumentSum&& next) override { add_to(value, std::move(static_cast<DocumentSumOf&>(next).value)); }
  void write(ByteWriter& bytes) const override { bytes.write(value); }
  void read(ByteReader& bytes) override { bytes.read(value); }

  Sum value;
};

}  // namespace headwave
