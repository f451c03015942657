#pragma once

#include <cstdint>
#include <string>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// A colour 0xRRGGBB, or 0xTTRRGGBB with the transparency TT from 0x00, opaque, to 0xFF, invisible.
enum class Ink : std::uint32_t {};

/// The inks of all figures, named by their meaning. No figure has a colour of its own.
namespace ink {
constexpr Ink text{0x000000}, paper{0xFFFFFF};
constexpr Ink frame{0x404040}, base_line{0x808080};           ///< of panels; of small panels
constexpr Ink zero_line{0xB8B8B8}, pale_zero_line{0xD8D8D8};  ///< behind curves
constexpr Ink note{0x505050}, number{0x606060};               ///< words and numbers beside what is shown
constexpr Ink measured{0x0072B2}, undefined{0x808080};        ///< heads with a measured offset, and without
constexpr Ink mark{0xD55E00};                                 ///< the one number to look at
constexpr Ink chosen{0x808080};                               ///< the one of several values that was used
constexpr Ink chance{0x707070}, chance_area{0x808080};        ///< what chance reaches
constexpr Ink reference{0x909090};                            ///< what a curve is compared with
constexpr Ink guide{0x60FFFFFF}, faint_guide{0x70FFFFFF}, strong_guide{0x50FFFFFF};  ///< lines on heat maps
constexpr Ink broad{0xEFA15F};  ///< a broad line on which another may lie
constexpr Ink rest{0xCFCFCF};   ///< shares that belong to no kind
}  // namespace ink

/// Colour i of Okabe and Ito's eight, which colour-blind readers can tell apart; after these they repeat.
///
/// Source: Okabe and Ito 2008, Color Universal Design. The order is ours: strong colours first, yellow last.
Ink categorical(Index i);

/// Black or white, whichever is easier to read on an ink.
Ink text_on(Ink ink);

/// The colour as gnuplot reads it, "#0072B2".
std::string color_of(Ink ink);

/// gnuplot's `set palette` for amounts from zero: viridis, from dark to light in perceptually even steps.
///
/// Source: van der Walt and Smith 2015; ten colours, the rest interpolated.
std::string sequential_palette();

/// gnuplot's `set palette` for things in order, one colour each, from the same colours. The lightest are left
/// out because they are invisible on white paper.
/// @param steps  number of colours, at least 1
std::string step_palette(Index steps);

}  // namespace headwave
