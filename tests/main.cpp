// The test programs' main(), for Catch2 2.13 (header only) and Catch2 3 (a library).
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
int main(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include "catch.h"

// The paths are compiled in here alone, so that all other objects are the same in every checkout.

std::filesystem::path repository_file(const std::string& path) {
  return std::filesystem::path(HEADWAVE_SOURCE_DIR) / path;
}

std::filesystem::path shared_file(const std::string& path) {
  return std::filesystem::path(HEADWAVE_SHARED_DATA) / path;
}
