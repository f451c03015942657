#include "../../job/run/document_pass.h"

#include <cmath>
#include <map>

#include "../../core/planted/planted.h"
#include "../catch.h"
#include "failing_source.h"
#include "quick_options.h"
#include "same_bits.h"

using namespace headwave;

namespace {

/// Everything that a job does, on few and short documents; one of another length.
struct Job {
  PlantedModel planted = planted_model(planted_bank());
  std::unique_ptr<Source> documents = planted_documents(planted, 4, 96, 1);
  JobOptions options = quick_options();

  [[nodiscard]] DocumentPass pass() const { return {planted.model, *documents, options, 1}; }
};

std::vector<Field> fields_of(DocumentPass& pass) {
  StageReport nobody({});
  return pass.fields(0, nobody);
}

}  // namespace

TEST_CASE("blocks of documents go through bytes, from passes that looked at them in any order") {
  Job job;
  job.documents = planted_documents(job.planted, 14, 64, 1);
  DocumentPass whole = job.pass(), one = job.pass(), other = job.pass(), together = job.pass();
  StageReport nobody({});
  whole.run(nobody);
  REQUIRE(whole.blocks().count() == 4);
  std::map<Index, std::string> bytes;
  const auto taken = [&](Index block, const BlockSums& sums) {
    ByteWriter writer;
    DocumentPass::write(writer, sums);
    bytes[block] = writer.taken();
  };
  for (DocumentPass* pass : {&one, &other, &together}) pass->prepare();
  one.run_blocks({1, 3}, taken);
  other.run_blocks({2, 0}, taken);
  for (const auto& [block, sums] : bytes) together.join(together.read_block(ByteReader(sums)));
  check_same_bits(fields_of(whole), fields_of(together));
}

TEST_CASE("bytes of a block that are cut short, or another job's, are refused") {
  const auto bytes_of = [](DocumentPass& pass) {
    pass.prepare();
    BlockSums block = pass.new_block();
    pass.add(block, pass.look(0));
    ByteWriter writer;
    DocumentPass::write(writer, block);
    return writer.taken();
  };
  const auto read = [](const DocumentPass& pass, std::string_view bytes) { return pass.read_block(ByteReader(bytes)); };
  const Job job;
  DocumentPass pass = job.pass();
  const std::string bytes = bytes_of(pass);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 97)
    CHECK_THROWS_AS(read(pass, std::string_view(bytes).substr(0, size)), FormatError);
  Job other;
  other.options.only = {"head_types"};
  DocumentPass narrow = other.pass();
  narrow.prepare();
  CHECK_THROWS_AS(read(narrow, bytes), FormatError);
  CHECK_THROWS_AS(read(pass, bytes + "x"), FormatError);
  // The last of these analyses looks at no documents: it finds nothing in one.
  other.options.only = {"position_atlas"};
  DocumentPass weights = other.pass();
  std::string found = bytes_of(weights);
  CHECK_NOTHROW(read(weights, found));
  found.back() = 1;
  CHECK_THROWS_WITH(read(weights, found), ContainsSubstring("an analysis that keeps none"));
}

TEST_CASE("a pass is refused with an analysis that is none, or a source whose first document cannot be read") {
  Job job;
  job.options.only = {"delays"};
  CHECK_THROWS_WITH(job.pass(),
                    ContainsSubstring("there is no analysis 'delays'; there are measured_offset, head_cluster,"));
  CHECK_THROWS_AS(DocumentPass(job.planted.model, FailingSource(*job.documents, 0), {}, 1), IoError);
}

TEST_CASE("a document that cannot be read, or does not fit the model, stops the pass whatever the threads") {
  const Job job;
  const FailingSource third(*job.documents, 2);
  for (const int threads : {1, 3}) {
    CAPTURE(threads);
    DocumentPass pass(job.planted.model, third, job.options, threads);
    StageReport nobody({});
    CHECK_THROWS_AS(pass.run(nobody), IoError);
    CHECK_NOTHROW(pass.look(1));
    CHECK_THROWS_WITH(pass.look(2), "document 2 cannot be read");
  }
  // The pass through the model: fewer positions than tokens.
  Model small = job.planted.model;
  const Matrix32 positions = small.stack.embedding.positions.topRows(95);
  small.stack.embedding.positions = positions;
  small.longest = 95;
  JobOptions landing;
  landing.only = {"head_types"};
  DocumentPass pass(small, *job.documents, landing, 2);
  StageReport nobody({});
  CHECK_THROWS_WITH(pass.run(nobody),
                    ContainsSubstring("planted words, document 0: 96 tokens, but the model has 95 positions"));
}

TEST_CASE("what the analyses find wrong stops the pass, before, while and after they look on") {
  Job job;
  StageReport nobody({});
  const Matrix32 broken = Matrix32::Constant(256, 256, std::nanf(""));
  Model model = job.planted.model;
  model.stack.blocks[1].self.query.weight = broken;
  DocumentPass waves(model, *job.documents, job.options, 2);
  CHECK_THROWS_WITH(waves.prepare(), ContainsSubstring("qk_svd: a weight is not finite"));
  job.options.only = {"head_types"};
  DocumentPass landing(model, *job.documents, job.options, 2);
  CHECK_THROWS_WITH(landing.run(nobody), ContainsSubstring("head types: an attention weight of query 0 is not finite"));
  job.options.only = {};
  job.options.level = 2000;  // no chance, even shared among the offsets
  DocumentPass whole = job.pass();
  whole.run(nobody);
  CHECK_THROWS_WITH(whole.fields(0, nobody),
                    ContainsSubstring("normal_quantile: expected a tail probability between 0 and 1, both"));
}
