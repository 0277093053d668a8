// SPDX-License-Identifier: BSD-3-Clause
// The inputs of a scenario's combinations, each file read once: clusters, jobs, rank files; and the
// arrivals of a combination.
//
// Threading: load() from one thread; after that any number of threads may read. Memory: every
// cluster and every job of the combinations loaded; together they may have kMostLinksOfAll links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "scenario/job_log.h"
#include "scenario/scenario.h"

namespace fathom::scenario {

struct NamedArrival {
  simulator::Arrival arrival;
  std::size_t entry = 0;  // index in Scenario::jobs
};

class Workload {
 public:
  // Reads what the combination needs and is not loaded yet. A combination without a routing gets its
  // cluster's own (default_router()).
  base::Status load(Scenario& scenario);

  const simulator::Network& cluster(const Scenario& scenario) const;

  // Ascending by arrival time; ties in the order of the entries. For each job of an entry the
  // duration is drawn first, then the request, then the time since the previous job. An Error if a
  // job has no ranks, if its number of ranks differs from its rank file's, or if there would be
  // more than kMostArrivals.
  base::Result<std::vector<NamedArrival>> arrivals(const Scenario& scenario) const;

  static constexpr std::size_t kMostArrivals = 2'000'000;    // some 1 GB with what becomes of them
  static constexpr std::uint64_t kMostLinksOfAll = 1 << 26;  // some 4 GB

 private:
  using JobPointer = std::shared_ptr<const simulator::Job>;

  static base::Error too_many_arrive(const JobEntry& entry);
  base::Status load_entry(const JobEntry& entry);
  base::Status load_placement(const Scenario& scenario, const JobEntry& entry);
  base::Result<simulator::Arrival> placed(const Scenario& scenario, const JobEntry& entry,
                                          simulator::Arrival arrival) const;
  base::Result<std::vector<NamedArrival>> drawn(const Scenario& scenario, std::size_t entry) const;
  base::Result<std::vector<NamedArrival>> logged(const Scenario& scenario, std::size_t entry) const;

  std::map<std::string, std::unique_ptr<simulator::Network>> clusters_;
  std::uint64_t links_ = 0;  // of all clusters
  std::map<std::string, JobPointer> profiles_;
  std::map<std::string, std::vector<LoggedJob>> logs_;
  // by cluster
  std::map<std::string, std::shared_ptr<const simulator::Placement>> placements_;
};

// The entry's name: its own, the profile's or the pattern's.
std::string entry_name(const JobEntry& entry);

}  // namespace fathom::scenario
