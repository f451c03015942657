#pragma once

#include <vector>

#include "../../core/bytes/bytes.h"
#include "hdf5_file.h"

namespace headwave {

/// Nodes through bytes, from one process to another.
void write_hdf5_nodes(ByteWriter& bytes, const std::vector<Hdf5Node>& nodes);

/// @throws FormatError if the bytes are none
std::vector<Hdf5Node> read_hdf5_nodes(ByteReader& bytes);

}  // namespace headwave
