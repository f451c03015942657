#pragma once

#include <filesystem>
#include <memory>

#include "hdf5_answers.h"

namespace headwave {

/// Answers from a child process, which the library may bring down, fill or hang over a damaged file without harm to
/// this one: it has limits on memory and time, none of our open files, and dies with us. Numbers come through shared
/// memory.
///
/// What the child does not survive is a FormatError that says over which object.
/// @param bytes  of the file
/// @throws IoError if no child can be made, or it is ended from outside or by the clock; FormatError if it is not an HDF5
///         file
std::unique_ptr<Hdf5Reader> fenced_hdf5_reader(const std::filesystem::path& path, std::uintmax_t bytes);

}  // namespace headwave
