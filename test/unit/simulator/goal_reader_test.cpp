// SPDX-License-Identifier: BSD-3-Clause
// GOAL text: what the ranks do after reading it, and errors with line and column.
#include "simulator/loggops/goal_reader.h"

#include <doctest/doctest.h>

#include <string>

#include "simulator/loggops/replay.h"

namespace fathom::simulator {
namespace {

std::string error_of(const std::string& text) {
  const auto program = read_goal(text, "x.goal");
  return program.ok() ? "" : program.error().message;
}

TEST_CASE("a schedule with labels, dependencies, options and comments is read") {
  const auto program = read_goal(
      "// example\n"
      "num_ranks 2\n"
      "rank 0 {\n"
      "l1: calc 1500   /* first */\n"
      "l2: send 1024b to 1 tag 7 cpu 0 nic 0\n"
      "l2 requires l1\n"
      "l3: recv 8b from 1 tag 9\n"
      "l3 irequires l2\n"
      "calc 10 cpu 1\n"
      "}\n"
      "rank 1 {\n"
      "r: recv 1024b from -1 tag -1\n"
      "s: send 8b to 0 tag 9\n"
      "s requires r }\n",
      "x.goal");
  REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.error().message));
  CHECK(program->size() == 6);
  CHECK((*program)[5].rank == 1);
  const auto result =
      replay(*program, {.L = 1000, .o = 100, .g = 0, .G = 1, .O = 0, .S_bytes = 1e9});
  REQUIRE(result.ok());
  const double there = 1500 + 100 + 1000 + 1023 + 100;
  CHECK(result->ranks[1].end_ns == doctest::Approx(there + 100));
  CHECK(result->ranks[0].end_ns == doctest::Approx(there + 100 + 1000 + 7 + 100));
  CHECK(result->ranks[0].compute_ns == 1510);
}

TEST_CASE("errors name line and column and show the place") {
  CHECK(error_of("") == "x.goal:1:1: expected \"num_ranks\"\n  \n  ^");
  CHECK(error_of("num_ranks 1\nrank 1 {\n}")
            .find("x.goal:2:6: there are only 1 ranks\n  rank 1 {\n       ^") == 0);
  CHECK(error_of("num_ranks 2\nrank 0 {\na: send 8 to 1\n}").find("x.goal:3:11: expected \"b\"") ==
        0);
  CHECK(error_of("num_ranks 2\nrank 0 {\na requires b\n}")
            .find("x.goal:3:1: rank 0 has no label \"a\"") == 0);
  CHECK(error_of("num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n}")
            .find("x.goal:4:4: rank 0 has the label") == 0);
  CHECK(error_of("num_ranks 2\nrank 0 {\nsend 1b to -1\n}")
            .find("x.goal:3:12: expected a whole number") == 0);
  CHECK(error_of("num_ranks 2\nrank 0 {\nsend 1b to 1 nic 3\n}")
            .find("x.goal:3:18: expected a whole number up to 0") == 0);
  CHECK(error_of("num_ranks 2\nrank 0 {\ncalc 1 tag 3\n}").find("x.goal:3:8: expected cpu or") ==
        0);
  CHECK(error_of("num_ranks 2\nrank 0 {\ncalc 99999999999999999999\n}").find("x.goal:3:6:") == 0);
  CHECK(error_of("num_ranks 2\nrank 0 {\ncalc 1").find("no closing }") != std::string::npos);
  CHECK(error_of("num_ranks 2\nrank 0 {\nfoo\n}").find("expected calc, send, recv") !=
        std::string::npos);
  CHECK(error_of("num_ranks 2 /* open").empty());
  CHECK(read_goal_file("/nonexistent.goal").error().message.find("cannot be read") !=
        std::string::npos);
}

TEST_CASE("every beginning of a schedule is read or refused, whatever it ends in") {
  const std::string text =
      "num_ranks 3\nrank 2 {\nl1: recv 5b from -1 tag -1 cpu 2 nic 0 // x\nl1 requires l1\n}\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    for (const char* tail : {"", "-", "9", "\xff", "/*", "{"})
      read_goal(text.substr(0, length) + tail, "x").ok();
  }
}

}  // namespace
}  // namespace fathom::simulator
