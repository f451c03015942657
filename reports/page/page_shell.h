#pragma once

#include <string_view>

namespace headwave {

/// The page around its data, put together by the build from the files in parts/: HTML with style and program inside,
/// <!--title--> twice and <!--data--> once where those go. Its source is written by cmake/page.cmake.
std::string_view page_shell();

}  // namespace headwave
