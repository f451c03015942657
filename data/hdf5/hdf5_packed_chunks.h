#pragma once

#include "hdf5_chunks.h"

namespace headwave {

/// Reads a block as the library would, of chunks that shuffle and gzip made, unpacking each once; the library would have
/// to unpack them again after check().
/// @param type         the entries' in the file
/// @param memory_type  what they are converted to, by the library
/// @param values       room for the whole block
/// @returns whether it did: what has other filters or holes is left to the library
/// @throws FormatError if a chunk does not unpack to its size, or the library cannot convert
bool read_packed_chunks(Hdf5Chunks& chunks, hid_t type, hid_t memory_type, const ArrayBlock& block, void* values);

}  // namespace headwave
