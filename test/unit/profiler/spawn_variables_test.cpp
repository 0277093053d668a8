// SPDX-License-Identifier: BSD-3-Clause
// What a job hands over to the jobs that it spawns, beside what the program itself gives them.
#include "profiler/process/spawn_variables.h"

#include <doctest/doctest.h>

namespace fathom::profiler {
namespace {

const std::string kOwn = "/opt/libfathom.so";
const std::vector<std::string_view> kEnvironment = {
    "HOME=/root", "FATHOM_OUTPUT=/r", "LD_PRELOAD=/theirs.so:/opt/libfathom.so", "FATHOM_LOG=info"};

TEST_CASE("a program that gives its children nothing") {
  const SpawnVariables handed = spawn_variables({}, kEnvironment, kOwn);
  CHECK(handed.env.empty());
  CHECK(handed.pmix_envar == "FATHOM_OUTPUT=/r\nFATHOM_LOG=info\nLD_PRELOAD=/opt/libfathom.so");
}

TEST_CASE("variables of the program keep their values") {
  const SpawnVariables handed =
      spawn_variables({"A=1\nFATHOM_OUTPUT=/other", "B= 2 "}, kEnvironment, kOwn);
  CHECK(handed.env == "A=1\nFATHOM_OUTPUT=/other");
  CHECK(handed.pmix_envar == "B= 2 \nFATHOM_LOG=info\nLD_PRELOAD=/opt/libfathom.so");
}

TEST_CASE("libraries that the program preloads into its children stay in front") {
  const SpawnVariables both = spawn_variables({"LD_PRELOAD=/a.so:/b.so", ""}, {}, kOwn);
  CHECK(both.env.empty());
  CHECK(both.pmix_envar == "LD_PRELOAD=/a.so:/b.so:/opt/libfathom.so");
  const SpawnVariables again =
      spawn_variables({"", "LD_PRELOAD=/opt/libfathom.so:/a.so\nA=1"}, {}, kOwn);
  CHECK(again.pmix_envar == "A=1\nLD_PRELOAD=/opt/libfathom.so:/a.so");
}

TEST_CASE("the overlay's library and a sanitizer's runtime are handed over in their order") {
  const SpawnVariables handed = spawn_variables(
      {}, {"LD_PRELOAD=libasan.so.8:/tool.so:/opt/libfathom.so:/opt/libfathom-overlay.so"}, kOwn);
  CHECK(handed.pmix_envar == "LD_PRELOAD=libasan.so.8:/opt/libfathom.so:/opt/libfathom-overlay.so");
}

TEST_CASE("a value of several lines cannot be handed over") {
  CHECK(spawn_variables({}, {"FATHOM_TRACE_PHASES=a\nb"}, kOwn).pmix_envar ==
        "LD_PRELOAD=/opt/libfathom.so");
}

}  // namespace
}  // namespace fathom::profiler
