// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.h"

#include <doctest/doctest.h>

namespace fathom::base {
namespace {

TEST_CASE("a duration is written in the unit that needs no leading zeros") {
  CHECK(duration_text(0) == "0 s");
  CHECK(duration_text(7e-9) == "7 ns");
  CHECK(duration_text(12.34e-6) == "12.3 us");
  CHECK(duration_text(4.567e-3) == "4.57 ms");
  CHECK(duration_text(0.25) == "250 ms");
  CHECK(duration_text(1.5) == "1.5 s");
  CHECK(duration_text(86'400) == "86400 s");
}

TEST_CASE("a duration that rounds to 1000 of a unit is written in the next") {
  CHECK(duration_text(999.4e-6) == "999 us");
  CHECK(duration_text(999.6e-6) == "1 ms");
  CHECK(duration_text(999.6) == "1000 s");
}

}  // namespace
}  // namespace fathom::base
