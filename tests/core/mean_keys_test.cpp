#include "../../core/model/intervention.h"
#include "../catch.h"
#include "tiny_rotary_model.h"

using namespace headwave;

namespace {

class Documents : public Source {
 public:
  explicit Documents(std::vector<Document> documents) : documents_(std::move(documents)) {}
  [[nodiscard]] Index count() const override { return static_cast<Index>(documents_.size()); }
  [[nodiscard]] Document document(Index i) const override { return documents_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Index length(Index i) const override { return document(i).length(); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  std::vector<Document> documents_;
};

RotaryOptions rotary_options() {
  RotaryOptions options;
  options.channels = 4;
  return options;
}

Documents some_documents() {
  return Documents({words({3, 7, 1, 9, 9}), words({2, 0, 19}), words({11, 12, 13, 14, 15, 16, 17})});
}

}  // namespace

TEST_CASE("mean keys are the keys' means over the documents that reach a position, before they turn") {
  for (const int threads : {1, 3}) {
    const TinyRotaryModel tiny(rotary_options());
    const Documents documents = some_documents();
    const Model changed = mean_keys(tiny.model, documents, {{0, 2}, {0, 3}}, {AttentionKind::self, threads});
    Matrix sum = Matrix::Zero(7, 6);
    for (Index i = 0; i < 3; ++i) {
      const SeenAttention seen(tiny.model, documents.document(i), 0);
      sum.topRows(seen.key.rows()) += seen.key.rightCols(6).cast<double>();
    }
    const Vector reached = (Vector(7) << 3, 3, 3, 2, 2, 1, 1).finished();
    const Matrix32 mean = (sum.array().colwise() / reached.array()).cast<float>();
    const Document other = words({8, 8, 4, 10});
    const SeenAttention is(changed, other, 0), was(tiny.model, other, 0);
    CHECK(is.key.rightCols(6) == mean.topRows(4));
    CHECK(is.key.leftCols(6) == was.key.leftCols(6));
    CHECK(is.query == was.query);
    CHECK(is.scores[0] == was.scores[0]);
    CHECK_FALSE(is.scores[2].isApprox(was.scores[2], 0.01F));
    CHECK(SeenAttention(changed, other, 1).key.allFinite());
  }
}

TEST_CASE("where all documents are the same, mean keys change nothing") {
  const TinyRotaryModel tiny(rotary_options());
  const Document document = words({3, 7, 1, 9, 9});
  const Model changed = mean_keys(tiny.model, Documents({document, document}), {{0, 0}, {0, 1}, {1, 2}, {1, 3}});
  CHECK(model_pass(changed, document, {}, {.final_states = true}) ==
        model_pass(tiny.model, document, {}, {.final_states = true}));
}

TEST_CASE("means of later layers are of the model before any key was replaced") {
  const TinyRotaryModel tiny(rotary_options());
  const Model both = mean_keys(tiny.model, some_documents(), {{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  const Model later = mean_keys(tiny.model, some_documents(), {{1, 0}, {1, 1}});
  const Document document = words({5, 6, 7});
  CHECK(SeenAttention(both, document, 1).key.leftCols(6) == SeenAttention(later, document, 1).key.leftCols(6));
}

TEST_CASE("a turned head with mean keys is the same as a head with mean keys that is turned") {
  const TinyRotaryModel tiny(rotary_options());
  const Documents documents = some_documents();
  const std::vector<HeadName> heads{{0, 0}, {0, 1}};
  const Document document = words({5, 6, 7, 6});
  CHECK(SeenAttention(turned(mean_keys(tiny.model, documents, heads), {{0, 1}}, 2), document, 0).scores[1] ==
        SeenAttention(mean_keys(turned(tiny.model, {{0, 1}}, 2), documents, heads), document, 0).scores[1]);
}

TEST_CASE("mean keys in an encoder-decoder are those of the kind that is named") {
  TinyRotaryModel tiny(rotary_options());
  tiny.model.stack.block.causal = false;
  tiny.model.decoder = tiny.stack(true);
  tiny.model.decoder->block.causal = true;
  std::vector<Document> pairs{words({3, 7, 1, 9}), words({11, 12, 13})};
  pairs[0].target = words({4, 4, 8, 2, 6});
  pairs[1].target = words({9, 0});
  for (const AttentionKind kind : tiny.model.kinds()) {
    const Model changed = mean_keys(tiny.model, Documents(pairs), {{1, 0}, {1, 1}}, {kind, 1});
    for (const AttentionKind other : tiny.model.kinds()) {
      CAPTURE(name_of(kind), name_of(other));
      const Matrix32 first = SeenAttention(changed, pairs[0], 1, other).key.leftCols(6);
      const Matrix32 second = SeenAttention(changed, pairs[1], 1, other).key.leftCols(6);
      const bool same = first.topRows(2) == second.topRows(2);
      CHECK(same == (kind == other));
    }
  }
}

TEST_CASE("mean keys refuse what they cannot be taken of, or used for") {
  const TinyRotaryModel tiny(rotary_options());
  const Documents documents = some_documents();
  CHECK_THROWS_WITH(mean_keys(tiny.model, documents, {{0, 2}}),
                    ContainsSubstring("L0H2 reads the same keys as L0H3; name all of them: L0H2,L0H3"));
  CHECK_THROWS_WITH(mean_keys(tiny.model, documents, {{2, 0}, {2, 1}}), ContainsSubstring("there is no L2H0"));
  CHECK_THROWS_WITH(mean_keys(tiny.model, Documents({words({1, 2, 3})}), {{0, 0}, {0, 1}}),
                    ContainsSubstring("give two or more"));
  const Model changed = mean_keys(tiny.model, documents, {{1, 0}, {1, 1}});
  Document longer = words(std::vector<std::int32_t>(8, 3));
  longer.name = "text.txt, document 4";
  CHECK_THROWS_WITH(model_pass(changed, longer, {}),
                    ContainsSubstring("text.txt, document 4: 8 tokens, but keys of layer 1 are fixed at 7 positions"));
  Document stored;
  stored.stored.push_back({0, {}, Matrix32::Zero(3, 24), Matrix32::Zero(3, 12)});
  CHECK_THROWS_WITH(mean_keys(tiny.model, Documents({stored, stored}), {{1, 0}, {1, 1}}),
                    ContainsSubstring("no document has keys of layer 1"));
}
