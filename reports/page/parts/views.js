// The views of a head, in the order in which they stand. A view is one module and one line here:
//   id, title, words   its name in the address, its heading, and what it shows in a sentence, or a function of the page and
//                      its arrays that says it
//   wide               whether it takes the whole width
//   needs              arrays of the page of which one at least must be there; none: it is always there,
//   hasNothing(page)   but where this says that there is nothing to show
//   follows            parts of the address at which it is drawn anew
//   draw(box, context) fills the box, and gives a function that shows what is marked elsewhere
// What an array needs to come into the page is a line in page_data.cpp.

import { bandsView } from "./bands_view.js";
import { checkpointsView } from "./checkpoints_view.js";
import { comparisonView } from "./comparison_view.js";
import { delaysView } from "./delays_view.js";
import { linesView } from "./lines_view.js";
import { mapView } from "./map_view.js";
import { phasesView } from "./phases_view.js";
import { predictionsView } from "./predictions_view.js";
import { profileView } from "./profile_view.js";
import { wavesView } from "./waves_view.js";

export const views = [comparisonView, checkpointsView, profileView, mapView, linesView, predictionsView, bandsView, delaysView, phasesView, wavesView];
