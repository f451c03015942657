#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "../arrays/array_block.h"
#include "hdf5_handle.h"
#include "hdf5_places.h"

namespace headwave {

/// The sizes of a dataset's chunks along its axes; empty where it is not chunked.
std::vector<hsize_t> hdf5_chunk_shape(hid_t creation_properties);

/// The filters of a dataset in words, in the order they were applied: "shuffle", "gzip 2", "fletcher32", "filter 32001
/// blosc".
std::vector<std::string> hdf5_filter_texts(hid_t creation_properties);

/// Whether the file of an object has `complete` = 1 at its root, as files that headwave finished have: of its datasets
/// every part was written.
bool hdf5_is_complete(hid_t object);

/// The chunks of a dataset as its file has them, one by one.
///
/// The library (1.10 at least) copies a chunk's full size out of whatever its filters gave, so a chunk that unpacks to
/// less makes it read beyond its memory. So chunks are unpacked here, with zlib. Filters other than shuffle, gzip and
/// fletcher32 cannot be undone so, or would be loaded from plug-ins: datasets with those are refused.
class Hdf5Chunks {
 public:
  /// @param shape       the dataset's, which outlives this
  /// @param entry       bytes of one entry in the file
  /// @param file_bytes  the size of the file
  /// @throws FormatError if the chunks do not fit the shape or are too large, or a filter is not known
  Hdf5Chunks(hid_t dataset, hid_t creation_properties, std::span<const Index> shape, std::size_t entry,
             std::uintmax_t file_bytes);

  /// Says of a dataset's places where its chunks lie.
  /// @returns whether it can: not of chunks that were never written, or by other filters than shuffle and gzip in this
  ///          order, or packed in part, or of more than can be kept
  [[nodiscard]] bool place(Hdf5Places& places) const;

  /// Proves that every chunk of a block unpacks to a chunk's size, before the library is asked to read them.
  /// @throws FormatError if one is shorter or longer or cannot be read, is missing from a complete file, or they are too
  ///         many
  void check(const ArrayBlock& block);

 private:
  using Offset = std::vector<hsize_t>;  // of a chunk's first entry

  struct Filter {
    H5Z_filter_t id;
    std::size_t value;  // its first one: of shuffle the size of an entry
  };

  /// A chunk as it is stored.
  struct Stored {
    haddr_t address = HADDR_UNDEF;  // never written
    hsize_t bytes = 0;
    unsigned skipped = 0;  // a bit for every filter that was not applied
  };

  /// Calls `visit` for every chunk that holds some of a block, in the order of entries, until it gives false.
  /// @throws FormatError if they are too many
  void each(const ArrayBlock& block, const std::function<bool(const Offset&)>& visit) const;
  void check_chunk(const Offset& offset);
  [[nodiscard]] Stored stored(const Offset& offset) const;
  [[nodiscard]] std::optional<std::uint64_t> shuffled_bytes() const;
  [[nodiscard]] bool is_filtered(const Offset& offset) const;
  void unpack(const Offset& offset, std::size_t stored);
  void inflate_packed();
  void require_size(std::size_t bytes) const;

  hid_t dataset_;
  std::span<const Index> dataset_shape_;
  std::vector<hsize_t> shape_;
  std::vector<Filter> filters_;
  std::size_t bytes_;  // of a chunk
  std::uintmax_t file_bytes_;
  bool partial_are_plain_ = false;
  std::vector<std::byte> packed_, plain_;
};

}  // namespace headwave
