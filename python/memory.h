#pragma once

#include <cstddef>
#include <span>

#include "python.h"

namespace headwave::python {

/// An array's bytes without gaps, as headwave.arrays hands them over.
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A name, the type in the words of its format, the shape, whether the first index runs fastest, and the bytes.
using RawArray = std::tuple<std::string, std::string, std::vector<std::int64_t>, bool, Bytes>;

inline std::span<const std::byte> span_of(const Bytes& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// Keeps a Python object for C++ that knows nothing of it, and lets it go with Python's lock held, on whatever thread.
inline std::shared_ptr<const void> kept(nb::object object) {
  return {object.release().ptr(), [](const void* held) {
            const nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(held)));
          }};
}

/// A (T, width) array, or none.
using Rows32 = std::optional<nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;

inline Matrix32 matrix_of(const Rows32& rows) {
  if (!rows) return {};
  return MatrixView32(rows->data(), static_cast<Index>(rows->shape(0)), static_cast<Index>(rows->shape(1)));
}

/// A document that Python describes: a dict of "name", "ids", "tokens", "special" and "layers", a list of (layer, states,
/// query, key), of which those that there are not are None.
Document document_of(const nb::dict& dict);

}  // namespace headwave::python
