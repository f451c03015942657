#pragma once

#include <iterator>
#include <utility>
#include <vector>

namespace headwave {

/// Moves the entries of `more` to the end of `list`.
template <class T>
void append(std::vector<T>& list, std::vector<T>&& more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  more.clear();
}

}  // namespace headwave
