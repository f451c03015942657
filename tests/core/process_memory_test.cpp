#include "../../core/process/process_memory.h"

#include "../catch.h"

using namespace headwave;

TEST_CASE("free memory: processes that share a machine have a part of it each") {
  const std::int64_t alone = free_memory();
  REQUIRE(alone > 0);
  share_free_memory(16);
  const std::int64_t part = free_memory();
  share_free_memory(1);
  CHECK(part > 0);
  CHECK(part < alone / 4);  // other programs take and give meanwhile
  CHECK(free_memory() > 4 * part);
}
