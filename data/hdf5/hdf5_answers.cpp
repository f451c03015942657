#include "hdf5_answers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5_hl.h>

#include "../../core/errors/error.h"
#include "../files/file_descriptor.h"
#include "../files/printable.h"
#include "hdf5_attributes.h"
#include "hdf5_dataset.h"
#include "hdf5_node_bytes.h"
#include "hdf5_tree.h"

namespace headwave {

namespace {

void demand_numbers(const Hdf5Dataset& dataset) {
  if (!hdf5_is_number(dataset.type()))
    throw FormatError(fmt::format("expected numbers, found {}", hdf5_type_text(dataset.type())));
}

std::string last_name(hid_t object) {
  std::string path(1024, '\0');
  const ssize_t length = H5Iget_name(object, path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size()) return "";
  path.resize(static_cast<std::size_t>(length));
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string> scales_of(const Hdf5Dataset& data) {
  std::vector<std::string> names(data.extent().shape.size());
  const auto keep_first = [](hid_t, unsigned, hid_t scale, void* name) -> herr_t {
    *static_cast<std::string*>(name) = last_name(scale);
    return 1;
  };
  for (std::size_t axis = 0; axis < names.size(); ++axis)
    H5DSiterate_scales(data.id(), static_cast<unsigned>(axis), nullptr, keep_first, &names[axis]);
  return names;
}

std::vector<std::string> strings_of(const Hdf5Dataset& data, std::uintmax_t file_bytes) {
  if (H5Tget_class(data.type()) != H5T_STRING)
    throw FormatError(fmt::format("expected text, found {}", hdf5_type_text(data.type())));
  data.check_readable(file_bytes, sizeof(std::string), data.whole());
  data.check_chunks(file_bytes, data.whole());
  return hdf5_strings(data.type(), data.space(), std::size_t{1} << 30U, [&](hid_t memory, void* buffer) {
    return H5Dread(data.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
  });
}

/// Nothing where they cannot be told: asked for the numbers themselves, the library says why.
std::optional<Hdf5Places> places_of(const Hdf5Dataset& data, std::uintmax_t file_bytes) {
  try {
    data.check_readable(file_bytes, sizeof(float), whole_block(std::vector<Index>(data.extent().shape.size(), 0)));
    return data.places(file_bytes);
  } catch (const FormatError&) {
    return {};
  }
}

/// Unsigned numbers beyond int64 would be clipped in silence; read as they are, they come out negative.
bool could_overflow(const Hdf5Dataset& data) {
  return H5Tget_size(data.type()) >= 8 && H5Tget_sign(data.type()) == H5T_SGN_NONE;
}

hid_t memory_type(const Hdf5Dataset& data, Hdf5Question question) {
  if (question == Hdf5Question::doubles) return H5T_NATIVE_DOUBLE;
  if (question == Hdf5Question::floats) return H5T_NATIVE_FLOAT;
  return could_overflow(data) ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
}

bool can_open(hid_t file, const std::string& object) {
  try {
    return hdf5_object(file, object).valid();
  } catch (const FormatError&) {
    return false;
  }
}

}  // namespace

Hdf5Answers::Hdf5Answers(const std::filesystem::path& path, std::uintmax_t bytes, Hdf5Trust trust) : bytes_(bytes) {
  const Hdf5Session session;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (trust == Hdf5Trust::own) H5Pset_file_locking(access.id(), false, true);
  // The library calls a file that it cannot open for want of descriptors none of its own.
  if (!FileDescriptor(path, O_RDONLY).is_open())
    throw IoError(fmt::format("cannot be opened for reading: {}", std::strerror(errno)));
  file_ = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file_.valid()) throw FormatError(fmt::format("cannot be read as an HDF5 file: {}", hdf5_reason()));
}

Hdf5Answers::~Hdf5Answers() {
  const Hdf5Session session;
  file_.close();
}

std::string Hdf5Answers::answer(const Hdf5Request& request, const Hdf5Room& room) const {
  const Hdf5Session session;
  const hid_t file = file_.id();
  const std::string& object = request.object;
  ByteWriter bytes;
  switch (request.question) {
    case Hdf5Question::tree:
      write_hdf5_nodes(bytes, hdf5_tree(file, object));
      break;
    case Hdf5Question::names: {
      const Hdf5Handle group = hdf5_object(file, object);
      require_sound_metadata(group.id());
      bytes.write(hdf5_names(group.id()));
      break;
    }
    case Hdf5Question::has:
      bytes.write<std::uint8_t>(can_open(file, object) ? 1 : 0);
      break;
    case Hdf5Question::node: {
      Hdf5Handle found = hdf5_object(file, object);
      require_sound_metadata(found.id());
      write_hdf5_nodes(bytes, {hdf5_node(std::move(found), object)});
      break;
    }
    case Hdf5Question::attributes:
      write_hdf5_nodes(bytes, {{object, "", {}, "", "", hdf5_attributes(hdf5_object(file, object).id())}});
      break;
    case Hdf5Question::attribute_texts:
      bytes.write(hdf5_attribute_texts(hdf5_object(file, object).id(), request.attribute));
      break;
    case Hdf5Question::scales:
      bytes.write(scales_of(Hdf5Dataset(file, object)));
      break;
    case Hdf5Question::places:
      bytes.write(places_of(Hdf5Dataset(file, object), bytes_));
      break;
    case Hdf5Question::strings:
      bytes.write(strings_of(Hdf5Dataset(file, object), bytes_));
      break;
    default:
      put_numbers(request, room);
  }
  return bytes.taken();
}

void Hdf5Answers::put_numbers(const Hdf5Request& request, const Hdf5Room& room) const {
  const Hdf5Dataset data(file_.id(), request.object);
  if (request.question == Hdf5Question::integers &&
      (!hdf5_is_number(data.type()) || H5Tget_class(data.type()) == H5T_FLOAT))
    throw FormatError(fmt::format("expected integers, found {}", hdf5_type_text(data.type())));
  demand_numbers(data);
  data.require_own_data();
  const ArrayBlock block = request.block.value_or(data.whole());
  require_inside(block, data.extent().shape);
  const std::size_t entry = request.question == Hdf5Question::floats ? sizeof(float) : sizeof(double);
  data.check_readable(bytes_, entry, block);
  const std::size_t entries = data.entries(block);
  void* values = room(entries * entry);
  if (entries > 0) data.read(bytes_, memory_type(data, request.question), block, values);
  if (request.question != Hdf5Question::integers || !could_overflow(data)) return;
  const auto* first = static_cast<const std::int64_t*>(values);
  if (std::any_of(first, first + entries, [](std::int64_t value) { return value < 0; }))
    throw FormatError("an unsigned integer does not fit in 64 bits with a sign");
}

}  // namespace headwave
