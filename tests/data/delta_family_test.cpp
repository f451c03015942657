// Models in which some layers mix tokens by gated delta nets: these layers have no heads.

#include "../../core/model/intervention.h"
#include "../../core/model/model_pass.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "test_files.h"

using namespace headwave;

TEST_CASE("layers without attention have no heads to change") {
  const Model model = open_model(family("qwen3-next"));
  CHECK_FALSE(model.stack.attends(0));
  CHECK(model.stack.attends(1));
  CHECK_FALSE(model.stack.attends(2));
  CHECK_THROWS_WITH(without_heads(model, {{0, 1}}), ContainsSubstring("layer 0 has no attention"));
  const Model without = without_heads(model, {{1, 1}});
  Document document;
  document.ids = {3, 1, 4, 1, 5, 9, 2, 6};
  CHECK(model_pass(without, document, {}, {.final_states = true}) !=
        model_pass(model, document, {}, {.final_states = true}));
}
