#pragma once

// Catch2 2.13 and 3, whichever the system has, and where tests find their files.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;                       // NOLINT
using Catch::Matchers::ContainsSubstring;  // NOLINT
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) {
  return Catch::Matchers::Contains(text);
}
#endif

#include <cstdio>
#include <filesystem>
#include <string>

/// A file that lies in the repository: "tests/golden/bert.json".
std::filesystem::path repository_file(const std::string& path);

/// A file or folder of the shared data: "text/wikitext-2/test.txt".
std::filesystem::path shared_file(const std::string& path);

/// First line of a test that needs shared data: ctest reports the case as skipped where it is absent.
#define NEEDS_SHARED(path)                                                       \
  do {                                                                           \
    if (!std::filesystem::exists(shared_file(path))) {                           \
      std::printf("skipped: needs shared data %s\n", std::string(path).c_str()); \
      SUCCEED("skipped");                                                        \
      return;                                                                    \
    }                                                                            \
  } while (false)

/// A folder that exists while the object does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headwave-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};
