#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../arrays/npy.h"
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

/// An array that somebody else keeps in memory.
struct ArrayInMemory {
  std::string name;
  NpyInfo info;                      ///< as the header of a .npy file would say it; `data` is 0
  std::span<const std::byte> bytes;  ///< without gaps
};

/// Arrays in memory; numbers beside them are arrays of one entry.
/// @param called  what messages call them together, in the place of a path
/// @param owner   keeps their memory; may be null, where it outlives them
/// @throws FormatError if two have one name
std::unique_ptr<StoredArrays> arrays_in_memory(const std::string& called, const std::vector<ArrayInMemory>& arrays,
                                               const std::shared_ptr<const void>& owner);

}  // namespace headwave
