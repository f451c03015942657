#include <algorithm>

#include "../../core/model/embedding.h"
#include "../../core/model/layer_positions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

Matrix32 random_rows(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return Matrix::NullaryExpr(rows, cols, [&] { return random.normal(); }).cast<float>();
}

WordTable by_row(const Matrix32& rows) {
  return {rows.rows(), rows.cols(), [&rows](Index first, Index count, float* out) {
            std::copy_n(rows.row(first).data(), count * rows.cols(), out);
          }};
}

}  // namespace

TEST_CASE("words that are read row by row are those that lie in memory") {
  const Matrix32 rows = random_rows(50, 6, 1), positions = random_rows(9, 6, 2);
  CHECK(WordTable().empty());
  const WordTable read = by_row(rows);
  CHECK_FALSE(read.empty());
  CHECK((read.rows() == 50 && read.cols() == 6 && read.size() == 300));
  CHECK(read.copied(3, 4) == rows.middleRows(3, 4));
  CHECK_THROWS_WITH(read.in_memory(),
                    ContainsSubstring("the word embeddings are read row by row, but they are needed in memory as"));
  CHECK(WordTable(rows).in_memory() == rows);
  const Matrix32 wider = random_rows(50, 8, 3);
  CHECK(WordTable(MatrixView32(wider.leftCols(6))).copied(48, 2) == wider.bottomLeftCorner(2, 6));

  // A model does with them what it does with a table in memory.
  Stack in_memory;
  in_memory.embedding.words = rows;
  in_memory.embedding.positions = positions;
  in_memory.embedding.word_scale = 1.5F;
  in_memory.blocks.resize(1);
  Stack by_rows = in_memory;
  by_rows.embedding.words = read;
  TokenSequence tokens;
  const std::vector<std::int32_t> ids{7, 0, 49, 7};
  tokens.ids = ids;
  CHECK(embedded_tokens(by_rows.embedding, tokens, "") == embedded_tokens(in_memory.embedding, tokens, ""));
  CHECK(EmbeddingMeans(by_rows, 9).positions(0) == EmbeddingMeans(in_memory, 9).positions(0));
}
