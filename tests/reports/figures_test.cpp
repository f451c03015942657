#include "../../reports/figures/figures.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <sstream>

#include "../../core/fields/field_reader.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

Result without(const Result& result, const std::string& field) {
  Result rest = result;
  std::erase_if(rest.fields, [&](const Field& one) { return one.name == field; });
  return rest;
}

/// The Field without the last entry of an axis: it fits itself, and not the others.
void shorten(Field& field, std::size_t axis) {
  const auto size = static_cast<std::size_t>(field.axes[axis].size());
  std::size_t inner = 1;
  for (std::size_t next = axis + 1; next < field.axes.size(); ++next)
    inner *= static_cast<std::size_t>(field.axes[next].size());
  std::visit([](auto& values) { values.pop_back(); }, field.axes[axis].values);
  std::visit(
      [&](auto& values) {
        std::size_t entry = 0;
        std::erase_if(values, [&](const auto&) { return entry++ / inner % size == size - 1; });
      },
      field.values);
}

}  // namespace

TEST_CASE("figures: every kind in every format, with its caption") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  FigureOptions options;
  options.formats = {"pdf", "svg", "png"};
  const auto files = draw_figures(sample::result(), folder.path(), options);
  CHECK(files.size() == 4 * figure_kinds().size());
  for (const FigureKind& one : figure_kinds())
    for (const char* ending : {".pdf", ".svg", ".png", ".txt"}) {
      INFO(one.name << ending);
      const auto path = folder / (one.name + ending);
      CHECK(std::count(files.begin(), files.end(), path) == 1);
      REQUIRE(std::filesystem::exists(path));
      CHECK(std::filesystem::file_size(path) > 100);
    }
}

TEST_CASE("figures: kinds are named once and name their Fields, which captions do not") {
  std::set<std::string> names;
  for (const FigureKind& one : figure_kinds()) {
    names.insert(one.name);
    for (const auto* list : {&one.fields, &one.extras})
      for (const std::string& field : *list) {
        INFO(field);
        CHECK(sample::rotary_result().find(field) != nullptr);
        CHECK(one.caption.find(field) == std::string::npos);  // captions are for people
      }
  }
  CHECK(names.size() == figure_kinds().size());
}

TEST_CASE("figures: no text of the result reaches a script") {
  const Result result = sample::result();
  for (const FigureKind& one : figure_kinds()) {
    const std::string script = commands_of(one.draw(result, {}));
    for (const std::string& token : sample::awkward_tokens()) {
      INFO(one.name << ": " << token);
      if (token != "\n") CHECK(script.find(token) == std::string::npos);
    }
    CHECK(script.find('`') == std::string::npos);
    CHECK(script.find("friends") == std::string::npos);
  }
}

TEST_CASE("attention map: tokens are text in the SVG as they were, and each map is one image") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  draw_figures(sample::result(), folder.path());
  const std::string svg = sample::content_of(folder / "attention_map.svg");
  for (const char* text :
       {"]]&gt;&lt;b>&amp;\"", "日本", "a'b", "back\\slash", "%s %d", "{/Symbol a}", "$x", "`date`", "wwwwwwwwwww…",
        "␣leading sp…", "😀", "\\n", "\\t\\u001b[31m", "\"quoted\" # …", "L0H0", "L2H7", "attention weight"}) {
    INFO(text);
    CHECK(svg.find(std::string("<text>") + text + "</text>") + svg.find(std::string("<text>") + text + " </text>") !=
          2 * std::string::npos);
  }
  CHECK(svg.find("]]>") == std::string::npos);  // which no XML may hold in a text
  CHECK(svg.find_first_of("\x1b\x07") == std::string::npos);
  CHECK(count_of(svg, "<image ") == 5);
  CHECK(count_of(svg, "image-rendering:pixelated") == 5);
  CHECK(svg.find("sans-serif:Bold") == std::string::npos);
}

TEST_CASE("attention map: the cells are the weights") {
  const Result result = sample::result();
  FigureOptions options = asking_for({"L1H1"});
  options.tokens = 4;
  const Figure figure = kind_of_figure("attention_map").draw(result, options);
  const auto cells = drawn_as(figure.panels.front(), "image");
  REQUIRE((cells.size() == 1 && cells[0].rows.size() == 16 * 8 * 8));  // every cell a block of 8 x 8 pixels
  const auto& weights = result.at("attention_map/weight").doubles();
  const auto keys = column_of(cells[0], 0), queries = column_of(cells[0], 1), drawn = column_of(cells[0], 2);
  for (std::size_t i = 0; i < drawn.size(); ++i)  // L1H1 is the third map
    CHECK(drawn[i] == weights[2 * 225 + 15 * static_cast<std::size_t>(std::lround(queries[i])) +
                              static_cast<std::size_t>(std::lround(keys[i]))]);
}

