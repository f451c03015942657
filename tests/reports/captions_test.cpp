#include <algorithm>
#include <set>

#include "../../core/errors/error.h"
#include "../../reports/drawing/visible_text.h"
#include "../../reports/figures/chosen_heads.h"
#include "../../reports/figures/figures.h"
#include "../../reports/tables/run_sentence.h"
#include "../catch.h"
#include "drawn_figure.h"
#include "sample_result.h"

using namespace headwave;

namespace {

Result named_result() {
  Result result;
  result.provenance = {{"model", std::string("/home/a/minilm/model")},
                       {"model_family", std::string("bert")},
                       {"layers", std::int64_t{6}},
                       {"heads", std::int64_t{12}},
                       {"attention", std::string("self")},
                       {"documents", std::int64_t{20}},
                       {"length", std::int64_t{256}},
                       {"source", std::string("text")},
                       {"source_file", std::string("/data/wiki.txt")},
                       {"interventions", std::string("without-heads=L0H2")}};
  return result;
}

}  // namespace

TEST_CASE("captions: model, text and what was changed are named") {
  const Result result = named_result();
  const std::string run =
      "minilm/model (bert), 6 layers of 12 heads, self attention, over 20 documents of up to 256 tokens (text from "
      "wiki.txt), with without-heads=L0H2.";
  CHECK(run_sentence(result.provenance) == run);
  CHECK(run_sentence({}).empty());
  CHECK(run_sentence({{"model", std::string("bert")}, {"source", std::string("position table")}}) ==
        "bert (position table).");
  for (const FigureKind& one : figure_kinds()) CHECK(caption_of(one, result) == one.caption + " Model: " + run);
  CHECK(caption_of(kind_of_figure("redefined"), result) == kind_of_figure("redefined").caption + " Model: " + run);
}

TEST_CASE("captions: at a column's width every one is short, whichever heads are drawn") {
  Result result = sample::rotary_result({.layers = 6, .heads = 12});
  result.provenance = named_result().provenance;
  result.provenance.erase("interventions");
  const std::set<std::string> kept_heads{"attention_map"};  // of few heads
  FigureOptions options;
  options.width = 3.4;
  for (const FigureKind& one : figure_kinds())
    for (const char* heads : {"", "strongest:1", "strongest:6", "strongest:12"}) {
      options.heads.clear();
      if (*heads != '\0') options.heads = heads_asked_for(result, {heads});
      if (!options.heads.empty() && (!one.single_heads || kept_heads.contains(one.name))) continue;
      INFO(one.name << ' ' << heads);
      const Figure figure = one.draw(result, options);
      CHECK(display_width(caption_of(one, result, figure.shown)) <= (std::string(heads) == "strongest:1" ? 900 : 700));
    }
}

TEST_CASE("captions: what a file calls itself is text, on one line and not endless") {
  Result result = named_result();
  const std::vector<std::string> hostile{"<script>alert(1)</script>",
                                         "\"quoted\" 'and' `so`",
                                         "{}_^$&#%~\\end{figure}\\input{/etc/passwd}",
                                         "a\nb\tc\x1b[31m\x07",
                                         "\xE2\x80\xAEright to left\xE2\x81\xA6",
                                         "\xFF\xC3 no UTF-8",
                                         std::string(10000, 'w')};
  for (const std::string& name : hostile)
    for (const char* where : {"model", "model_family", "source", "source_file", "interventions", "attention"}) {
      INFO(where << ": " << visible_text(name).substr(0, 40));
      result = named_result();
      result.provenance[where] = name;
      const std::string text = visible_text(caption_of(kind_of_figure("offset_profile"), result));
      CHECK(text.size() < kind_of_figure("offset_profile").caption.size() + 600);
      CHECK(std::count(text.begin(), text.end(), '\n') == 0);
      for (const char* sign : {"\x1b", "\xE2\x80\xAE", "\xE2\x81\xA6", "\xFF"})
        CHECK(text.find(sign) == std::string::npos);
    }
}
