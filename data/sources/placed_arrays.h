#pragma once

#include <filesystem>
#include <memory>

#include "stored_arrays.h"

namespace headwave {

/// The array of a .npy file.
/// @throws IoError, FormatError as npy_info()
std::unique_ptr<StoredArrays> npy_file_arrays(const std::filesystem::path& path);

/// Every .npy file of a folder, by its name without the ending.
/// @throws IoError if the folder cannot be read
std::unique_ptr<StoredArrays> npy_folder_arrays(const std::filesystem::path& folder);

/// The arrays of a .npz archive. What numpy.savez wrote is read where it lies; what numpy.savez_compressed wrote is
/// unpacked into memory, at most 1 GiB an array: larger ones are refused with the line of Python that writes them
/// otherwise.
/// @throws IoError, FormatError as zip_members()
std::unique_ptr<StoredArrays> npz_arrays(const std::filesystem::path& path);

/// The tensors of a safetensors file.
/// @throws IoError, FormatError as safetensors_header()
std::unique_ptr<StoredArrays> safetensors_arrays(const std::filesystem::path& path);

}  // namespace headwave