TEST_CASE("attention map: a head without a map is an error that names those there are") {
  FigureOptions options;
  options.heads = {"L0H0", "L9H9"};
  CHECK_THROWS_WITH(kind_of_figure("attention_map").draw(sample::result(), options),
                    ContainsSubstring("attention_map/weight: 'L9H9' is not on the axis 'map_head', which has:"));
  CHECK_THROWS_WITH(kind_of_figure("attention_map").draw(sample::result(), options),
                    ContainsSubstring("'L9H9'") && ContainsSubstring("L0H0, L0H2, L1H1, L1H3, L2H7"));
  options.heads = {"L9"};
  CHECK_THROWS_AS(kind_of_figure("attention_map").draw(sample::result(), options), FormatError);
}

TEST_CASE("attention map: special tokens do not set the colours, and a window has its own positions") {
  Result result = sample::result();
  Field& weight = field_of(result, "attention_map/weight");
  auto& weights = std::get<std::vector<double>>(weight.values);
  for (std::size_t head = 0; head < 5; ++head)
    weights[225 * head] = weights[225 * head + 15] = 0.9;  // on the first token
  for (const char* axis : {"query", "key"})
    for (Field& field : result.fields)
      for (Axis& one : field.axes)
        if (field.group() == "attention_map" && one.name == axis)
          one = counting_axis(axis, "token", "position", 40, 54);
  FigureOptions options;
  options.heads = {"L0H0"};
  const std::string script = kind_of_figure("attention_map").draw(result, options).script();
  CHECK(script.find("0:0.9]") == std::string::npos);
  std::erase_if(result.fields, [](const Field& field) { return field.quantity().ends_with("special"); });
  CHECK(kind_of_figure("attention_map").draw(result, options).script().find("0:0.9]") != std::string::npos);
}

TEST_CASE("attention map: one colour scale for all, its largest weight above each, and no map too pale to be seen") {
  Result result = sample::result();
  auto& weights = std::get<std::vector<double>>(field_of(result, "attention_map/weight").values);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = i < 225 ? 0.8 : i < 450 ? 0.4 : 0.014;  // of L0H0, L0H2 and the others
  const std::string script = kind_of_figure("attention_map").draw(result, {}).script();
  CHECK(count_of(script, " with image") == 2);
  CHECK(count_of(script, "set cbrange [0:0.8]") == 2);
  CHECK(count_of(script, "\nset colorbox") == 1);
  CHECK(count_of(script, "set label \"0.4\"") == 1);
  const std::string pale = kind_of_figure("attention_map").draw(result, asking_for({"L1H1"})).script();
  CHECK(count_of(pale, "with image") == 1);
}

TEST_CASE("offset profile: under a causal mask there is no right half") {
  Result result = sample::result();
  const auto range = [&](const char* name) {
    const std::string script = kind_of_figure(name).draw(result, {}).script();
    return script.substr(script.find("set xrange ["), 26);
  };
  CHECK_THAT(range("offset_profile"), ContainsSubstring("[-16.5:16.5]"));
  result.provenance["attention"] = std::string("causal");
  CHECK_THAT(range("offset_profile"), ContainsSubstring("[-16.5:1.6]"));
  CHECK_THAT(range("word_profile"), ContainsSubstring("[-16.5:1.6]"));
}

TEST_CASE("attention map: of many maps those of the nine strongest heads are drawn") {
  Result result = sample::result();
  Field& weight = field_of(result, "attention_map/weight");
  std::vector<std::string> names;
  for (int l = 0; l < 4; ++l)
    for (int h = 0; h < 8; ++h) names.push_back("L" + std::to_string(l) + "H" + std::to_string(h));
  weight.axes[0].values = names;
  weight.values = std::vector<double>(32 * 225, 1.0 / 15);
  const std::string script = kind_of_figure("attention_map").draw(result, {}).script();
  CHECK(count_of(script, "with image") == 9);
  const std::vector<HeadName> table = heads_by_strength(result);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string name = head_name(table[i].layer, table[i].head);
    CAPTURE(name);
    CHECK(count_of(script, "\"" + name + "\"") == (i < 9 ? 1 : 0));
  }
}

