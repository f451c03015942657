#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../arrays/array_block.h"
#include "hdf5_piece_reader.h"

namespace headwave {

class Hdf5Reader;
struct Hdf5Request;

/// One thing in an HDF5 file.
struct Hdf5Node {
  std::string path;          ///< "/layer_0/query"
  std::string kind;          ///< "group", "dataset", "type", "link", or "unreadable"
  std::vector<Index> shape;  ///< of a dataset; empty: a single entry
  std::string dtype;         ///< of a dataset: "float32", "int64", "string", "bool", "compound", ...
  std::string storage;       ///< of a dataset: "chunks (1, 12, 64), shuffle, gzip 2"; of a link: where it leads
  Attributes attributes;
};

/// As much of a file as could be listed.
struct Hdf5Tree {
  std::vector<Hdf5Node> nodes;
  std::string end;  ///< what the library did not survive, where the list ends before the file does; empty: it does not
};

/// Whose an HDF5 file is.
enum class Hdf5Trust {
  foreign,  ///< anybody's: read by a child process, unless trust_hdf5_files() was called
  own       ///< this process just wrote it, and holds its lock: read here
};

/// From now on files are read in this process: a little faster, and a damaged one may bring it down.
void trust_hdf5_files();

/// An HDF5 file, open for reading.
///
/// The library does not survive every damaged file: it crashes, hangs, or asks for all memory. So a child process with
/// limits on both reads it, and what the child does not survive is an error like any other. A dataset is read only if
/// it has at most 16 GiB and the file holds enough bytes for it, also where they are compressed. Links into other files,
/// data kept in other files and virtual datasets are listed and never followed. Floats of most datasets are read without
/// the library, which tells where they lie. May be read from several threads at once; those that ask the library take
/// turns.
class Hdf5File {
 public:
  /// @throws IoError if the file cannot be read, or no process made to read it; FormatError if it is not an HDF5 file or
  ///         is cut short
  explicit Hdf5File(const std::filesystem::path& path, Hdf5Trust trust = Hdf5Trust::foreign);
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  ~Hdf5File();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Everything in the file, the root group first, in the order of creation where the file knows it. Links are not
  /// followed, a group that can be reached twice is entered once; what cannot be opened, or lies more than 64 deep, is
  /// listed as unreadable.
  /// @throws FormatError if the file holds more than a million objects
  [[nodiscard]] std::vector<Hdf5Node> tree() const;
  /// The same as far as it goes: where the library does not survive an object, what comes before that. The file is then
  /// opened anew, and can be asked for what was listed.
  /// @throws FormatError as tree(), or if the library does not survive that either
  [[nodiscard]] Hdf5Tree listed_tree();

  /// Names in a group, in the order of creation where the file knows it.
  /// @throws FormatError if there is no such group
  [[nodiscard]] std::vector<std::string> names(const std::string& group) const;

  [[nodiscard]] bool has(const std::string& object) const;
  /// @throws FormatError if there is no such object
  [[nodiscard]] Hdf5Node node(const std::string& object) const;
  /// @throws FormatError if there is no such object
  [[nodiscard]] Attributes attributes(const std::string& object) const;
  /// The entries of a text attribute one by one; empty where there is none.
  /// @throws FormatError if there is no such object, or the attribute is not text
  [[nodiscard]] std::vector<std::string> attribute_texts(const std::string& object, const std::string& attribute) const;
  /// Names of the dimension scales attached to a dataset's axes, "" where an axis has none.
  /// @throws FormatError if there is no such dataset
  [[nodiscard]] std::vector<std::string> scales(const std::string& dataset) const;

  /// All entries of a dataset of real numbers, row-major.
  /// @throws FormatError if there is no such dataset, it is none of numbers, too large for its file, or cannot be read
  [[nodiscard]] std::vector<double> doubles(const std::string& dataset) const;
  [[nodiscard]] std::vector<float> floats(const std::string& dataset) const;  ///< as doubles(), rounded to float
  /// Reads a block of a dataset as floats, row-major: no more than that, and of chunks those that hold some of it.
  /// @throws FormatError as doubles(); ShapeError if there is no such block; IoError if the file cannot be read any more
  void read(const std::string& dataset, const ArrayBlock& block, const FloatRoom& room) const;
  /// @throws FormatError as doubles(), or if the numbers are real or beyond int64
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& dataset) const;
  /// @throws FormatError as doubles(), or if the dataset is not of text
  [[nodiscard]] std::vector<std::string> strings(const std::string& dataset) const;

 private:
  void open();
  [[nodiscard]] const Hdf5Places* places(const std::string& dataset) const;
  void read_floats(const std::string& dataset, const std::optional<ArrayBlock>& block, const FloatRoom& room) const;
  template <class Answer>
  [[nodiscard]] Answer ask(const Hdf5Request& request) const;
  template <class Number>
  [[nodiscard]] std::vector<Number> numbers(const Hdf5Request& request) const;
  [[nodiscard]] std::vector<Hdf5Node> nodes(const Hdf5Request& request) const;

  std::filesystem::path path_;
  std::string name_;  // the path as messages show it
  Hdf5Trust trust_;
  std::unique_ptr<FileBytes> bytes_;
  std::unique_ptr<Hdf5Reader> reader_;
  mutable std::mutex asking_;
  mutable std::map<std::string, std::optional<Hdf5Places>> places_;  // of datasets that were asked for
  std::unique_ptr<Hdf5PieceReader> pieces_;
};

}  // namespace headwave
