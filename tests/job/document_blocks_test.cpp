#include "../../job/run/document_blocks.h"

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("blocks of documents have four at least, are 64 at most, and hold every document once") {
  for (const Index documents : {1, 3, 4, 5, 20, 100, 255, 256, 257, 300, 1000, 100000}) {
    CAPTURE(documents);
    const DocumentBlocks blocks(documents);
    CHECK(blocks.count() >= 1);
    CHECK(blocks.count() <= 64);
    CHECK(blocks.first(0) == 0);
    CHECK(blocks.first(blocks.count()) == documents);
    for (Index block = 0; block < blocks.count(); ++block) {
      const Index first = blocks.first(block), end = blocks.first(block + 1);
      CHECK(first < end);
      if (block + 1 < blocks.count()) CHECK(end - first >= 4);
      CHECK(blocks.of(first) == block);
      CHECK(blocks.of(end - 1) == block);
      CHECK(blocks.ends_with(end - 1));
      if (end - first > 1) CHECK_FALSE(blocks.ends_with(first));
    }
  }
  CHECK(DocumentBlocks(100).count() == 25);
  CHECK(DocumentBlocks(256).count() == 64);
  CHECK(DocumentBlocks(257).count() == 52);  // of five, and one of two
}

TEST_CASE("parts hold every block once, as equal as they can be, and more parts than blocks are refused") {
  const DocumentBlocks blocks(100);
  for (Index parts = 1; parts <= 25; ++parts) {
    CAPTURE(parts);
    Index next = 0, least = 25, most = 0;
    for (Index part = 1; part <= parts; ++part) {
      const BlockRange range = part_of(blocks, part, parts);
      CHECK(range.first == next);
      next = range.end;
      least = std::min(least, range.end - range.first);
      most = std::max(most, range.end - range.first);
    }
    CHECK(next == 25);
    CHECK(least >= 1);
    CHECK(most - least <= 1);
  }
  CHECK_THROWS_WITH(part_of(blocks, 1, 26),
                    ContainsSubstring("the job's 100 documents form 25 blocks, which cannot be divided into 26"));
  CHECK_THROWS_WITH(part_of(blocks, 3, 40),
                    ContainsSubstring("100 documents form 25 blocks") && ContainsSubstring("40 parts"));
}
