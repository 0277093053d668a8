// SPDX-License-Identifier: BSD-3-Clause
// The last ten minutes of a running job: what the page Live scrubs in.
//
// A sample a second, taken by one thread from the start of the viewer, so that a page opened later finds
// what came before. Each is kept as the text of `fathom top --json`, compressed, and as one line of sums
// for the strip. Past kMostBytes the oldest go first: `kept_from_s` says since when there is something.
//
// Threading: any thread may ask. The job does nothing for it (live/job_reader.h).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/json/writer.h"
#include "base/result.h"
#include "live/job_state.h"
#include "live/verdict/verdict.h"

namespace fathom::view {

class LiveHistory {
 public:
  static constexpr double kLongest_s = 600;
  static constexpr std::size_t kMostBytes = 64 << 20;
  // The job's present state; nothing when it has ended.
  using Read = std::function<base::Result<std::optional<live::JobState>>()>;

  // Takes samples until the job ends or this is destroyed. With interval_s 0 there is no thread: the owner
  // calls sample().
  // `starting`: whether a job that cannot be read yet, because it has not reached MPI_Init, may still be.
  LiveHistory(Read read, double interval_s, std::function<bool()> starting = {});
  ~LiveHistory();

  // Takes one sample; false if the job has ended or cannot be read any more.
  bool sample();

  bool ended() const;

  // Members of an open object: "state" ("running", "ended", "unreadable"), "problem", "kept_from_s", and
  // "samples" later than `since_s` in columns at_s, mpi_share, sent_bytes_per_s, sent_per_s, waiting_ranks, hung,
  // cause, verdict. Shares and rates are of the time since the sample
  // before, and null where there is none.
  void write_since(double since_s, base::JsonWriter& json) const;

  // The document of `fathom top --json` of the newest sample not later than this, else of the oldest;
  // nothing if there is none.
  std::optional<std::string> state_at(double time_s) const;

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // null in JSON
  struct Kept {
    double at_s = 0;
    double mpi_share = kUnknown, sent_bytes_per_s = kUnknown, sent_per_s = kUnknown;
    std::uint64_t waiting_ranks = 0, plain_bytes = 0;
    bool hung = false;
    std::string cause, verdict;
    std::vector<char> state;  // compressed
  };

  void keep_sampling(double interval_s);

  const Read read_;
  const std::function<bool()> starting_;
  live::JobState earlier_;  // only of the thread that samples
  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  std::deque<Kept> samples_;
  std::size_t bytes_ = 0;
  std::string state_ = "running", problem_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace fathom::view
