// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/workload.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/order/sort_stably.h"
#include "base/random.h"
#include "simulator/network/failures.h"
#include "simulator/placement/launcher_files.h"
#include "simulator/routing/registry.h"

namespace fathom::scenario {
namespace {

// Clusters with different failures are different clusters.
std::string cluster_key(const Scenario& scenario) {
  std::string key = scenario.cluster + '\n' + std::to_string(scenario.defaults.slots) + '\n' +
                    std::to_string(scenario.defaults.capacity_Bps) + '\n' + scenario.defaults.node +
                    '\n' + std::to_string(scenario.defaults.node_capacity_Bps);
  if (scenario.failed_share > 0) {
    key += "\nshare " + std::to_string(scenario.failed_share) + ' ' +
           std::to_string(scenario.choice.seed);
  }
  for (const std::string& link : scenario.failed_links) key += '\n' + link;
  return key;
}

std::string placement_key(const Scenario& scenario, const JobEntry& entry) {
  return cluster_key(scenario) + '\n' + entry.placement.rankfile;
}

base::Result<simulator::Network> load_network(const Scenario& scenario) {
  auto network = simulator::load_cluster(scenario.cluster, scenario.defaults);
  if (!network) return network;
  auto failed = simulator::draw_cables(*network, scenario.failed_share, scenario.choice.seed);
  for (const std::string& ends : scenario.failed_links) {
    const auto cables = simulator::find_cables(*network, ends);
    if (!cables) return cables.error();
    failed.insert(failed.end(), cables->begin(), cables->end());
  }
  return failed.empty() ? std::move(network) : simulator::without_links(*network, failed);
}

bool comes_before(const NamedArrival& left, const NamedArrival& right) {
  return left.arrival.submit_s < right.arrival.submit_s;
}

}  // namespace

std::string entry_name(const JobEntry& entry) {
  if (!entry.name.empty()) return entry.name;
  const std::string& file = entry.log.empty() ? entry.profile : entry.log;
  if (file.empty()) return entry.pattern.row->name;
  std::filesystem::path path(file);
  if (path.filename() == "profile.json") path = path.parent_path();
  return path.filename().string();
}

base::Status Workload::load(Scenario& scenario) {
  std::unique_ptr<simulator::Network>& cluster = clusters_[cluster_key(scenario)];
  if (!cluster) {
    auto network = load_network(scenario);
    if (!network) return base::Error{scenario.cluster_where + ": " + network.error().message};
    links_ += network->link_count();
    if (links_ > kMostLinksOfAll) {
      return base::Error{"the clusters of all combinations together have more than " +
                         std::to_string(kMostLinksOfAll) + " links (" +
                         std::to_string(clusters_.size()) +
                         " clusters so far); run the scenario in parts"};
    }
    cluster = std::make_unique<simulator::Network>(std::move(*network));
  }
  if (!scenario.choice.router) scenario.choice.router = &simulator::default_router(*cluster);
  for (const JobEntry& entry : scenario.jobs) {
    auto loaded = load_entry(entry);
    if (loaded) loaded = load_placement(scenario, entry);
    if (!loaded) return base::Error{entry.where + ": " + loaded.error().message};
  }
  return base::Done{};
}

base::Status Workload::load_entry(const JobEntry& entry) {
  if (!entry.profile.empty() && !profiles_.contains(entry.profile)) {
    auto job = simulator::load_job(entry.profile);
    if (!job) return job.error();
    profiles_[entry.profile] = std::make_shared<const simulator::Job>(std::move(*job));
  }
  if (!entry.log.empty() && !logs_.contains(entry.log)) {
    auto jobs = read_job_log(entry.log);
    if (!jobs) return jobs.error();
    logs_[entry.log] = std::move(*jobs);
  }
  return base::Done{};
}

base::Status Workload::load_placement(const Scenario& scenario, const JobEntry& entry) {
  if (entry.placement.rankfile.empty()) return base::Done{};
  std::shared_ptr<const simulator::Placement>& known = placements_[placement_key(scenario, entry)];
  if (known) return base::Done{};
  auto placement = simulator::read_placement(cluster(scenario), entry.placement.rankfile);
  if (!placement) return placement.error();
  known = std::make_shared<const simulator::Placement>(std::move(*placement));
  return base::Done{};
}

// The arrival, together with the placement of its job.
base::Result<simulator::Arrival> Workload::placed(const Scenario& scenario, const JobEntry& entry,
                                                  simulator::Arrival arrival) const {
  arrival.placement = entry.placement.row;
  if (entry.placement.rankfile.empty()) return arrival;
  arrival.given_placement = placements_.at(placement_key(scenario, entry));
  if (static_cast<std::int64_t>(arrival.given_placement->size()) == arrival.job->ranks)
    return arrival;
  return base::Error{entry.where + ": " + entry.placement.rankfile + ": is for " +
                     std::to_string(arrival.given_placement->size()) + " ranks; job '" +
                     entry_name(entry) + "' has " + std::to_string(arrival.job->ranks)};
}

const simulator::Network& Workload::cluster(const Scenario& scenario) const {
  return *clusters_.at(cluster_key(scenario));
}

base::Result<std::vector<NamedArrival>> Workload::arrivals(const Scenario& scenario) const {
  std::vector<NamedArrival> all;
  for (std::size_t entry = 0; entry < scenario.jobs.size(); ++entry) {
    auto more = scenario.jobs[entry].log.empty() ? drawn(scenario, entry) : logged(scenario, entry);
    if (!more) return more;
    all.insert(all.end(), std::make_move_iterator(more->begin()),
               std::make_move_iterator(more->end()));
  }
  base::sort_stably(all, comes_before);
  return all;
}

base::Error Workload::too_many_arrive(const JobEntry& entry) {
  return {entry.where + ": more than " + std::to_string(kMostArrivals) + " jobs '" +
          entry_name(entry) + "' would arrive; limit them with 'count' or 'duration'"};
}

base::Result<std::vector<NamedArrival>> Workload::drawn(const Scenario& scenario,
                                                        std::size_t number) const {
  const JobEntry& entry = scenario.jobs[number];
  JobPointer job;
  if (entry.profile.empty()) {
    auto made = simulator::make_pattern(*entry.pattern.row, entry.pattern.ranks,
                                        entry.pattern.bytes, scenario.choice.seed);
    if (!made) return base::Error{entry.where + ": " + made.error().message};
    job = std::make_shared<const simulator::Job>(std::move(*made));
  } else {
    job = profiles_.at(entry.profile);
  }
  std::vector<NamedArrival> all;
  // A sequence for each entry, so that adding an entry does not change when the others' jobs arrive.
  base::Random random(base::splitmix64(scenario.choice.seed) ^ base::splitmix64(number));
  const bool is_stream = entry.submit.row != nullptr;
  const std::uint64_t most = is_stream ? entry.count : 1;
  double at_s = is_stream ? 0 : entry.at_s;
  while (most == 0 || all.size() < most) {
    const double duration_s = entry.duration.sample(random);
    const double request_s =
        entry.request.row == nullptr ? duration_s : entry.request.sample(random);
    if (is_stream) at_s += entry.submit.sample(random);
    if (at_s > scenario.choice.until_s) break;
    if (all.size() == kMostArrivals) return too_many_arrive(entry);
    auto arrival = placed(scenario, entry, {job, at_s, duration_s, request_s, entry.phases});
    if (!arrival) return arrival.error();
    all.push_back({std::move(*arrival), number});
  }
  return all;
}

base::Result<std::vector<NamedArrival>> Workload::logged(const Scenario& scenario,
                                                         std::size_t number) const {
  const JobEntry& entry = scenario.jobs[number];
  const JobPointer profile = entry.profile.empty() ? nullptr : profiles_.at(entry.profile);
  std::map<std::int64_t, JobPointer> by_ranks;
  std::size_t pairs = 0;  // of all of them
  std::vector<NamedArrival> all;
  for (const LoggedJob& logged : logs_.at(entry.log)) {
    if (logged.submit_s > scenario.choice.until_s || (entry.count > 0 && all.size() == entry.count))
      break;
    JobPointer& job = by_ranks[logged.ranks];
    if (!job && profile) {
      if (profile->ranks != logged.ranks) {
        return base::Error{entry.where + ": " + entry.profile + ": is a job of " +
                           std::to_string(profile->ranks) + " processes; the log " + entry.log +
                           " has one of " + std::to_string(logged.ranks)};
      }
      job = profile;
    }
    if (!job) {
      const auto& pattern = entry.pattern.row ? *entry.pattern.row : *simulator::patterns().data();
      auto made =
          simulator::make_pattern(pattern, logged.ranks, entry.pattern.bytes, scenario.choice.seed);
      if (!made) return base::Error{entry.where + ": " + entry.log + ": " + made.error().message};
      pairs += made->pairs.size();
      if (static_cast<double>(pairs) > simulator::kMostPairs) {
        return base::Error{entry.where + ": the jobs of " + entry.log + " have, with pattern " +
                           pattern.name + " more than " +
                           std::to_string(static_cast<std::uint64_t>(simulator::kMostPairs)) +
                           " pairs; choose a pattern with fewer partners"};
      }
      job = std::make_shared<const simulator::Job>(std::move(*made));
    }
    if (all.size() == kMostArrivals) return too_many_arrive(entry);
    auto arrival = placed(
        scenario, entry, {job, logged.submit_s, logged.duration_s, logged.request_s, entry.phases});
    if (!arrival) return arrival.error();
    all.push_back({std::move(*arrival), number});
  }
  return all;
}

}  // namespace fathom::scenario
