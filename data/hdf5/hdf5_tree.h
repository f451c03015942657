#pragma once

#include <string>
#include <vector>

#include "hdf5_file.h"
#include "hdf5_handle.h"

namespace headwave {

/// What Hdf5File::tree() gives, of an open file.
/// @param until  the object before which the walk ends; "/": there is none
/// @throws FormatError if there are too many objects
std::vector<Hdf5Node> hdf5_tree(hid_t file, const std::string& until);

/// Names of the links in an open group, in the order of creation where it is known, else by name.
/// @throws FormatError if the library cannot list them
std::vector<std::string> hdf5_names(hid_t group);

/// Has the library look at all that it keeps of an object beside what one asks for, as other programs do: indices, heaps and
/// their free space, whose checksums it compares.
/// @throws FormatError if any of it is damaged
void require_sound_metadata(hid_t object);

/// An open object described.
/// @throws FormatError if it cannot be
Hdf5Node hdf5_node(Hdf5Handle object, const std::string& path);

}  // namespace headwave
