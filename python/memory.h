#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "../core/errors/error.h"
#include "../job/inputs/job_input.h"
#include "python.h"
#include "waiting.h"

namespace headwave::python {

/// The bytes of a contiguous array.
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A tensor: its name, its type in safetensors' notation ("F32"), its shape, and its bytes.
using RawArray = std::tuple<std::string, std::string, std::vector<std::int64_t>, Bytes>;

inline std::span<const std::byte> span_of(const Bytes& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// Keeps a Python object alive for C++ code. Any thread may release the reference; it takes Python's lock.
inline std::shared_ptr<const void> kept(nb::object object) {
  return {object.release().ptr(), [](const void* held) {
            const nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(held)));
          }};
}

/// Views the rows of a Python array without a copy. Every array with strides is read by this function.
/// @param rows  (T, width), where each row is contiguous; there may be gaps between rows
/// @throws FormatError if a row is not contiguous, rows overlap, or the array is not aligned
template <class Scalar, class... Said>
MatrixViewOf<Scalar> laid_out(const nb::ndarray<const Scalar, Said...>& rows, const char* name) {
  const auto count = static_cast<Index>(rows.shape(0)), width = static_cast<Index>(rows.shape(1));
  const auto apart = count > 1 ? static_cast<Index>(rows.stride(0)) : width;
  if ((width > 1 && rows.stride(1) != 1) || apart < width ||
      reinterpret_cast<std::uintptr_t>(rows.data()) % alignof(Scalar) != 0)
    throw FormatError(fmt::format("{}: {} x {} numbers with strides {}, {}; expected the numbers of a row side by side",
                                  name, count, width, rows.stride(0), rows.stride(1)));
  return {rows.data(), count, width, apart};
}

/// Makes a numpy array that owns a matrix, without a copy.
/// @param shape  the array's shape, with as many entries in all as the matrix
template <class Scalar>
nb::object owned(MatrixOf<Scalar> matrix, const std::vector<std::size_t>& shape) {
  auto* whole = new MatrixOf<Scalar>(std::move(matrix));
  const nb::capsule owner(whole, [](void* memory) noexcept { delete static_cast<MatrixOf<Scalar>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, Scalar>(whole->data(), shape.size(), shape.data(), owner),
                  nb::rv_policy::reference);
}

/// A (T, width) array; empty if it is missing.
using Rows32 = std::optional<nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;

inline Matrix32 matrix_of(const Rows32& rows) {
  if (!rows) return {};
  return laid_out(*rows, "a stored layer");
}

/// Makes a document from a dict with "name", "ids", "tokens", "special" and "layers". "layers" is a list of
/// (layer, states, query, key), where missing arrays are None.
Document document_of(const nb::dict& dict);

/// Opens an input in waited_for(), and checks that at least one document has two tokens.
/// @param name  name of the input in messages
/// @throws ShapeError if no document has two tokens
template <class Open>
JobInput opened(const std::string& name, const Open& open) {
  JobInput input = waited_for(open);
  require_two_tokens(input, name);
  return input;
}

}  // namespace headwave::python
