#include "../../core/numbers/decimal_number.h"

#include <clocale>
#include <cmath>

#include "../catch.h"

using namespace headwave;

TEST_CASE("a decimal number is all of its text") {
  CHECK(decimal_number("12") == 12.0);
  CHECK(decimal_number("-0.1") == -0.1);
  CHECK(decimal_number(".5") == 0.5);
  CHECK(decimal_number("5.") == 5.0);
  CHECK(decimal_number("1e-3") == 0.001);
  CHECK(decimal_number("2.2250738585072014E-308") == 2.2250738585072014e-308);
  CHECK(decimal_number("0.30000000000000004") == 0.1 + 0.2);
  CHECK(std::signbit(*decimal_number("-0")));
  for (const char* text : {"", "+1", " 1", "1 ", "1,5", "0x10", "1e", "e5", "-", ".", "--1", "1.2.3", "inf", "-inf",
                           "nan", "1e400", "1MB"}) {
    INFO(text);
    CHECK_FALSE(decimal_number(text).has_value());
  }
}

TEST_CASE("a decimal number has a point in every locale") {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_NUMERIC, locale) != nullptr) CHECK(decimal_number("1.5") == 1.5);
  std::setlocale(LC_NUMERIC, before.c_str());
}
