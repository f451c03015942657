#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

class Hdf5File;
class ReplacedFile;

/// The layout that write_result writes and the newest that read_result reads; stored as the root attribute
/// schema_version. It rises if a program that knows only the version before would read a file wrongly. New
/// groups, arrays and attributes do not raise it, since such a program may ignore them. Older files are
/// always read.
inline constexpr int result_schema_version = 2;
inline constexpr int first_schema_with_digests = 2;

/// Writes a result as one HDF5 file that is also valid netCDF-4: h5py, netCDF4, h5netcdf and xarray open it
/// unchanged, one group at a time.
///
///     /                          title, Conventions, source, history, references, schema_version, fields, complete
///     /offset_trace              a group for each analysis; NX_class, signal, axes: what a viewer should draw
///     /offset_trace/mean_weight  a Field: long_name, units, sha256, its attributes; of uint8 also flag_values and
///                                flag_meanings
///     /offset_trace/layer        an axis that the group's Fields share: a dimension scale with coordinate values
///     /provenance                the provenance, as attributes
///
/// Doubles are float64 with NaN as _FillValue, texts UTF-8 of variable length (ill-formed sequences become
/// U+FFFD, a zero byte U+2400). Arrays over 4 kB lie in chunks of at most 1 MB along their last axes,
/// shuffled, gzipped and with checksums. Each array has the digest of its values, sha256, and the file ends
/// with the digest of all bytes before (digest.h). The same Fields give the same bytes. The file appears
/// whole or not at all, and `complete` = 1 is written last. Before it appears it is read again from the disk
/// and compared with its digests.
///
/// If several Fields of a group share an axis, the first Field's long_name is kept.
///
/// Source: netCDF-4 format specification, appendix C of the NetCDF User's Guide; HDF5 dimension scale
/// specification; CF conventions 1.8, section 3.5; NeXus NXdata.
/// @throws ShapeError if a Field is not named "group/quantity", two have one name, values and axes disagree
///         in size, one group has the same axis with other values or units, a quantity has the name of an
///         axis, or an attribute's name is taken; IoError if the file cannot be written or is not read back
///         as it was meant
void write_result(const Result& result, const std::filesystem::path& path);

/// The same of results that belong together: each is whole before the caller commits the first.
/// @throws ShapeError and IoError as above
void write_result(const Result& result, const ReplacedFile& file);

/// Reads a result that write_result wrote: title, Fields in their order with axes and attributes, provenance.
/// The file and its arrays are compared with their digests. Older files have no digests; a file that another
/// program changed has those of its arrays alone.
/// @throws IoError if the file cannot be read; FormatError if it is not HDF5, not a headwave result,
///         unfinished, newer than this headwave, damaged, or not what was written
Result read_result(const std::filesystem::path& path);

/// The same of a file that is open, and only the Fields named, as far as they are there; no other array is
/// read.
/// @throws FormatError as above
Result read_result(const Hdf5File& file, const std::vector<std::string>& fields);

/// The same for a damaged result: reports what differs from what was written, and reads the file anyway.
/// @throws FormatError as above, but for digests that differ
Result read_result(const Hdf5File& file, const std::vector<std::string>& fields,
                   const std::function<void(const std::string& problem)>& tell);

/// The outcome of checking a result file.
struct ResultCheck {
  Index schema_version = 0;
  Index arrays = 0;                   ///< that were read, axes included
  Index digests = 0;                  ///< how many of them have a digest; none before version 2
  bool has_file_digest = false;       ///< of all bytes; missing in older files and in files that other programs changed
  std::vector<std::string> problems;  ///< differences from what was written, one sentence each
};

/// Reads every array of a result file and compares it with its digest, and all bytes of the file with the
/// digest at its end.
/// @throws FormatError if the file is no result, unfinished, newer than this headwave, or so damaged that an
///         array cannot be read
ResultCheck check_result(const Hdf5File& file);

/// Refuses a result that was changed or damaged since it was written.
/// @throws FormatError naming the first problem and what to do; as check_result()
void require_whole_result(const Hdf5File& file);

}  // namespace headwave
