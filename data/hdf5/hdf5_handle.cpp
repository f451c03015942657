#include "hdf5_handle.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"
#include "hdf5_file.h"

namespace headwave {

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  // Some damaged files leave the library with a file that it cannot close; cleaning up when the program ends
  // it would then complain on stderr. Files opened here are all closed by their handles.
  [[maybe_unused]] static const herr_t once = H5dont_atexit();
  return mutex;
}

/// The file that this thread reads with the library; null: none.
thread_local constinit const char* file_in_reading = nullptr;

}  // namespace

Hdf5Session::Hdf5Session(const char* reading)
    : lock_(library_mutex()),
      read_before_(std::exchange(file_in_reading, reading == nullptr ? file_in_reading : reading)) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_to_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  [[maybe_unused]] static const bool once = (register_half_conversions(), true);
}

Hdf5Session::~Hdf5Session() {
  file_in_reading = read_before_;
  H5Eset_auto2(H5E_DEFAULT, print_, print_to_);
}

std::string hdf5_reason() {
  std::string reason;
  const auto keep_first = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  // About a failed write the library tells time, addresses and sizes, and among them what the system said.
  const std::string mark = "error message = '";
  const std::size_t at = reason.find(mark);
  const std::string system = at == reason.npos ? "" : reason.substr(at + mark.size());
  reason = reason.substr(0, std::min(reason.find(": time = "), reason.find(", errno = ")));
  if (const std::size_t end = system.find('\''); end != system.npos) reason += ": " + system.substr(0, end);
  return reason.empty() ? "the HDF5 library gives no reason" : printable(reason, 200);
}

bool hdf5_read_failed_by_system() {
  bool by_system = false;
  // What the library says of a failed system call, and of no other error, has the call's errno.
  const auto look = [](unsigned, const H5E_error2_t* error, void* found) -> herr_t {
    const bool call = error->desc != nullptr && std::strstr(error->desc, "errno = ") != nullptr;
    if (call) *static_cast<bool*>(found) = true;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &by_system);
  return by_system;
}

void fail_hdf5_read(const std::string& what) {
  const std::string told = (what.empty() ? "" : what + ": ") + hdf5_reason();
  if (hdf5_read_failed_by_system()) throw IoError(told);
  throw FormatError(told);
}

namespace {

/// The names of the signals that a crash may raise.
const char* crash_text(int signal) {
  if (signal == SIGSEGV) return "SIGSEGV";
  if (signal == SIGBUS) return "SIGBUS";
  if (signal == SIGABRT) return "SIGABRT";
  return signal == SIGFPE ? "SIGFPE" : "SIGILL";
}

/// Only calls that POSIX allows in a signal handler: the heap may be broken.
void tell_crash(int signal) {
  if (file_in_reading == nullptr) {
    (void)std::signal(signal, SIG_DFL);
    (void)std::raise(signal);
    return;
  }
  constexpr const char* end = "): the file is damaged, or the library has a fault (" H5_VERS_INFO ")\n";
  for (const char* text :
       {"headwave: error: ", file_in_reading, ": the HDF5 library crashed over it (", crash_text(signal), end})
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(1);
}

}  // namespace

void tell_hdf5_crashes() {
  alignas(std::max_align_t) static std::array<std::byte, std::size_t{64} << 10U> stack;  // the thread's may be full
  const stack_t other{stack.data(), 0, stack.size()};
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = tell_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) ::sigaction(signal, &action, nullptr);
}

