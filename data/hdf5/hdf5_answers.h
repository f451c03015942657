#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "../../core/bytes/bytes.h"
#include "hdf5_file.h"
#include "hdf5_handle.h"

namespace headwave {

/// What may be asked of an HDF5 file.
enum class Hdf5Question : std::uint8_t {
  tree,
  names,
  has,
  node,
  attributes,
  attribute_texts,
  scales,
  places,
  strings,
  doubles,
  floats,
  integers
};

struct Hdf5Request {
  Hdf5Question question = Hdf5Question::tree;
  std::string object = "/";  ///< of a tree: before which it ends
  std::string attribute = {};
  std::optional<ArrayBlock> block = {};  ///< of floats; none: all of them
  template <class Self>
  static auto members(Self& self) {
    return std::tie(self.question, self.object, self.attribute, self.block);
  }
};

/// Where numbers are to be put: called once with how many bytes they take.
using Hdf5Room = std::function<void*(std::size_t bytes)>;

/// Answers questions about an open file with the library, in this process. Messages name no file.
class Hdf5Answers {
 public:
  /// @throws FormatError if it is not an HDF5 file or is cut short
  Hdf5Answers(const std::filesystem::path& path, std::uintmax_t bytes, Hdf5Trust trust);
  Hdf5Answers(const Hdf5Answers&) = delete;
  Hdf5Answers& operator=(const Hdf5Answers&) = delete;
  ~Hdf5Answers();

  /// @returns the answer as a ByteWriter leaves it; nothing where numbers were asked for
  /// @throws FormatError and ShapeError as Hdf5File says
  [[nodiscard]] std::string answer(const Hdf5Request& request, const Hdf5Room& room) const;

 private:
  void put_numbers(const Hdf5Request& request, const Hdf5Room& room) const;

  std::uintmax_t bytes_;
  Hdf5Handle file_;
};

/// Answers about one file, wherever they come from.
class Hdf5Reader {
 public:
  Hdf5Reader() = default;
  Hdf5Reader(const Hdf5Reader&) = delete;
  Hdf5Reader& operator=(const Hdf5Reader&) = delete;
  virtual ~Hdf5Reader() = default;
  /// As Hdf5Answers::answer(); from several threads.
  virtual std::string ask(const Hdf5Request& request, const Hdf5Room& room) = 0;
  /// The object over which the library ended and cannot answer any more; empty while it can.
  [[nodiscard]] virtual std::string last_place() const { return ""; }
};

}  // namespace headwave
