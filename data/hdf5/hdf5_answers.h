#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../arrays/array_block.h"
#include "hdf5_file.h"
#include "hdf5_handle.h"

namespace headwave {

/// Opens a group, dataset or type by its path, through soft links inside the file, never into another file.
/// @throws FormatError if there is none or it cannot be opened
Hdf5Handle hdf5_object(hid_t file, const std::string& path);

/// A filter that a dataset's chunks went through when they were written.
struct Hdf5Filter {
  H5Z_filter_t id;
  std::string text;  ///< "shuffle", "gzip 2", "fletcher32", "filter 32001 blosc"
};

/// An open dataset. It refuses to read what a damaged or hostile file could use against the library. Messages
/// do not name the file: the caller does.
class Hdf5Dataset {
 public:
  /// @throws FormatError if the object is not a dataset or is broken
  explicit Hdf5Dataset(Hdf5Handle object);
  /// @throws FormatError also if there is no such object
  Hdf5Dataset(hid_t file, const std::string& path) : Hdf5Dataset(hdf5_object(file, path)) {}
  /// Opens it so that the library keeps up to `kept_bytes` of its chunks unpacked.
  Hdf5Dataset(hid_t file, const std::string& path, std::size_t kept_bytes);

  [[nodiscard]] hid_t id() const { return dataset_.id(); }
  [[nodiscard]] hid_t type() const { return type_.id(); }
  [[nodiscard]] hid_t space() const { return space_.id(); }
  [[nodiscard]] const Hdf5Extent& extent() const { return extent_; }
  [[nodiscard]] ArrayBlock whole() const { return whole_block(extent_.shape); }

  /// Layout and filters in words: "chunks (1, 64), shuffle, gzip 2".
  [[nodiscard]] std::string storage_text() const;

  /// @throws FormatError if its data lies in other files, which are not followed
  void require_own_data() const;

  /// Refuses a block that must not be read: data outside the file, or more data than the file's bytes can
  /// stand for.
  /// @param memory_entry  bytes of one entry in memory
  /// @throws FormatError
  void check_readable(std::uintmax_t file_bytes, std::size_t memory_entry, const ArrayBlock& block) const;

  /// Unpacked bytes of all chunks that hold a part of a block; 0 if the dataset is not chunked.
  /// @throws FormatError if the chunks do not fit the dataset, or there are more than a million
  [[nodiscard]] std::size_t chunk_bytes_of(const ArrayBlock& block) const;

  /// Unpacked bytes of the chunks that hold a part of the first entry along the first axis; 0 if the dataset
  /// is not chunked, or its chunks are damaged.
  [[nodiscard]] std::size_t bytes_of_first_chunks() const;

  /// Refuses damaged chunks, which the library must not unpack: it (1.10 at least) copies a chunk's full size
  /// out of what the filters gave, so a chunk that unpacks to less makes it read beyond its memory. Each
  /// chunk of the block is unpacked here with zlib, once for each dataset that is open. Filters other than
  /// shuffle, gzip and fletcher32 cannot be checked, or would be loaded from plug-ins: datasets with such
  /// filters are refused.
  /// @throws FormatError if a chunk unpacks to another size, cannot be read or is missing from a complete
  ///         file, or if there are more than a million chunks
  void check_chunks(std::uintmax_t file_bytes, const ArrayBlock& block);

  /// Reads a block that check_readable() accepted, converted by the library.
  /// @param values  room for all of its entries
  /// @throws FormatError as check_chunks(), or if the library cannot
  void read(std::uintmax_t file_bytes, hid_t memory_type, const ArrayBlock& block, void* values);

 private:
  [[nodiscard]] bool has_chunks() const;
  [[nodiscard]] std::size_t chunk_bytes() const;
  void check_chunk(const std::vector<hsize_t>& first, std::size_t expected, std::uintmax_t file_bytes);
  [[nodiscard]] std::size_t unpacked_size(const std::vector<hsize_t>& first, std::size_t stored, std::size_t most);

