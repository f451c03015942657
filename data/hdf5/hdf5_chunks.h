#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../arrays/array_block.h"
#include "hdf5_handle.h"

namespace headwave {

/// The sizes of a dataset's chunks along its axes; empty where it is not chunked.
std::vector<hsize_t> hdf5_chunk_shape(hid_t creation_properties);

/// The filters of a dataset in words, in the order they were applied: "shuffle", "gzip 2", "fletcher32", "filter 32001
/// blosc".
std::vector<std::string> hdf5_filter_texts(hid_t creation_properties);

/// Proves that every chunk of a block unpacks to a chunk's size, before the library is asked to read them.
///
/// The library (1.10 at least) copies a chunk's full size out of whatever its filters gave, so a chunk that unpacks to
/// less makes it read beyond its memory. Chunks are unpacked here first, with zlib, and thrown away. Filters other than
/// shuffle, gzip and fletcher32 cannot be proven so, or would be loaded from plug-ins: datasets with those are refused.
///
/// @param shape       the dataset's
/// @param entry       bytes of one entry in the file
/// @param block       lies inside
/// @param file_bytes  the size of the file
/// @throws FormatError if a chunk is too short or too long, the chunks are too many or too large, or a filter is not
/// known
void check_hdf5_chunks(hid_t dataset, hid_t creation_properties, std::span<const Index> shape, std::size_t entry,
                       const ArrayBlock& block, std::uintmax_t file_bytes);

}  // namespace headwave
