#pragma once

#include <cstdint>
#include <string>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// A colour 0xRRGGBB, or 0xTTRRGGBB with the transparency TT from 0x00, opaque, to 0xFF, invisible.
enum class Ink : std::uint32_t {};

/// The inks of all figures, named by their meaning. Figures use only these colours and the palettes below.
namespace ink {
constexpr Ink text{0x000000}, paper{0xFFFFFF};
constexpr Ink frame{0x404040}, base_line{0x808080};           ///< frame of a panel; line below a small panel
constexpr Ink zero_line{0xB8B8B8}, pale_zero_line{0xD8D8D8};  ///< behind curves
constexpr Ink note{0x505050}, number{0x606060};               ///< texts and numbers beside what is shown
constexpr Ink measured{0x0072B2}, undefined{0x808080};        ///< heads with a measured offset; heads without one
constexpr Ink mark{0xD55E00};                                 ///< the most important number of a panel
constexpr Ink chosen{0x808080};                               ///< the value that was used, among several
constexpr Ink chance{0x707070}, chance_area{0x808080};        ///< values that chance reaches
constexpr Ink reference{0x909090};                            ///< a curve to compare with
constexpr Ink guide{0x60FFFFFF}, faint_guide{0x70FFFFFF}, strong_guide{0x50FFFFFF};  ///< lines on heat maps
constexpr Ink broad{0xEFA15F};  ///< a broad line below another line
constexpr Ink rest{0xCFCFCF};   ///< shares that belong to no kind
}  // namespace ink

/// Colour i of Okabe and Ito's eight, which colour-blind readers can tell apart. From i = 8 on, colours
/// repeat.
///
/// Source: Okabe and Ito 2008, Color Universal Design. The order is this project's: strong colours first,
/// yellow last.
Ink categorical(Index i);

/// Black or white, whichever is easier to read on a background of this ink.
Ink text_on(Ink ink);

/// The colour in gnuplot's syntax: "#0072B2".
std::string color_of(Ink ink);

/// gnuplot's `set palette` for amounts from zero: viridis, from dark to light in perceptually even steps.
///
/// Source: van der Walt and Smith 2015; ten of their colours, between which gnuplot interpolates.
std::string sequential_palette();

/// gnuplot's `set palette` command for things in an order, such as layers, with one colour of viridis for
/// each. The lightest colours of viridis are left out because they are invisible on white paper.
/// @param steps  number of colours, at least 1
std::string step_palette(Index steps);

}  // namespace headwave
