#pragma once

#include <functional>

namespace headwave::cli {

/// Prints something before files are written, which are finished whatever happens to standard output. Whether it took
/// all, require_printed() tells at the end (terminal.h).
void try_to_print(const std::function<void()>& print);

/// Whether whoever read standard output has closed it, as `head` does once it has read enough.
bool is_unread();

}  // namespace headwave::cli