  Hdf5Handle dataset_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  Hdf5Handle layout_;  // the creation properties
  Hdf5Extent extent_;
  std::vector<hsize_t> chunk_;       // sizes along the axes; empty if the dataset is not chunked
  std::vector<Hdf5Filter> filters_;  // in the order in which they were applied
  std::set<std::size_t> sound_;      // chunks that were checked
  std::vector<std::byte> packed_, plain_;
};

/// What may be asked about an HDF5 file, and how it is answered.
enum class Hdf5Question : std::uint8_t {
  node,             ///< write_hdf5_node(): the object, links inside the file followed
  member,           ///< the same for a listing: links are not followed
  has,              ///< a byte: 1 if the object can be opened
  names,            ///< list of texts: the members of a group
  attribute_texts,  ///< list of texts: the entries of an attribute
  scales,           ///< list of texts
  strings,          ///< list of texts
  doubles,          ///< the bytes of float64, row-major
  floats,           ///< of float32
  integers          ///< of int64
};

struct Hdf5Request {
  Hdf5Question question = Hdf5Question::node;
  std::string object = "/";
  std::string attribute = {};
  std::optional<ArrayBlock> block = {};  ///< block of numbers to read; unset: all
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.question, self.object, self.attribute, self.block);
  }
};

/// Where an answer goes: called once, with its size.
using Hdf5Room = std::function<void*(std::size_t bytes)>;

/// Answers questions about one file; from several threads.
class Hdf5Reader {
 public:
  Hdf5Reader() = default;
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;
  virtual ~Hdf5Reader() = default;
  /// @throws FormatError, ShapeError and IoError as Hdf5File says; messages name neither file nor object
  virtual void ask(const Hdf5Request& request, const Hdf5Room& room) = 0;
  /// Whether it can answer no more questions.
  [[nodiscard]] virtual bool has_died() const { return false; }
};

/// Answers with the library, in this process.
class Hdf5Answers : public Hdf5Reader {
 public:
  /// @param bytes    of the file
  /// @param locks    take the file's lock, as the library does by itself
  /// @param working  told how many bytes are about to be read and unpacked; may be empty
  /// @throws FormatError if it is not an HDF5 file or is cut short
  Hdf5Answers(const std::filesystem::path& path, std::uintmax_t bytes, bool locks,
              std::function<void(std::size_t bytes)> working = {});
  Hdf5Answers(const Hdf5Answers&) = delete;
  Hdf5Answers& operator=(const Hdf5Answers&) = delete;
  ~Hdf5Answers() override;
  void ask(const Hdf5Request& request, const Hdf5Room& room) override;

 private:
  [[nodiscard]] std::string text_answer(const Hdf5Request& request);
  void put_numbers(const Hdf5Request& request, const Hdf5Room& room);
  Hdf5Dataset& opened(const std::string& path);

  std::function<void(std::size_t)> working_;
  std::uintmax_t bytes_;
  Hdf5Handle file_;
  std::map<std::string, Hdf5Dataset> open_;  // they stay open
  std::size_t kept_ = 0;                     // bytes of chunks that the library may keep unpacked for them
};

/// An answer to Hdf5Question::node. @throws FormatError if the bytes are not one
Hdf5Node read_hdf5_node(const std::string& bytes);

/// Reads a file in a child process, which the library may crash, fill or hang over a damaged file without
/// harm to this process. The child has limits on memory and processor time and none of our open files, and
/// ends with this object. Answers come through shared memory.
///
/// If the child dies, the question that it was asked fails with a FormatError, and so do all later ones.
/// @param bytes  of the file
/// @throws IoError if no child can be made, or it is ended from outside; FormatError if the file is not an
///         HDF5 file
std::unique_ptr<Hdf5Reader> hdf5_reader_in_child(const std::filesystem::path& path, std::uintmax_t bytes);

}  // namespace headwave
