// SPDX-License-Identifier: BSD-3-Clause
// The figures of one run that `fathom report` shows, as text and as JSON.
//
// The profile is streamed: memory grows with the communicating pairs, not with the file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "profile/call_summary.h"
#include "profile/profile.h"
#include "profile/selection.h"
#include "profile/summary.h"
#include "profile/wait_summary.h"

namespace fathom::cli {

// Messages of low..high bytes. Sizes known only as log2 bins stay within their bin.
struct SizeBin {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t messages = 0;
};

struct BusiestRank {
  std::int64_t rank = 0;
  profile::Volume volume;
};

struct PhaseTotal {
  std::string phase;  // "": outside every named phase
  profile::Volume volume, hidden;
};

// A job that the same command started, or a world that a job spawned.
struct OtherJob {
  std::string name;          // of its folder: "job-2", "world-1234"
  std::string folder;        // as the user would name it
  std::string command_word;  // the same, ready for a shell
  std::string state;         // why there is no profile; empty: there is one, and the rest is known
  std::string program;
  std::int64_t ranks = 0;
  double seconds = 0;
  profile::Volume total;
};

// Of the processes that say it. A rank's threads add up.
struct ProcessNeeds {
  std::int64_t largest = 0;  // the rank that needed most memory
  std::uint64_t most_bytes = 0;
  double mean_bytes = 0;    // 0: no process says it
  std::int64_t slowed = 0;  // the rank that waited for a processor for most of its time
  double slowed_seconds = 0, slowed_share = 0, processor_wait_seconds = 0;  // the last: of all
};

// The calls of MPI-IO, summed over ranks.
struct FileCalls {
  std::uint64_t calls = 0, read_bytes = 0, written_bytes = 0;
  double seconds = 0;
};

struct RunSummary {
  profile::Header header;
  std::string chosen;  // not empty: everything below covers only this part of the traffic

  std::int64_t ranks = 0;
  std::size_t hosts = 0;
  // Empty if calls were not timed, or if only one class is summarised: calls have no class.
  std::vector<profile::RankTime> rank_times;                        // ascending
  std::vector<profile::SiteTotal> sites;                            // most time first
  std::vector<std::pair<std::string, profile::CallSum>> functions;  // most time first
  std::vector<profile::WaitPair> top_waits;                         // the same, most time first
  std::vector<profile::WaitingCall> top_waiting_calls;              // the same by call
  std::size_t waiting_pairs = 0;
  double wait_seconds = 0;                     // of all pairs
  std::vector<profile::EdgeWaits> edge_waits;  // in MPI_Init and MPI_Finalize, not in what precedes
  std::vector<profile::PathSummary> paths;     // the whole run's first; empty like `rank_times`
  ProcessNeeds needs;
  FileCalls files;
  profile::Volume total;
  profile::Volume hidden;                    // the part that the library sent for the program
  std::vector<profile::ClassTotal> classes;  // most bytes first
  std::vector<PhaseTotal> phases;            // most bytes first; empty if the program names none
  std::vector<SizeBin> sizes;                // log2 bins from the smallest to the largest used
  std::uint64_t tiny_messages = 0;           // at most kTinyBytes
  std::string tiny_class;                    // the class with most of them
  std::size_t pairs = 0;  // ordered pairs with traffic, a rank with itself included
  std::vector<profile::PairCount> top_pairs;  // by bytes
  std::vector<BusiestRank> top_senders;       // by bytes
  std::vector<BusiestRank> top_receivers;
  double imbalance_sent = 0;  // largest number of bytes sent by a rank over the mean
  double imbalance_received = 0;
  double density = 0;  // fraction of ordered pairs of different ranks with traffic
  std::vector<OtherJob> other_jobs;
  profile::Volume between_hosts;  // only if the hosts of both ranks are known

  // Time of all ranks together, the base of shares of time.
  double all_ranks_seconds() const;
};

inline constexpr std::uint64_t kTinyBytes = 64;

// `top` limits the lists of pairs, waiting ones too, and of ranks. An Error if the file is unreadable.
base::Result<RunSummary> summarise(const std::string& profile_path,
                                   const profile::Selection& selection, std::size_t top);

// The state of a folder inside a run. A profile that cannot be read is a state, too.
OtherJob other_job(const std::string& folder, const std::string& name);

}  // namespace fathom::cli
