#pragma once

#include "hdf5_handle.h"

namespace headwave {

/// The type of IEEE 754's halves, as numpy stores them; invalid if the library refuses.
Hdf5Handle hdf5_half_type();

/// Lets the library convert between halves and floats or doubles as the processor does, to the nearest: by itself it takes
/// them apart bit by bit, 0.1 us for each. To be called within a session.
void quicken_hdf5_halves();

}  // namespace headwave