TEST_CASE("offset profile: its numbers, a dot for every offset, grey where there is none") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  const Result result = sample::result();
  draw_figures(result, folder.path());
  const std::vector<double> looks = std::get<std::vector<double>>(looks_field(result)->values);
  const auto nowhere = static_cast<std::size_t>(std::ranges::count_if(looks, [](double t) { return std::isnan(t); }));
  const Figure figure = kind_of_figure("offset_profile").draw(result, {});
  REQUIRE(figure.panels.size() == 32);
  for (std::size_t head = 0; head < 32; ++head) {
    const Series line = drawn_as(figure.panels[head], "lines").front();
    const auto offsets = column_of(line, 0), curve = column_of(line, 1);
    REQUIRE(offsets.size() == 33);
    const auto weight = [&](double t) { return sample::weight_at(Index(head / 8), Index(head % 8), t); };
    double peak = 0;
    for (const double t : offsets) peak = std::max(peak, weight(t));
    for (std::size_t t = 0; t < offsets.size(); ++t) CHECK(curve[t] == Approx(weight(offsets[t]) / peak));
  }
  const std::string script = figure.script();
  CHECK(count_of(script, "point pt 7") == 32 - nowhere);
  CHECK(count_of(script, "filledcurves y=0 lc rgb \"#808080\"") == nowhere);
}

TEST_CASE("offset profile: works without measured offsets, and points to those out of sight") {
  const Result result = sample::result();
  const std::string bare =
      kind_of_figure("offset_profile").draw(without(result, "measured_offset/offset"), {}).script();
  CHECK(count_of(bare, "point pt") == 0);
  Result far = result;
  std::get<std::vector<double>>(field_of(far, "attention_bits/place_offset").values)[0] = -40;
  CHECK(kind_of_figure("offset_profile").draw(far, {}).script().find("← −40") != std::string::npos);
}

TEST_CASE("offset profile: a head is marked where the table says that it looks, not at another measured offset") {
  Result result = sample::result();
  values_of(result, "measured_offset/offset")[0] = 52;
  values_of(result, "attention_bits/place_offset")[0] = -1;
  const auto marks = [&](const char* head, const char* offset) {
    return count_of(kind_of_figure("offset_profile").draw(result, asking_for({head})).script(),
                    std::string("\"") + offset + "\" at");
  };
  CHECK(marks("L0H0", "−1") == 1);
  CHECK(count_of(kind_of_figure("offset_profile").draw(result, asking_for({"L0H1"})).script(), " point pt ") == 0);
  REQUIRE(std::isfinite(values_of(result, "measured_offset/offset")[1]));  // by words, whatever was measured
  std::erase_if(result.fields, [](const Field& field) {
    return field.name.starts_with("head_account/") || field.name.starts_with("attention_bits/");
  });
  CHECK(marks("L0H0", "+52 →") == 1);
}

TEST_CASE("clusters: pies, centroids and sweep are drawn from their numbers") {
  const Result result = sample::result();
  const Figure centroids = kind_of_figure("cluster_centroids").draw(result, {});
  const auto lines = drawn_as(centroids.panels.front(), "linespoints");
  REQUIRE(lines.size() == 6);
  for (std::size_t c = 0; c < 6; ++c)
    CHECK(column_of(lines[c], 1) ==
          std::vector(result.at("head_cluster/centroid").doubles().begin() + static_cast<Index>(21 * c),
                      result.at("head_cluster/centroid").doubles().begin() + static_cast<Index>(21 * (c + 1))));
  CHECK_THAT(centroids.script(), ContainsSubstring("0: −1, 25.8 %"));
  const Figure sweep = kind_of_figure("cluster_sweep").draw(result, {});
  REQUIRE(sweep.panels.size() == 3);
  CHECK(drawn_as(sweep.panels[1], "linespoints").front().rows.size() == 9);
  const auto& shares = result.at("head_cluster/share").doubles();
  const Figure pies = kind_of_figure("cluster_shares").draw(result, {});
  const auto slices = drawn_as(pies.panels.front(), "circles");
  REQUIRE(slices.size() == 6);
  for (std::size_t c = 0; c < 6; ++c)
    for (std::size_t row = 0; row < slices[c].rows.size(); ++row) {
      const auto number = [&](std::size_t column) { return column_of(slices[c], column)[row]; };
      const auto head = static_cast<std::size_t>(8 * number(1) + number(0));
      CHECK((number(4) - number(3)) / 360 == Approx(shares[6 * head + c]).margin(1e-12));
    }
}

TEST_CASE("figures: a kind whose Fields are missing is left out") {
  const Result whole = sample::rotary_result();
  CHECK(drawable(whole).kinds.size() == figure_kinds().size());
  for (const FigureKind& one : figure_kinds()) {
    INFO(one.name);
    CHECK(std::ranges::count(drawable(without(whole, one.fields.back())).kinds, &one) == 0);
  }
  const TemporaryFolder folder;
  CHECK(draw_figures(Result{}, folder / "none").empty());
}

