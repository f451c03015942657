#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../arrays/array_block.h"

namespace headwave {

/// One object in an HDF5 file.
struct Hdf5Node {
  std::string path;          ///< "/layer_0/query"
  std::string kind;          ///< "group", "dataset", "type", "link", or "unreadable"
  std::vector<Index> shape;  ///< shape of a dataset; empty: a single entry, or no entries
  std::string dtype;         ///< type of a dataset's entries, or the type itself: "float32", "string", "compound", ...
  std::string storage;       ///< for a dataset "chunks (1, 12, 64), shuffle, gzip 2"; for a link its target; for an
                             ///< unreadable object the reason
  Attributes attributes;
};

/// Arranges that, if the HDF5 library crashes on a damaged file, the program exits with 1 and one line on
/// stderr that names the file. Programs call it when they start.
void tell_hdf5_crashes();

/// An HDF5 file, open for reading.
///
/// At most 16 GiB are read at once. A dataset is read only if the file holds enough bytes for it, compressed
/// or not, and its chunks unpack to their declared size. Filters other than shuffle, gzip and fletcher32 are
/// refused. Links into other files, data kept in other files and virtual datasets are listed and never
/// followed. Several threads may read, but they take turns.
class Hdf5File {
 public:
  /// @throws IoError if the file cannot be read; FormatError if it is not an HDF5 file or is cut short
  explicit Hdf5File(const std::filesystem::path& path);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Lists everything in the file, at most a million objects, with the root group first. Objects are in order
  /// of creation if all groups record this order, otherwise sorted by name. Links are not followed, a group
  /// that can be reached twice is listed once, and an object that cannot be opened is listed as unreadable.
  /// @throws FormatError if the root group is damaged; IoError if the file can no longer be read
  [[nodiscard]] std::vector<Hdf5Node> tree() const;

  /// @throws FormatError if there is no such object
  [[nodiscard]] Hdf5Node node(const std::string& object) const;
  /// @throws FormatError if there is no such object
  [[nodiscard]] Attributes attributes(const std::string& object) const { return node(object).attributes; }
  /// The entries of a text attribute; empty if there is no such attribute.
  /// @throws FormatError if there is no such object, or the attribute is not text
  [[nodiscard]] std::vector<std::string> attribute_texts(const std::string& object, const std::string& attribute) const;
  /// Names of the dimension scales attached to a dataset's axes; "" for an axis without a scale.
  /// @throws FormatError if there is no such dataset
  [[nodiscard]] std::vector<std::string> scales(const std::string& dataset) const;

  /// All entries of a dataset of real numbers, row-major.
  /// @throws FormatError if there is no such dataset, or it does not hold numbers, is too large, or cannot be
  ///         read
  [[nodiscard]] std::vector<double> doubles(const std::string& dataset) const;
  [[nodiscard]] std::vector<float> floats(const std::string& dataset) const;  ///< as doubles(), rounded to float
  /// A block of a dataset as floats, row-major. Only chunks that overlap the block are read.
  /// @throws FormatError as doubles(); ShapeError if the block does not lie inside; IoError if the file can
  ///         no longer be read
  [[nodiscard]] std::vector<float> floats(const std::string& dataset, const ArrayBlock& block) const;
  /// @throws FormatError as doubles(), or if the numbers are floating-point or beyond int64
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& dataset) const;
  /// @throws FormatError as doubles(), or if the dataset does not hold text
  [[nodiscard]] std::vector<std::string> strings(const std::string& dataset) const;

 private:
  struct Opened;

  template <class Work>
  auto read_named(const std::string& object, Work work) const;

  std::filesystem::path path_;
  std::string name_;  // the path as messages show it
  std::unique_ptr<Opened> opened_;
};

}  // namespace headwave
