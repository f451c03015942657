#include "library_versions.h"

#include <array>

#include <fmt/format.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <unicode/uversion.h>
#include <zlib.h>

#include "../hdf5/hdf5_handle.h"

namespace headwave {

std::string data_libraries() {
  const Hdf5Session session;  // the library's first call of all must come through one
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  UVersionInfo icu{};
  u_getVersion(icu);
  std::array<char, U_MAX_VERSION_STRING_LENGTH> icu_text{};
  u_versionToString(icu, icu_text.data());
  // "10.42 2022-12-11": the date is left out. The manual gives the longest text as 24 bytes.
  std::array<char, 64> pcre2{};
  pcre2_config(PCRE2_CONFIG_VERSION, pcre2.data());
  const std::string pcre2_text = pcre2.data();
  return fmt::format("HDF5 {}.{}.{}, zlib {}, ICU {}, PCRE2 {}", major, minor, release, zlibVersion(), icu_text.data(),
                     pcre2_text.substr(0, pcre2_text.find(' ')));
}

}  // namespace headwave
