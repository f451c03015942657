#pragma once

#include <string>

namespace headwave {

/// The libraries that read files and texts, with their versions: "HDF5 1.10.8, zlib 1.2.13, ICU 72.1, ...".
std::string data_libraries();

}  // namespace headwave
