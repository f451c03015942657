// A trained model that copies (tests/golden/make_induction.py): the heads that do so by hand are named, and swaps confirm it.

#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../../reports/tables/head_sentence.h"
#include "../analysis/golden_json.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("induction heads of a trained model are named, and attention goes with the copied content") {
  const std::string folder = repository_file("tests/golden/induction");
  const nlohmann::json expected = golden_json("induction/expected.json");
  const JobInput input = ids_input({folder}, {folder + "/documents.json"});
  const std::vector<HeadSentence> heads = head_sentences(run_job(input.model, *input.source, {}));
  REQUIRE(heads.size() == 4);
  for (std::size_t head = 0; head < heads.size(); ++head) {
    const double after_copy = expected["after_copy"][head];  // attention on what followed an earlier copy, by hand
    CAPTURE(head, after_copy, heads[head].looks, heads[head].why, heads[head].follows);
    const bool named = heads[head].looks == "after an earlier copy";
    CHECK(named == (after_copy > 0.5));
    if (named) CHECK(std::stod(heads[head].follows) > 0.8);
    if (named) CHECK(heads[head].part[3] > 0.8 * heads[head].bits);
    if (!named) CHECK(heads[head].looks.find("1 back") != std::string::npos);
  }
}
