#include "hdf5_answers.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include "../../core/bytes/bytes.h"
#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "hdf5_handle.h"

namespace headwave {

namespace {

constexpr std::size_t most_objects = 1'000'000;

/// The same for two paths that lead to one object.
std::string identity_of(hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info{};
  if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) throw FormatError(hdf5_reason());
  return {reinterpret_cast<const char*>(&info.token), sizeof info.token};
#else
  H5O_info_t info{};
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) throw FormatError(hdf5_reason());
  return {reinterpret_cast<const char*>(&info.addr), sizeof info.addr};
#endif
}

bool knows_creation_order(hid_t group) {
  const Hdf5Handle properties(H5Gget_create_plist(group), H5Pclose);
  unsigned order = 0;
  return properties.valid() && H5Pget_link_creation_order(properties.id(), &order) >= 0 &&
         (order & H5P_CRT_ORDER_TRACKED) != 0;
}

std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> names;
  const H5_index_t index = knows_creation_order(group) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    auto& kept = *static_cast<std::vector<std::string>*>(list);
    if (kept.size() >= most_objects) return 1;
    try {
      kept.emplace_back(name);
    } catch (...) {
      return -1;  // no exception may cross the C library
    }
    return 0;
  };
  if (H5Literate(group, index, H5_ITER_INC, nullptr, keep, &names) < 0) throw FormatError(hdf5_reason());
  return names;
}

/// Where a soft or external link leads; empty for a hard link.
std::string link_target(hid_t file, const std::string& path) {
  H5L_info_t info{};
  if (H5Lget_info(file, path.c_str(), &info, H5P_DEFAULT) < 0) throw FormatError(hdf5_reason());
  if (info.type == H5L_TYPE_HARD) return "";
  if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) return "of a kind of its own";
  if (info.u.val_size > (std::size_t{1} << 16U)) return "to a name too long to be one";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(file, path.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) throw FormatError(hdf5_reason());
  if (info.type == H5L_TYPE_SOFT) return fmt::format("to {}", value.c_str());
  const char* other = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &other, &object) < 0) throw FormatError(hdf5_reason());
  return fmt::format("to {} in another file, {}", object, other);
}

Hdf5Node node_of(Hdf5Handle object, const std::string& path) {
  Hdf5Node node{path, "type", {}, "", "", hdf5_attributes(object.id()), ""};
  const H5I_type_t kind = H5Iget_type(object.id());
  if (kind == H5I_GROUP) {
    node.kind = "group";
    node.identity = identity_of(object.id());
  }
  if (kind == H5I_DATATYPE) node.dtype = hdf5_type_text(object.id());
  if (kind != H5I_DATASET) return node;
  const Hdf5Dataset dataset(std::move(object));
  node.kind = "dataset";
  node.shape = dataset.extent().shape;
  node.dtype = hdf5_type_text(dataset.type());
  node.storage = dataset.storage_text();
  return node;
}

Hdf5Node member_node(hid_t file, const std::string& path) {
  const std::string target = path == "/" ? "" : link_target(file, path);
  if (!target.empty()) return {path, "link", {}, "", target, {}, ""};
  return node_of(hdf5_object(file, path), path);
}

void write_node(ByteWriter& bytes, const Hdf5Node& node) {
  for (const std::string* text : {&node.path, &node.kind, &node.dtype, &node.storage, &node.identity})
    bytes.write(*text);
  bytes.write(node.shape);
  bytes.write<std::uint64_t>(node.attributes.size());
  for (const auto& [name, value] : node.attributes) {
    bytes.write(name);
    bytes.write<std::uint64_t>(value.index());
    std::visit([&](const auto& held) { bytes.write(held); }, value);
  }
}

template <std::size_t kind = 0>
Attribute read_attribute(std::size_t wanted, ByteReader& bytes) {
  if constexpr (kind == std::variant_size_v<Attribute>) {
    throw FormatError("bytes of an attribute: of no known kind");
  } else {
    if (wanted == kind) return bytes.read<std::variant_alternative_t<kind, Attribute>>();
    return read_attribute<kind + 1>(wanted, bytes);
  }
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

std::vector<std::string> strings_of(Hdf5Dataset& data, std::uintmax_t file_bytes) {
  if (H5Tget_class(data.type()) != H5T_STRING)
    throw FormatError(fmt::format("expected text, found {}", hdf5_type_text(data.type())));
  data.check_readable(file_bytes, sizeof(std::string), data.whole());
  data.check_chunks(file_bytes, data.whole());
  return hdf5_strings(data.type(), data.space(), std::size_t{1} << 30U, [&](hid_t memory, void* buffer) {
    return H5Dread(data.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
  });
}

/// Unsigned numbers beyond int64 would be clipped in silence; read as unsigned ones, they come out negative.
bool could_overflow(const Hdf5Dataset& data) {
  return H5Tget_size(data.type()) >= 8 && H5Tget_sign(data.type()) == H5T_SGN_NONE;
}

hid_t memory_type(const Hdf5Dataset& data, Hdf5Question question) {
  if (question == Hdf5Question::doubles) return H5T_NATIVE_DOUBLE;
  if (question == Hdf5Question::floats) return H5T_NATIVE_FLOAT;
  return could_overflow(data) ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
}

void require_numbers(const Hdf5Dataset& data, Hdf5Question question) {
  const bool integers = question == Hdf5Question::integers;
  if (!hdf5_is_number(data.type()) || (integers && H5Tget_class(data.type()) == H5T_FLOAT))
    throw FormatError(
        fmt::format("expected {}, found {}", integers ? "integers" : "numbers", hdf5_type_text(data.type())));
}

bool can_open(hid_t file, const std::string& object) {
  try {
    return hdf5_object(file, object).valid();
  } catch (const FormatError&) {
    return false;
  }
}

}  // namespace

Hdf5Answers::Hdf5Answers(const std::filesystem::path& path, std::uintmax_t bytes, bool locks,
                         std::function<void(std::size_t)> working)
    : working_(std::move(working)), bytes_(bytes) {
  const Hdf5Session session;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!locks) H5Pset_file_locking(access.id(), false, true);
  file_ = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file_.valid()) throw FormatError(fmt::format("cannot be read as an HDF5 file: {}", hdf5_reason()));
}

