#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

class Hdf5File;

/// What a result file was found to be.
struct ResultCheck {
  Index schema_version = 0;
  Index arrays = 0;                    ///< that were read, axes with them
  Index digests = 0;                   ///< of these with a digest; none before version 2
  bool has_attribute_digests = false;  ///< older files have none
  bool has_file_digest = false;  ///< of all bytes; lost where another program changed the file, older files have none
  std::vector<std::string> problems;  ///< what is not as it was written, one sentence each; empty: nothing
};

/// Reads every array of a result file, and the attributes of all that was written to it, and compares them with the digests
/// beside them; and all bytes of the file with the digest at its end.
/// @throws FormatError if it is no result, unfinished, newer than this headwave, or so damaged that an array cannot be
///         read
ResultCheck check_result(const Hdf5File& file);

/// Refuses a result that is not what was written.
/// @throws FormatError naming the first problem and what to do; as check_result()
void require_whole_result(const Hdf5File& file);

}  // namespace headwave
