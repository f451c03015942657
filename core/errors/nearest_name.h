#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// Edit distance: the number of characters to insert, delete, replace or swap with their neighbour to turn
/// one word into the other, where none is edited twice.
///
/// Source: Damerau 1964, doi:10.1145/363958.363994; the restricted distance ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name closest to a typed word: the nearest within a third of the word's length (ties go to the
/// first); else, for words of 3 or more characters, the first name that begins with the word; else empty.
std::string nearest_name(std::string_view word, const std::vector<std::string>& known);

/// "; did you mean 'run'?", or nothing if no name is close: the end of an error message.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace headwave
