#pragma once

#include <set>
#include <string>
#include <vector>

namespace headwave {

/// The known family whose tensors are called most as a checkpoint's are.
struct NameLikeness {
  std::string family;          ///< empty: no family has any name in common
  std::size_t shared = 0;      ///< names that both have; those of a layer count once
  std::size_t own = 0;         ///< names of the family
  std::size_t all = 0;         ///< names that either has
  std::set<std::string> keys;  ///< of config.json that the family asks for
};

/// Compares names alone, whatever config.json says: layers' numbers are left out, and so is a word before all of them.
/// The likeness is the share that both have of all names (Jaccard's index). A family whose names depend on its settings is
/// taken with those that transformers gives it.
/// @param tensors  names of a checkpoint
NameLikeness nearest_by_names(const std::vector<std::string>& tensors);

}  // namespace headwave
