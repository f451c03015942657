#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "hdf5_dataset.h"
#include "hdf5_file.h"

namespace headwave {

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
  std::optional<ArrayBlock> block = {};  ///< of numbers; none: all of them
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
