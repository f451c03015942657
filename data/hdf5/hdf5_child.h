#pragma once

#include <filesystem>
#include <memory>

#include "hdf5_answers.h"

namespace headwave {

/// Reads a file in a child process, which the library may crash, fill or hang over a damaged file without
/// harm to this process. The child has limits on memory and processor time and none of our open files, and
/// ends with this object. Answers come through shared memory.
///
/// If the child dies, the question that it was asked fails with a FormatError, and so do all later ones.
/// @param bytes  of the file
/// @throws IoError if no child can be made, it is ended from outside, or it takes too long by the clock;
///         FormatError if the file is not an HDF5 file
std::unique_ptr<Hdf5Reader> hdf5_reader_in_child(const std::filesystem::path& path, std::uintmax_t bytes);

}  // namespace headwave
