#pragma once

#include <filesystem>
#include <string>

#include "../../core/fields/field.h"

/// Every byte of a file.
std::string content_of(const std::filesystem::path& path);

/// Whether a file is a result with the same title and Fields, to the bit.
bool is_result(const std::filesystem::path& file, const headwave::Result& right);