TEST_CASE("figures: those asked for are drawn, and what is none, or not in the result, is refused by name") {
  const Result result = sample::result();
  const std::vector<const FigureKind*> kinds = drawable(result, {.only = {"offset_profile", "attention_map"}}).kinds;
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0]->name == "attention_map");
  CHECK(kinds[1]->name == "offset_profile");
  CHECK(drawable(result).kinds.size() > 2);
  CHECK_THROWS_WITH(drawable(result, {.only = {"offset_profil"}}).kinds,
                    ContainsSubstring("there is no figure 'offset_profil'") && ContainsSubstring("offset_profile"));
  CHECK_THROWS_WITH(drawable(without(result, "offset_trace/mean_weight"), {.only = {"offset_profile"}}).kinds,
                    ContainsSubstring("the figure offset_profile needs ") && ContainsSubstring("; expected one of "));
}

TEST_CASE("figures: extras are not needed") {
  for (const FigureKind& one : figure_kinds()) {
    Result result = sample::result();
    for (const std::string& extra : one.extras) result = without(result, extra);
    INFO(one.name);
    CHECK_NOTHROW(one.draw(result, {}));
  }
}

TEST_CASE("figures: grids of any size are drawn") {
  if (!sample::can_draw()) return;
  for (const auto& [layers, heads] : {std::pair<Index, Index>{1, 2}, {12, 12}, {6, 12}, {2, 1}}) {
    const TemporaryFolder folder;
    sample::Size size;
    size.layers = std::max<Index>(layers, 3);  // the sample's maps are of heads up to L2H7
    size.heads = std::max<Index>(heads, 8);
    size.length = 64;
    Result result = sample::result(size);
    if (layers < 3) {
      sample::Size small;
      small.layers = layers;
      small.heads = heads;
      small.length = 64;
      result = sample::result(small);
    }
    const auto files = draw_figures(result, folder.path());
    CHECK(files.size() == 2 * figure_kinds().size());
  }
}