Hdf5Answers::~Hdf5Answers() {
  const Hdf5Session session;
  open_.clear();
  file_.close();
}

void Hdf5Answers::ask(const Hdf5Request& request, const Hdf5Room& room) {
  const Hdf5Session session;
  if (request.question >= Hdf5Question::doubles) return put_numbers(request, room);
  const std::string answer = text_answer(request);
  std::memcpy(room(answer.size()), answer.data(), answer.size());
}

std::string Hdf5Answers::text_answer(const Hdf5Request& request) {
  const hid_t file = file_.id();
  const std::string& object = request.object;
  ByteWriter bytes;
  switch (request.question) {
    case Hdf5Question::node:
      write_node(bytes, node_of(hdf5_object(file, object), object));
      break;
    case Hdf5Question::member:
      write_node(bytes, member_node(file, object));
      break;
    case Hdf5Question::has:
      bytes.write<std::uint8_t>(can_open(file, object) ? 1 : 0);
      break;
    case Hdf5Question::names:
      bytes.write(names_in(hdf5_object(file, object).id()));
      break;
    case Hdf5Question::attribute_texts:
      bytes.write(hdf5_attribute_texts(hdf5_object(file, object).id(), request.attribute));
      break;
    case Hdf5Question::scales:
      bytes.write(scales_of(opened(object)));
      break;
    default:
      bytes.write(strings_of(opened(object), bytes_));
  }
  return bytes.taken();
}

void Hdf5Answers::put_numbers(const Hdf5Request& request, const Hdf5Room& room) {
  Hdf5Dataset& data = opened(request.object);
  require_numbers(data, request.question);
  data.require_own_data();
  const ArrayBlock block = request.block.value_or(data.whole());
  require_inside(block, data.extent().shape);
  const std::size_t entry = request.question == Hdf5Question::floats ? sizeof(float) : sizeof(double);
  data.check_readable(bytes_, entry, block);
  const std::size_t entries = block.count == data.extent().shape ? data.extent().entries : entries_of(block);
  if (working_) working_(entries * entry + 2 * data.chunk_bytes_of(block));
  void* values = room(entries * entry);
  if (entries > 0) data.read(bytes_, memory_type(data, request.question), block, values);
  if (request.question != Hdf5Question::integers || !could_overflow(data)) return;
  const auto* first = static_cast<const std::int64_t*>(values);
  if (std::any_of(first, first + entries, [](std::int64_t value) { return value < 0; }))
    throw FormatError("an unsigned integer does not fit in 64 bits with a sign");
}

/// h5py's own chunks of stored states hold tens of documents, and each document would unpack them anew. So the
/// chunks of the first entry along the first axis are kept as far as there is room.
Hdf5Dataset& Hdf5Answers::opened(const std::string& path) {
  constexpr std::size_t usually_kept = std::size_t{1} << 20U, most_kept = std::size_t{256} << 20U;
  if (const auto found = open_.find(path); found != open_.end()) return found->second;
  // The library takes a size only where the dataset is not open already.
  const std::size_t chunks = Hdf5Dataset(file_.id(), path).bytes_of_first_chunks();
  const bool fits = chunks > usually_kept && kept_ + chunks <= most_kept;
  if (!fits && kept_ + usually_kept > most_kept) {
    open_.clear();
    kept_ = 0;
  }
  const std::size_t kept = fits ? chunks : usually_kept;
  kept_ += kept;
  return open_.emplace(path, Hdf5Dataset(file_.id(), path, kept)).first->second;
}

Hdf5Node read_hdf5_node(const std::string& answer) {
  ByteReader bytes(answer);
  Hdf5Node node;
  for (std::string* text : {&node.path, &node.kind, &node.dtype, &node.storage, &node.identity}) bytes.read(*text);
  bytes.read(node.shape);
  for (auto more = bytes.read<std::uint64_t>(); more > 0; --more) {
    std::string name = bytes.read<std::string>();
    const auto kind = bytes.read<std::uint64_t>();
    node.attributes.emplace(std::move(name), read_attribute(kind, bytes));
  }
  return node;
}

}  // namespace headwave
