#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// How many characters must be put in, left out, replaced or swapped with their neighbour to make one word of another;
/// none is touched twice.
///
/// Source: Damerau 1964, doi:10.1145/363958.363994; the restricted distance ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that somebody who typed `word` may have meant: of those a third of its length away or less, the
/// nearest, the first of equals; else the first that begins with the word. Empty: none.
std::string nearest_name(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'run'?", or nothing where no name is near: the end of a message that says what is wrong.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace headwave
