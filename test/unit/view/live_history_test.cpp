// SPDX-License-Identifier: BSD-3-Clause
#include "view/answers/live_history.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "base/json/writer.h"

namespace fathom::view {
namespace {

// A job of two ranks that sends 100 bytes a second, from `at_s` on.
class MadeJob {
 public:
  explicit MadeJob(double at_s) : at_s_(at_s) {}

  base::Result<std::optional<live::JobState>> read() {
    if (ended) return std::optional<live::JobState>();
    live::JobState state;
    state.run = "made";
    state.taken_at_s = at_s_++;
    state.world_size = 2;
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      live::RankState one;
      one.rank = rank;
      one.elapsed_s = static_cast<double>(samples_);
      one.mpi_s = 0.25 * static_cast<double>(samples_);
      one.sent_bytes = 50 * samples_;
      state.ranks.push_back(one);
    }
    ++samples_;
    return std::optional(state);
  }
  bool ended = false;

 private:
  double at_s_;
  std::uint64_t samples_ = 0;
};

std::string since(const LiveHistory& history, double since_s) {
  return base::json_text(0, [&](base::JsonWriter& json) { history.write_since(since_s, json); });
}

TEST_CASE("the last ten minutes of a job are kept, and no more") {
  MadeJob job(1000);
  LiveHistory history([&] { return job.read(); }, 0);
  for (int second = 0; second < 700; ++second) CHECK(history.sample());
  const std::string text = since(history, 0);
  CHECK(text.find("\"kept_from_s\":1099.0") != text.npos);  // 1699 - 600
  CHECK(history.state_at(0)->find("\"taken_at_s\":1099.0") != std::string::npos);
  CHECK(history.state_at(1500.5)->find("\"taken_at_s\":1500.0") != std::string::npos);
}

TEST_CASE("a rate is null before there are two samples, then that of the time between") {
  MadeJob job(10);
  LiveHistory history([&] { return job.read(); }, 0);
  CHECK_FALSE(history.state_at(10));
  history.sample();
  CHECK(since(history, 0).find("\"mpi_share\":[null]") != std::string::npos);
  history.sample();
  const std::string text = since(history, 10);
  CHECK(text.find("\"at_s\":[11.0]") != text.npos);
  CHECK(text.find("\"mpi_share\":[0.25]") != text.npos);
  CHECK(text.find("\"sent_bytes_per_s\":[100.0]") != text.npos);
}

TEST_CASE("what was kept of a job stays when it has ended") {
  MadeJob job(10);
  LiveHistory history([&] { return job.read(); }, 0);
  history.sample();
  CHECK_FALSE(history.ended());
  job.ended = true;
  CHECK_FALSE(history.sample());
  CHECK(history.ended());
  CHECK(since(history, 0).find("\"state\":\"ended\"") != std::string::npos);
  CHECK(history.state_at(99));
}

TEST_CASE("a job that cannot be read says why") {
  LiveHistory history(
      []() -> base::Result<std::optional<live::JobState>> { return base::Error{"no page"}; }, 0);
  CHECK_FALSE(history.sample());
  CHECK(since(history, 0).find("\"problem\":\"no page\"") != std::string::npos);
}

TEST_CASE("a job that was watched before MPI_Init is read as soon as it can be") {
  MadeJob job(10);
  bool initialized = false, runs = true;
  LiveHistory history(
      [&]() -> base::Result<std::optional<live::JobState>> {
        if (!initialized) return base::Error{"no page"};
        return job.read();
      },
      0, [&] { return runs; });
  CHECK(history.sample());
  CHECK_FALSE(history.ended());
  initialized = true;
  CHECK(history.sample());
  CHECK(history.state_at(99));
  initialized = runs = false;
  LiveHistory never(
      []() -> base::Result<std::optional<live::JobState>> { return base::Error{"no page"}; }, 0,
      [&] { return runs; });
  CHECK_FALSE(never.sample());
  CHECK(never.ended());
}

}  // namespace
}  // namespace fathom::view
