#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

class Hdf5File;
class ReplacedFile;

/// The version of the layout that write_result writes, and the newest version that read_result reads. Files
/// have it as the root attribute schema_version. It rises when a program for the earlier version would
/// misread a file. New groups, arrays and attributes do not raise it, since such a program ignores them.
inline constexpr int result_schema_version = 2;

/// Writes a result as an HDF5 file that is also valid netCDF-4: h5py, netCDF4, h5netcdf and xarray can open
/// it, one group at a time.
///
///     /                          title, Conventions, source, history, references, schema_version, fields, complete
///     /offset_trace              a group for each analysis; NX_class, signal, axes: what a viewer should draw
///     /offset_trace/mean_weight  a Field: long_name, units, its attributes; for uint8 also flag_values,
///                                flag_meanings and flag_labels
///     /offset_trace/layer        an axis that the group's Fields share: a dimension scale with coordinate values
///     /provenance                the provenance, as attributes
///
/// Doubles are float64 with NaN as _FillValue. Strings are UTF-8 of variable length; ill-formed sequences
/// become U+FFFD and zero bytes U+2400. Numeric arrays over 4 kB are stored in chunks of at most 1 MB,
/// shuffled, gzipped and with checksums. The seal at the end of the file is the digest of all bytes before it
/// (digest.h). The same Fields give the same bytes. The file appears whole or not at all; `complete` = 1 is
/// written last.
///
/// If several Fields of a group share an axis, the long_name of the first one is kept.
///
/// Source: netCDF-4 format specification, appendix C of the NetCDF User's Guide; HDF5 dimension scale
/// specification; CF conventions 1.8, section 3.5; NeXus NXdata.
/// @throws ShapeError if a Field is not named "group/quantity", two Fields have one name, values and axes
///         disagree in size, or two Fields of a group have different values or units on the same axis;
///         IoError if the file cannot be written, a quantity is named like an axis, or an attribute like an
///         attribute of the layout
void write_result(const Result& result, const std::filesystem::path& path);

/// Writes a result into a file that the caller commits, so that results that belong together can all be
/// written before the first is committed.
/// @throws as write_result() to a path
void write_result(const Result& result, const ReplacedFile& file);

/// Chunk sizes of an array. A chunk covers the last two axes completely if it stays within 1 MB. It covers
/// earlier axes only if it stays within 64 kB, so that one head can be read without its neighbours. Empty for
/// a small array, which is stored in one piece.
std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes);

/// Reads a result that write_result wrote: title, provenance, and Fields in their order with axes and
/// attributes. First the file's bytes are compared with its seal. A file that another program changed has no
/// seal, and is read unchecked.
/// @throws IoError if the file cannot be read; FormatError if it is not HDF5, not a headwave result,
///         unfinished, newer than this headwave or damaged, or its bytes do not match the seal
Result read_result(const std::filesystem::path& path);

/// Reads a result from an open file, but only those of the named Fields that it has, and no other array.
/// @throws as read_result() of a path
Result read_result(const Hdf5File& file, const std::vector<std::string>& fields);

}  // namespace headwave
