#include "../../data/files/packed_text.h"

#include "../catch.h"

using namespace headwave;

// Python: base64.b64encode(zlib.compress(...)), whose header says with what level: the same here.
TEST_CASE("packed text: zlib, then base64 with padding") {
  CHECK(packed_text("") == "eJwDAAAAAAE=");
  CHECK(packed_text("a") == "eJxLBAAAYgBi");
  CHECK(packed_text("wave wave wave wave") == "eJwrTyxLVShHIQBIDQct");
}

TEST_CASE("packed text: any bytes, in letters that a page may hold") {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * i % 251);
  const std::string text = packed_text(bytes);
  CHECK(text.size() % 4 == 0);
  CHECK(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == text.npos);
  CHECK(packed_text(std::string(100000, 'x')).size() < 300);
}