namespace {

// h5py and netCDF store booleans as an enumeration of FALSE and TRUE.
bool is_boolean(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return false;
  for (const unsigned i : {0U, 1U}) {
    char* name = H5Tget_member_name(type, i);
    const bool expected = name != nullptr && std::strcmp(name, i == 0 ? "FALSE" : "TRUE") == 0;
    H5free_memory(name);
    if (!expected) return false;
  }
  return true;
}

// bfloat16: the upper 16 bits of a float32.
bool is_brain_float(hid_t type) {
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_size(type) == 2 &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && mantissa_bits == 7;
}

std::string unpadded(const char* text, std::size_t length, H5T_str_t padding) {
  std::string_view shown(text, length);
  if (padding == H5T_STR_SPACEPAD) return std::string(shown.substr(0, shown.find_last_not_of(' ') + 1));
  return std::string(shown.substr(0, shown.find('\0')));
}

std::vector<std::string> variable_strings(hid_t type, hid_t space, std::size_t entries,
                                          const std::function<bool(hid_t, void*)>& read) {
  const Hdf5Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(memory.id(), H5T_VARIABLE);
  H5Tset_cset(memory.id(), H5Tget_cset(type));
  std::vector<char*> pointers(entries, nullptr);
  if (!read(memory.id(), pointers.data())) fail_hdf5_read();
  std::vector<std::string> texts;
  texts.reserve(entries);
  for (const char* text : pointers) texts.emplace_back(text == nullptr ? "" : text);
#if H5_VERSION_GE(1, 12, 0)
  H5Treclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
#else
  H5Dvlen_reclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
#endif
  return texts;
}

/// Converts entries in place, as the library asks: they are `stride` bytes apart, or, if it is 0, one after another,
/// with the size of From before and of To after.
template <class From, class To>
herr_t convert_halves(hid_t, hid_t, H5T_cdata_t* about, std::size_t entries, std::size_t stride, std::size_t,
                      void* buffer, void*, hid_t) {
  about->need_bkg = H5T_BKG_NO;
  if (about->command != H5T_CONV_CONV) return 0;
  auto* bytes = static_cast<std::byte*>(buffer);
  const std::size_t from_stride = stride == 0 ? sizeof(From) : stride, to_stride = stride == 0 ? sizeof(To) : stride;
  for (std::size_t k = 0; k < entries; ++k) {
    const std::size_t i =
        to_stride > from_stride ? entries - 1 - k : k;  // nothing is written over that is still to be read
    From from;
    std::memcpy(&from, bytes + i * from_stride, sizeof from);
    const To to(from);
    std::memcpy(bytes + i * to_stride, &to, sizeof to);
  }
  return 0;
}

template <class Number>
void register_half(hid_t half, hid_t number) {
  H5Tregister(H5T_PERS_HARD, "from half", half, number, &convert_halves<Eigen::half, Number>);
  H5Tregister(H5T_PERS_HARD, "to half", number, half, &convert_halves<Number, Eigen::half>);
}

}  // namespace

Hdf5Handle hdf5_half_type() {
  Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  if (H5Tset_fields(type.id(), 15, 10, 5, 0, 10) < 0 || H5Tset_size(type.id(), 2) < 0 ||
      H5Tset_ebias(type.id(), 15) < 0)
    return {};
  return type;
}

void register_half_conversions() {
  const Hdf5Handle half = hdf5_half_type();
  if (!half.valid()) return;
  register_half<float>(half.id(), H5T_NATIVE_FLOAT);
  register_half<double>(half.id(), H5T_NATIVE_DOUBLE);
}

Hdf5Handle hdf5_text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.id(), H5T_VARIABLE) < 0 || H5Tset_cset(type.id(), H5T_CSET_UTF8) < 0)
    throw IoError(fmt::format("the type of texts cannot be made: {}", hdf5_reason()));
  return type;
}

Hdf5Texts::Hdf5Texts(const std::vector<std::string>& texts) {
  texts_.reserve(texts.size());
  for (const std::string& text : texts) {
    std::string& valid = texts_.emplace_back(valid_utf8(text));
    for (std::size_t at = valid.find('\0'); at != valid.npos; at = valid.find('\0', at)) valid.replace(at, 1, "\u2400");
    characters_.push_back(valid.c_str());
  }
}

