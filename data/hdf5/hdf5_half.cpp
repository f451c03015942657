#include "hdf5_half.h"

#include <cstddef>
#include <cstring>

#include <Eigen/Core>

namespace headwave {

namespace {

/// A conversion of the library, in place: entries lie `stride` bytes apart, or, where it is 0, one after another, before
/// with the size of From and after with that of To.
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
void quicken(hid_t half, hid_t number) {
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

void quicken_hdf5_halves() {
  const Hdf5Handle half = hdf5_half_type();
  if (!half.valid()) return;
  quicken<float>(half.id(), H5T_NATIVE_FLOAT);
  quicken<double>(half.id(), H5T_NATIVE_DOUBLE);
}

}  // namespace headwave
