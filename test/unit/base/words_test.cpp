// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "base/words.h"

namespace fathom::base {
namespace {

TEST_CASE("numbers, words and the rest of a line are read, whatever blanks are between them") {
  Words words("  3 -17 18446744073709551615 - a path with  blanks ");
  std::uint32_t number = 0;
  std::int64_t negative = 0;
  std::uint64_t largest = 0;
  CHECK(words.next(number));
  CHECK(words.next(negative));
  CHECK(words.next(largest));
  CHECK(number == 3);
  CHECK(negative == -17);
  CHECK(largest == std::numeric_limits<std::uint64_t>::max());
  CHECK(words.next() == "-");
  CHECK(words.rest() == "a path with  blanks ");
  CHECK(words.rest() == "a path with  blanks ");
}

TEST_CASE("nothing is read at the end of a line, or from a word that is no such number") {
  std::uint32_t number = 7;
  for (const char* line : {"", "  ", "x", "1x", "-1", "4294967296", "1.5"}) {
    CAPTURE(line);
    CHECK_FALSE(Words(line).next(number));
    CHECK(number == 7);
  }
  Words words("last");
  CHECK(words.next() == "last");
  CHECK(words.next().empty());
  CHECK(words.rest().empty());
}

TEST_CASE("fields may be empty, and hold blanks") {
  Words words("a name\t\tbound to\t 1.5 -2e3 inf");
  CHECK(words.field('\t') == "a name");
  CHECK(words.field('\t').empty());
  CHECK(words.field('\t') == "bound to");
  double value = 0;
  CHECK(words.next(value));
  CHECK(value == 1.5);
  CHECK(words.next(value));
  CHECK(value == -2000);
  CHECK(words.next(value));
  CHECK(value == std::numeric_limits<double>::infinity());
  CHECK_FALSE(words.next(value));
}

}  // namespace
}  // namespace fathom::base
