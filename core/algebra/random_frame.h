#pragma once

#include "../numbers/matrix.h"
#include "../numbers/random.h"

namespace headwave {

/// Orthonormal columns, every frame as likely as any other: the Q of a matrix of normal numbers, its signs made unique.
///
/// Source: Mezzadri 2007, How to generate random matrices from the classical compact groups, Notices of the AMS 54.
/// @returns (rows, columns)
/// @throws ShapeError if there are more columns than rows
Matrix random_frame(Index rows, Index columns, Random& random);

}  // namespace headwave
