#pragma once

#include <string>

namespace headwave {

/// The libraries that files, tokens and texts go through, with the versions in use: "HDF5 1.10.8, ICU 72.1, ...".
std::string data_libraries();

}  // namespace headwave
