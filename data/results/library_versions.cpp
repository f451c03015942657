#include "library_versions.h"

#include <array>

#include <fmt/format.h>
// Oniguruma's short name for OnigUChar is a type of ICU.
#define ONIG_ESCAPE_UCHAR_COLLISION
#include <oniguruma.h>
#include <unicode/uversion.h>
#include <zlib.h>

#include "../hdf5/hdf5_handle.h"

namespace headwave {

std::string data_libraries() {
  const Hdf5Session session;  // the first call of the library must be made in a session
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  UVersionInfo icu{};
  u_getVersion(icu);
  std::array<char, U_MAX_VERSION_STRING_LENGTH> icu_text{};
  u_versionToString(icu, icu_text.data());
  return fmt::format("HDF5 {}.{}.{}, zlib {}, ICU {}, Oniguruma {}", major, minor, release, zlibVersion(),
                     icu_text.data(), onig_version());
}

}  // namespace headwave
