#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../catch.h"

/// A copy of a model directory, to be broken.
inline void copy_model(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

/// Puts other text in the place of what must be there.
inline void replace_in(const std::filesystem::path& file, const std::string& what, const std::string& by) {
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  in.close();
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), by);
  std::ofstream(file) << text;
}
