#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headwave {

/// Edit distance: the smallest number of edits that turn one word into the other. An edit inserts, deletes or
/// replaces a character, or swaps two neighbouring characters. No character is edited twice.
///
/// Source: Damerau 1964, doi:10.1145/363958.363994; the restricted distance ("optimal string alignment").
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that is closest to a typed word. This is the name at the smallest edit distance, if the
/// distance is at most a third of the word's length, or 1 if that is larger. Ties go to the first name. If
/// there is no such name and the word has 3 or more characters, it is the first name that begins with the
/// word. Otherwise the result is empty.
std::string nearest_name(std::string_view word, const std::vector<std::string>& known);

/// The end of an error message, for example "; did you mean 'run'?"; empty if no known name is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace headwave
