#include "../../reports/drawing/whole_figure.h"

#include "../../reports/figures/figures.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

TEST_CASE("whole figure: whatever is missing of a file is seen, at its end and in between") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  FigureOptions options;
  options.keep_data = false;
  for (const auto& path : draw_figures(sample::result(), folder.path(), options)) {
    INFO(path);
    const std::string format = path.extension().string().substr(1);
    const std::string whole = sample::content_of(path);
    CHECK(is_whole_figure(whole, format));
    CHECK_FALSE(is_whole_figure("", format));
    for (std::size_t part = 1; part < 16; ++part)
      CHECK_FALSE(is_whole_figure(whole.substr(0, part * whole.size() / 16), format));
    // A page of what was written is lost. In an SVG it may begin and end alike, and be a curve or two.
    if (format == "svg" || whole.size() < 3 * 4096) continue;
    for (std::size_t at = 4096; at + 4096 < whole.size(); at += 4096)
      CHECK_FALSE(is_whole_figure(whole.substr(0, at) + whole.substr(at + 4096), format));
  }
}

TEST_CASE("whole figure: elements of an SVG are closed in order") {
  CHECK(is_whole_figure("<?xml version=\"1.0\"?>\n<!-- a > b -->\n<svg a=\"b\">\n<g ><path d=\"M1\"/></g>\n</svg>\n",
                        "svg"));
  CHECK_FALSE(is_whole_figure("<svg><g></svg>", "svg"));
  CHECK_FALSE(is_whole_figure("<svg><g><h></g></h></svg>", "svg"));
  CHECK_FALSE(is_whole_figure("<svg><g></g></svg></svg>", "svg"));
  CHECK_FALSE(is_whole_figure("<svg><path d=\"M1<g/></svg>", "svg"));
  CHECK_FALSE(is_whole_figure("<svg></svg>", "gif"));
}
