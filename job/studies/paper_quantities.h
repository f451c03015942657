#pragma once

#include "quantity_table.h"
#include "run_readings.h"

namespace headwave {

/// Measures what the paper reports of a run without interventions: head kinds, the positions and their spectrum, hidden
/// states by layer, and where heads with an offset are.
///
/// The mathematics is in analysis/; here it is only said which Field each quantity is read from. A Field that the run
/// does not have leaves its quantities NaN.
/// @param named  whether the heads that the paper names are looked at as well: on the model that they belong to
/// @throws ShapeError as RunReadings
void add_paper_quantities(QuantityTable& table, const RunReadings& run, bool named);

}  // namespace headwave
