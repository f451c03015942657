#pragma once

#include <string>
#include <string_view>

#include "npy.h"

namespace headwave {

/// The dictionary of a .npy header: "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".
///
/// Fills shape, descr and fortran_order; each key must stand there once and no other may.
/// @param file  what messages call the file
/// @throws FormatError with the byte of the header where it went wrong
NpyInfo npy_header(std::string_view text, const std::string& file);

}  // namespace headwave
