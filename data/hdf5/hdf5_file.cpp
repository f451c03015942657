#include "hdf5_file.h"

#include <algorithm>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include "../../core/numbers/error.h"
#include "../files/mapped_file.h"
#include "../files/printable.h"
#include "hdf5_attributes.h"
#include "hdf5_dataset.h"
#include "hdf5_tree.h"

namespace headwave {

namespace {

// Runs one piece of work on a file with the library quiet, and lets its messages say which file and which object.
template <class Work>
auto named(const std::string& file, const std::string& object, Work work) {
  const Hdf5Session session;
  try {
    return work();
  } catch (const FormatError& problem) {
    throw FormatError(fmt::format("{}: {}: {}", file, printable(object), problem.what()));
  } catch (const ShapeError& problem) {
    throw ShapeError(fmt::format("{}: {}: {}", file, printable(object), problem.what()));
  }
}

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

}  // namespace

Hdf5File::Hdf5File(const std::filesystem::path& path) : path_(path), name_(shown_path(path)) {
  // The mapping says what cannot be opened and why better than the library does.
  bytes_ = MappedFile(path).size();
  const Hdf5Session session;
  file_ = std::make_unique<Hdf5Handle>(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file_->valid()) throw FormatError(fmt::format("{}: cannot be read as an HDF5 file: {}", name_, hdf5_reason()));
}

Hdf5File::~Hdf5File() {
  const Hdf5Session session;
  file_.reset();
}

std::vector<Hdf5Node> Hdf5File::tree() const {
  return named(name_, "/", [&] { return hdf5_tree(file_->id()); });
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  return named(name_, group, [&] { return hdf5_names(hdf5_object(file_->id(), group).id()); });
}

bool Hdf5File::has(const std::string& object) const {
  const Hdf5Session session;
  try {
    return hdf5_object(file_->id(), object).valid();
  } catch (const FormatError&) {
    return false;
  }
}

Hdf5Node Hdf5File::node(const std::string& object) const {
  return named(name_, object, [&] { return hdf5_node(hdf5_object(file_->id(), object), object); });
}

Attributes Hdf5File::attributes(const std::string& object) const {
  return named(name_, object, [&] { return hdf5_attributes(hdf5_object(file_->id(), object).id()); });
}

std::vector<std::string> Hdf5File::attribute_texts(const std::string& object, const std::string& attribute) const {
  return named(name_, object, [&] { return hdf5_attribute_texts(hdf5_object(file_->id(), object).id(), attribute); });
}

std::vector<std::string> Hdf5File::scales(const std::string& dataset) const {
  return named(name_, dataset, [&] {
    const Hdf5Dataset data(file_->id(), dataset);
    std::vector<std::string> names(data.extent().shape.size());
    const auto keep_first = [](hid_t, unsigned, hid_t scale, void* name) -> herr_t {
      *static_cast<std::string*>(name) = last_name(scale);
      return 1;
    };
    for (std::size_t axis = 0; axis < names.size(); ++axis)
      H5DSiterate_scales(data.id(), static_cast<unsigned>(axis), nullptr, keep_first, &names[axis]);
    return names;
  });
}

std::vector<double> Hdf5File::doubles(const std::string& dataset) const {
  return named(name_, dataset, [&] {
    const Hdf5Dataset data(file_->id(), dataset);
    demand_numbers(data);
    data.check_readable(bytes_, sizeof(double));
    return data.numbers<double>(H5T_NATIVE_DOUBLE);
  });
}

std::vector<float> Hdf5File::floats(const std::string& dataset) const {
  return named(name_, dataset, [&] {
    const Hdf5Dataset data(file_->id(), dataset);
    demand_numbers(data);
    data.check_readable(bytes_, sizeof(float));
    return data.numbers<float>(H5T_NATIVE_FLOAT);
  });
}

std::vector<float> Hdf5File::floats(const std::string& dataset, Index first_row, Index rows) const {
  return named(name_, dataset, [&] {
    const Hdf5Dataset data(file_->id(), dataset);
    demand_numbers(data);
    const Index all = data.extent().shape.empty() ? 0 : data.extent().shape[0];
    if (first_row < 0 || rows < 0 || first_row > all || rows > all - first_row)
      throw ShapeError(fmt::format("asked for {} rows from row {}, it has {}", rows, first_row, all));
    data.check_readable(bytes_, sizeof(float), first_row, rows);
    return data.numbers<float>(H5T_NATIVE_FLOAT, first_row, rows);
  });
}

std::vector<std::int64_t> Hdf5File::integers(const std::string& dataset) const {
  return named(name_, dataset, [&] {
    const Hdf5Dataset data(file_->id(), dataset);
    if (!hdf5_is_number(data.type()) || H5Tget_class(data.type()) == H5T_FLOAT)
      throw FormatError(fmt::format("expected integers, found {}", hdf5_type_text(data.type())));
    data.check_readable(bytes_, sizeof(std::int64_t));
    const bool could_overflow = H5Tget_size(data.type()) >= 8 && H5Tget_sign(data.type()) == H5T_SGN_NONE;
    // Unsigned numbers beyond int64 would be clipped in silence; read as they are, they come out negative here.
    auto values = data.numbers<std::int64_t>(could_overflow ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64);
    if (could_overflow && std::ranges::any_of(values, [](std::int64_t value) { return value < 0; }))
      throw FormatError("an unsigned integer does not fit in 64 bits with a sign");
    return values;
  });
}

std::vector<std::string> Hdf5File::strings(const std::string& dataset) const {
  return named(name_, dataset, [&] {
    const Hdf5Dataset data(file_->id(), dataset);
    if (H5Tget_class(data.type()) != H5T_STRING)
      throw FormatError(fmt::format("expected text, found {}", hdf5_type_text(data.type())));
    data.check_readable(bytes_, sizeof(std::string));
    return hdf5_strings(data.type(), data.space(), std::size_t{1} << 30U, [&](hid_t memory, void* buffer) {
      return H5Dread(data.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
    });
  });
}

}  // namespace headwave
