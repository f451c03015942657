// The views of a head, in the order in which they stand. A view is an entry here and is described elsewhere:
//   id, title, words   its name in the address, its heading, and a sentence on what it shows, or a function
//                      of the page and its arrays that gives one
//   needs              arrays of which the page must have at least one; absent: no array is needed
//   hasNothing(page)   true if the result has nothing to show
//   follows            parts of the address whose change draws the view again
//   show(context)      its parts, elements and plots: see drawParts()
// An array comes into the page by a name in page_data.cpp.

import { compositionView } from "./composition_view.js";
import { evidenceView } from "./evidence_view.js";
import { mapView } from "./map_view.js";
import { profileView } from "./profile_view.js";
import { sourcesView } from "./sources_view.js";
import { strongestView } from "./strongest_view.js";

export const views = [
  compositionView, evidenceView, profileView, mapView, strongestView, sourcesView,
];