std::string hdf5_type_text(hid_t type) {
  static const std::map<H5T_class_t, const char*> others{{H5T_STRING, "string"},
                                                         {H5T_OPAQUE, "opaque"},
                                                         {H5T_COMPOUND, "compound"},
                                                         {H5T_REFERENCE, "reference"},
                                                         {H5T_VLEN, "variable-length lists"},
                                                         {H5T_ARRAY, "arrays"},
                                                         {H5T_TIME, "time"}};
  const std::size_t bits = 8 * H5Tget_size(type);
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_INTEGER) return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
  if (kind == H5T_FLOAT) return fmt::format("{}float{}", is_brain_float(type) ? "b" : "", bits);
  if (kind == H5T_ENUM) return is_boolean(type) ? "bool" : "enum";
  if (kind == H5T_BITFIELD) return fmt::format("bitfield{}", bits);
  const auto found = others.find(kind);
  return found == others.end() ? "unknown" : found->second;
}

bool hdf5_is_number(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

Hdf5Extent hdf5_extent(hid_t space) {
  Hdf5Extent extent;
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_NULL) return extent;
  extent.entries = 1;
  extent.scalar = kind == H5S_SCALAR;
  if (extent.scalar) return extent;
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int axes = H5Sget_simple_extent_ndims(space);
  if (kind != H5S_SIMPLE || axes < 0 || axes > H5S_MAX_RANK ||
      H5Sget_simple_extent_dims(space, sizes.data(), nullptr) < 0)
    throw FormatError("the shape cannot be read");
  for (int axis = 0; axis < axes; ++axis) {
    constexpr auto largest = static_cast<hsize_t>(std::numeric_limits<Index>::max());
    const hsize_t size = sizes[static_cast<std::size_t>(axis)];
    if (size > largest || __builtin_mul_overflow(extent.entries, size, &extent.entries) || extent.entries > largest)
      throw FormatError("the shape has more entries than any file can hold");
    extent.shape.push_back(static_cast<Index>(size));
  }
  return extent;
}

std::vector<std::string> hdf5_strings(hid_t type, hid_t space, std::size_t most_bytes,
                                      const std::function<bool(hid_t, void*)>& read) {
  const std::size_t entries = hdf5_extent(space).entries;
  const std::size_t width = H5Tget_size(type);
  if (width == 0 || entries > most_bytes / width)
    throw FormatError(fmt::format("{} texts of {} bytes are more than is read", entries, width));
  if (entries == 0) return {};
  if (H5Tis_variable_str(type) > 0) return variable_strings(type, space, entries, read);
  std::vector<char> characters(entries * width);
  if (!read(type, characters.data())) fail_hdf5_read();
  std::vector<std::string> texts;
  texts.reserve(entries);
  for (std::size_t i = 0; i < entries; ++i)
    texts.push_back(unpadded(characters.data() + i * width, width, H5Tget_strpad(type)));
  return texts;
}