TEST_CASE("figures: numbers that are not there leave gaps, not failures") {
  if (!sample::can_draw()) return;
  for (const double nothing : {std::nan(""), 0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    Result result = sample::result();
    for (Field& field : result.fields)
      if (auto* values = std::get_if<std::vector<double>>(&field.values))
        std::fill(values->begin(), values->end(), nothing);
    for (const FigureKind& one : figure_kinds()) {
      INFO(one.name << ' ' << nothing);
      CHECK(one.draw(result, {}).drawn(one.name, {"svg"}).size() == 1);
    }
  }
}

TEST_CASE("figures: Fields of another shape than described are refused by name") {
  for (const FigureKind& one : figure_kinds())
    for (const std::string& name : one.fields) {
      Result result = sample::result();
      Field& field = field_of(result, name);
      field.axes = {{"wrong", "1", "", std::vector<double>{1.0}}};
      INFO(name);
      CHECK_THROWS_WITH(one.draw(result, {}), ContainsSubstring(name));
      Result empty = sample::result();
      for (Field& other : empty.fields) {
        for (Axis& axis : other.axes) std::visit([](auto& values) { values.clear(); }, axis.values);
        std::visit([](auto& values) { values.clear(); }, other.values);
      }
      CHECK_THROWS_WITH(one.draw(empty, {}), ContainsSubstring("holds no values"));
    }
}

TEST_CASE("figures: one Field of fewer layers, heads or entries than the others is refused or drawn without them") {
  Index refused = 0;
  for (const FigureKind& one : figure_kinds())
    for (const auto* names : {&one.fields, &one.extras})
      for (const std::string& name : *names)
        for (std::size_t axis = 0; axis < sample::rotary_result().at(name).axes.size(); ++axis) {
          Result result = sample::result().find(name) != nullptr ? sample::result() : sample::rotary_result();
          shorten(field_of(result, name), axis);
          INFO(one.name << ": " << name << ", axis " << axis);
          try {
            (void)one.draw(result, {});
          } catch (const ShapeError& error) {
            ++refused;
            CHECK_THAT(error.what(), ContainsSubstring("/") || ContainsSubstring("spectrum: "));  // a Field is named
          }
        }
  CHECK(refused > 40);
}

TEST_CASE("figures: as wide as asked for, and on paper no taller than a page") {
  const Result result = sample::result({.layers = 12, .heads = 16});
  for (const double width : {2.0, 3.4, 7.0})
    for (const FigureKind& one : figure_kinds()) {
      INFO(one.name << " " << width);
      FigureOptions options;
      options.width = width;
      const Figure figure = one.draw(result, options);
      if (width > 2) CHECK(figure.grid.width() == Approx(width).epsilon(1e-9));
      if (width > 2) CHECK(figure.grid.height() <= 9 + 1e-9);
    }
}

TEST_CASE("figures: what a page does not hold is left out, and the figure says so") {
  const Result result = sample::result({.layers = 12, .heads = 16});
  FigureOptions options;
  const auto drawn = [&](const char* name) { return kind_of_figure(name).draw(result, options); };
  CHECK(drawn("offset_profile").panels.size() == 12 * 16);
  options.width = 3.4;
  const Figure column = drawn("offset_profile");
  CHECK(column.panels.size() < 12 * 16);
  CHECK(column.shown == std::to_string(column.panels.size()) + " of 192 heads are shown, the strongest.");
  CHECK(count_of(column.script(), "\"L0H0\"") == 1);  // adjacent
  for (int head = 0; head < 16; ++head) options.heads.push_back("L3H" + std::to_string(head));
  CHECK_THAT(drawn("redefined").shown, ContainsSubstring("of 192 heads are shown."));
  options.width = 0;
  CHECK(drawn("redefined").panels.size() == 2 * 16);
  CHECK(drawn("offset_profile").panels.size() == 16);
}

TEST_CASE("figures: profiles of short documents end where their offsets end") {
  Result result = sample::result();
  Field& field = field_of(result, "offset_trace/mean_weight");
  const std::vector<double> offsets = coordinates(field, "offset");
  auto& weights = std::get<std::vector<double>>(field.values);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (std::abs(offsets[i % offsets.size()]) > 6) weights[i] = std::nan("");
  CHECK_THAT(kind_of_figure("offset_profile").draw(result, {}).script(), ContainsSubstring("set xrange [-6.5:"));
}

TEST_CASE("figures: heads are shown by figures of single heads") {
  const Result result = sample::rotary_result();
  for (const FigureKind& one : figure_kinds()) {
    INFO(one.name);
    const FigureOptions options = asking_for({"L1H1"});
    if (!one.single_heads || (one.silent != nullptr && !one.silent(result, options).empty()))
      continue;  // of other heads
    const std::string script = one.draw(result, options).script();
    CHECK(count_of(script, "L1H1") > 0);
    CHECK(count_of(script, "\"L0H0\"") == 0);
  }
}

TEST_CASE("figures: those that would show nothing are not drawn unless they are named, and a line says why") {
  Result result = sample::result();
  CHECK(drawable(result).undrawn.empty());
  const auto fill = [&](const char* name, double number) {
    auto& values = std::get<std::vector<double>>(field_of(result, name).values);
    std::fill(values.begin(), values.end(), number);
  };
  fill("measured_offset/offset", std::nan(""));
  fill("head_cluster/centroid", 1);
  fill("rotary_wave/estimate", std::nan(""));
  const std::vector<std::string> lines = drawable(result).undrawn;
  for (const char* line : {"no head has a measured offset: redefined, phase_spectrum",
                           "no cluster of heads prefers an offset: cluster_centroids, cluster_shares",
                           "every number is undefined: rotary_wave"}) {
    INFO(line);
    CHECK(std::ranges::count(lines, line) == 1);
  }
  CHECK(drawable(result).kinds.size() == figure_kinds().size() - 5);
  CHECK(drawable(result, {.only = {"redefined"}}).kinds.size() == 1);
  CHECK(drawable(result, {.only = {"redefined"}}).undrawn.empty());
}

TEST_CASE("figures: all of them are drawn on a narrow page") {
  if (!sample::can_draw()) return;
  const TemporaryFolder folder;
  FigureOptions options;
  options.width = 3.4;
  CHECK(draw_figures(sample::result(), folder.path(), options).size() == 2 * figure_kinds().size());
}

TEST_CASE("figures: a page that is too narrow is refused before anything is drawn") {
  const TemporaryFolder folder;
  FigureOptions options;
  options.width = 1;
  CHECK_THROWS_AS(draw_figures(sample::result(), folder / "figures", options), FormatError);
  CHECK_FALSE(std::filesystem::exists(folder / "figures"));
}

TEST_CASE("figures: none names a colour or a font of its own") {
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("reports/figures"))) {
    const std::string source = sample::content_of(entry.path());
    INFO(entry.path());
    for (const char* words : {"\"#", " rgb ", "sans-serif", "font \\\"", "\"set ", "\\nset "}) {
      INFO(words);
      CHECK(source.find(words) == std::string::npos);
    }
  }
}
