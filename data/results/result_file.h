#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

class Hdf5File;
class ReplacedFile;

/// The layout that write_result writes and the newest that read_result reads; stored as the root attribute
/// schema_version. It rises if a program that knows only the version before would read a file wrongly. New
/// groups, arrays and attributes do not raise it, since such a program may ignore them.
inline constexpr int result_schema_version = 2;

/// Writes a result as one HDF5 file that is also valid netCDF-4: h5py, netCDF4, h5netcdf and xarray open it
/// unchanged, one group at a time.
///
///     /                          title, Conventions, source, history, references, schema_version, fields, complete
///     /offset_trace              a group for each analysis; NX_class, signal, axes: what a viewer should draw
///     /offset_trace/mean_weight  a Field: long_name, units, its attributes; of uint8 also flag_values and
///                                flag_meanings
///     /offset_trace/layer        an axis that the group's Fields share: a dimension scale with coordinate values
///     /provenance                the provenance, as attributes
///
/// Doubles are float64 with NaN as _FillValue, texts UTF-8 of variable length (ill-formed sequences become
/// U+FFFD, a zero byte U+2400). Arrays over 4 kB lie in chunks of at most 1 MB along their last axes,
/// shuffled, gzipped and with checksums. The file ends with the digest of all bytes before (digest.h). The same
/// Fields give the same bytes. The file appears whole or not at all, and `complete` = 1 is written last.
///
/// If several Fields of a group share an axis, the first Field's long_name is kept.
///
/// Source: netCDF-4 format specification, appendix C of the NetCDF User's Guide; HDF5 dimension scale
/// specification; CF conventions 1.8, section 3.5; NeXus NXdata.
/// @throws ShapeError if a Field is not named "group/quantity", two have one name, values and axes disagree
///         in size, one group has the same axis with other values or units, a quantity has the name of an
///         axis, or an attribute's name is taken; IoError if the file cannot be written
void write_result(const Result& result, const std::filesystem::path& path);

/// The same of results that belong together: each is whole before the caller commits the first.
/// @throws ShapeError and IoError as above
void write_result(const Result& result, const ReplacedFile& file);

/// Chunk sizes of an array: whole last axes as long as a chunk stays within 1 MB, and axes before the last
/// two only within 64 kB, so that one head can be read without its neighbours. Empty for a small array, which
/// is stored in one piece.
std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes);

/// Reads a result that write_result wrote: title, Fields in their order with axes and attributes, provenance.
/// The file's bytes are compared with the digest at its end before anything is read of them; a file that another
/// program changed has none.
/// @throws IoError if the file cannot be read; FormatError if it is not HDF5, not a headwave result,
///         unfinished, newer than this headwave, damaged, or not what was written
Result read_result(const std::filesystem::path& path);

/// The same of a file that is open, and only the Fields named, as far as they are there; no other array is
/// read.
/// @throws FormatError as above
Result read_result(const Hdf5File& file, const std::vector<std::string>& fields);

}  // namespace headwave