namespace {

constexpr std::size_t most_numbers = 4096;
constexpr std::size_t most_text = std::size_t{16} << 20U;
constexpr std::size_t most_attributes = 10'000;

std::vector<std::string> texts_of(hid_t attribute, hid_t type, hid_t space) {
  return hdf5_strings(type, space, most_text,
                      [attribute](hid_t memory, void* buffer) { return H5Aread(attribute, memory, buffer) >= 0; });
}

template <class Number>
std::vector<Number> numbers_of(hid_t attribute, hid_t memory, std::size_t entries) {
  std::vector<Number> numbers(entries);
  if (entries > 0 && H5Aread(attribute, memory, numbers.data()) < 0) fail_hdf5_read();
  return numbers;
}

bool fits_int64(hid_t type) {
  return H5Tget_class(type) != H5T_FLOAT && (H5Tget_size(type) < 8 || H5Tget_sign(type) != H5T_SGN_NONE);
}

Attribute value_of(hid_t attribute) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  if (!type.valid() || !space.valid()) fail_hdf5_read();
  const Hdf5Extent extent = hdf5_extent(space.id());
  if (H5Tget_class(type.id()) == H5T_STRING)
    return fmt::format("{}", fmt::join(texts_of(attribute, type.id(), space.id()), ", "));
  if (!hdf5_is_number(type.id()) || extent.entries > most_numbers)
    return extent.scalar ? fmt::format("({})", hdf5_type_text(type.id()))
                         : fmt::format("({}, {} entries)", hdf5_type_text(type.id()), extent.entries);
  if (!extent.scalar) return numbers_of<double>(attribute, H5T_NATIVE_DOUBLE, extent.entries);
  if (fits_int64(type.id())) return numbers_of<std::int64_t>(attribute, H5T_NATIVE_INT64, 1).front();
  return numbers_of<double>(attribute, H5T_NATIVE_DOUBLE, 1).front();
}

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  const auto keep = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
    auto& kept = *static_cast<std::vector<std::string>*>(list);
    if (kept.size() >= most_attributes) return 1;
    try {
      kept.emplace_back(name);
    } catch (...) {
      return -1;  // no exception may cross the C library
    }
    return 0;
  };
  // In a damaged file, attributes that were found before the library failed are still worth showing.
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep, &names) < 0 && hdf5_read_failed_by_system())
    fail_hdf5_read("attributes");
  return names;
}

void write(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value) {
  Hdf5Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || (value != nullptr && H5Awrite(attribute.id(), type, value) < 0) || !attribute.close())
    throw IoError(fmt::format("attribute '{}' cannot be written: {}", printable(name), hdf5_reason()));
}

Hdf5Handle list_space(std::size_t entries) {
  const hsize_t size = entries;
  // A list without entries has the null space, which netCDF and h5py show as an empty list.
  return {entries == 0 ? H5Screate(H5S_NULL) : H5Screate_simple(1, &size, nullptr), H5Sclose};
}

}  // namespace

Attributes hdf5_attributes(hid_t object) {
  Attributes attributes;
  for (const std::string& name : attribute_names(object)) {
    const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
    try {
      if (!attribute.valid()) fail_hdf5_read();
      attributes[name] = value_of(attribute.id());
    } catch (const FormatError&) {
      attributes[name] = "(cannot be read)";
    }
  }
  return attributes;
}

std::vector<std::string> hdf5_attribute_texts(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (!type.valid() || !space.valid() || H5Tget_class(type.id()) != H5T_STRING)
    throw FormatError(fmt::format("attribute '{}' must be text", printable(name)));
  return texts_of(attribute.id(), type.id(), space.id());
}

void write_hdf5_attribute(hid_t object, const std::string& name, const Attribute& value) {
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
  if (const auto* text = std::get_if<std::string>(&value)) {
    write(object, name, hdf5_text_type().id(), scalar.id(), Hdf5Texts({*text}).data());
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    write(object, name, H5T_NATIVE_INT64, scalar.id(), whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    write(object, name, H5T_NATIVE_DOUBLE, scalar.id(), real);
  } else {
    const auto& list = std::get<std::vector<double>>(value);
    write(object, name, H5T_NATIVE_DOUBLE, list_space(list.size()).id(), list.empty() ? nullptr : list.data());
  }
}

void write_hdf5_attribute_texts(hid_t object, const std::string& name, const std::vector<std::string>& texts) {
  write(object, name, hdf5_text_type().id(), list_space(texts.size()).id(),
        texts.empty() ? nullptr : Hdf5Texts(texts).data());
}

void write_hdf5_attribute_bytes(hid_t object, const std::string& name, const std::vector<std::uint8_t>& values) {
  write(object, name, H5T_NATIVE_UINT8, list_space(values.size()).id(), values.empty() ? nullptr : values.data());
}

}  // namespace headwave
