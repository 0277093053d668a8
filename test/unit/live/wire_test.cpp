// SPDX-License-Identifier: BSD-3-Clause
#include "live/wire.h"

#include <doctest/doctest.h>

#include <string>

#include "test/unit/live/made_samples.h"

namespace fathom {
namespace {

TEST_CASE("samples that are sent as what has changed arrive as they were") {
  live::SampleEncoder encoder;
  live::SampleDecoder decoder;
  std::string last;
  std::size_t whole = 0;
  for (std::uint64_t second = 1; second <= 6; ++second) {
    if (second == 5) {  // the host has connected again
      encoder.restart();
      last.clear();
    }
    const std::string bytes = live::bytes_of(test::made_host(3, 4, 64, 6, second));
    const std::string payload = encoder.encode(second, bytes);
    if (second == 1) whole = payload.size();
    if (second == 2) CHECK(payload.size() < whole);
    const auto sample = decoder.decode(payload, last);
    REQUIRE(sample);
    CHECK(sample->sequence == second);
    CHECK(sample->bytes == bytes);
    last = sample->bytes;
  }
}

TEST_CASE("a summary has the sums of what it leaves out, and is smaller") {
  const live::HostSample whole = test::made_host(3, 4, 64, 6, 5);
  live::HostSample summary = whole;
  for (live::ProcessSample& process : summary.processes) process = live::summary_of(process);
  const auto read = live::host_sample_of(live::bytes_of(summary));
  REQUIRE(read);
  const live::JobState details = live::job_state_of(whole.processes);
  const live::JobState sums = live::job_state_of(read->processes);
  REQUIRE(sums.ranks.size() == details.ranks.size());
  for (std::size_t i = 0; i < sums.ranks.size(); ++i) {
    CHECK(sums.ranks[i].sent == details.ranks[i].sent);
    CHECK(sums.ranks[i].received_bytes == details.ranks[i].received_bytes);
    CHECK(sums.ranks[i].mpi_s == doctest::Approx(details.ranks[i].mpi_s));
    CHECK(sums.ranks[i].threads.at(0).function == details.ranks[i].threads.at(0).function);
    CHECK(sums.ranks[i].channels.empty());
    CHECK(sums.ranks[i].channels_left_out > 0);
  }
  CHECK(sums.program == details.program);
  CHECK(sums.communicators.size() == details.communicators.size());
  CHECK(2 * live::bytes_of(summary).size() < live::bytes_of(whole).size());
}

TEST_CASE("a delta without the sample before it is refused") {
  live::SampleEncoder encoder;
  live::SampleDecoder decoder;
  encoder.encode(1, live::bytes_of(test::made_host(3, 4, 64, 6, 1)));
  const std::string delta = encoder.encode(2, live::bytes_of(test::made_host(3, 4, 64, 6, 2)));
  CHECK(!decoder.decode(delta, ""));
}

TEST_CASE("frames are taken one after the other, when they are complete") {
  const std::string two =
      live::frame_of(live::FrameKind::kSample, "abc") + live::frame_of(live::FrameKind::kBye, "");
  for (std::size_t size = 0; size < 11; ++size) {
    const auto none = live::frame_in(std::string_view(two).substr(0, size));
    REQUIRE(none);
    CHECK(!*none);
  }
  const auto first = live::frame_in(two);
  REQUIRE(first);
  REQUIRE(*first);
  CHECK((*first)->payload == "abc");
  const auto second = live::frame_in(std::string_view(two).substr((*first)->size));
  REQUIRE(second);
  REQUIRE(*second);
  CHECK((*second)->kind == live::FrameKind::kBye);
}

}  // namespace
}  // namespace fathom
