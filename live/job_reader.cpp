// SPDX-License-Identifier: BSD-3-Clause
#include "live/job_reader.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "live/host_sample.h"
#include "live/local_samples.h"

namespace fathom::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLate_s = 2;
constexpr std::chrono::seconds kDetailsWithin{3};
constexpr std::chrono::milliseconds kBetweenLooksForDetails{100};

double unix_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double seconds_since(Clock::time_point moment) {
  return std::chrono::duration<double>(Clock::now() - moment).count();
}

// What is known of a host that is seen through its file.
struct Host {
  HostSample sample;
  Clock::time_point seen;  // when the reader first saw this sample
  double age_then_s = 0;   // by the two hosts' clocks, which may differ
  std::uint64_t lost = 0;
  bool is_first = true;
};

// Where the system lets only ancestors of a process read its memory, `fathom run` may, and this reader
// may not.
void add_queues_of(const ProcessSample& other, ProcessSample& sample) {
  if (sample.queues.access == QueueAccess::kNotPermitted &&
      other.queues.access == QueueAccess::kRead && sample.state == ProcessState::kRunning)
    sample.queues = other.queues;
}

}  // namespace

struct JobReader::State {
  State(std::string directory, bool details)
      : run(std::move(directory)), wants_details(details), local(run) {}

  void read_hosts();
  bool misses_details() const;
  void add_hosts(std::vector<ProcessSample>& own, std::vector<const ProcessSample*>& samples,
                 std::vector<std::string>& late);

  std::string run;
  bool wants_details, has_waited = false;
  LocalSamples local;
  std::map<std::string, Host> hosts;
};

void JobReader::State::read_hosts() {
  std::set<std::string> present;
  for (HostSample& sample : read_host_samples(run)) {
    present.insert(sample.host);
    Host& host = hosts[sample.host];
    if (!host.is_first && std::pair(host.sample.taken_unix_ns, host.sample.sequence) >=
                              std::pair(sample.taken_unix_ns, sample.sequence))
      continue;
    // A reader that looks less often than once a second misses what it does not need.
    if (!host.is_first && sample.sequence > host.sample.sequence + 1) {
      const auto missed = sample.sequence - host.sample.sequence - 1;
      const auto expected = static_cast<std::uint64_t>(seconds_since(host.seen));
      host.lost += missed > expected ? missed - expected : 0;
    }
    host.is_first = false;
    host.age_then_s = std::max(0.0, unix_time() - static_cast<double>(sample.taken_unix_ns) / 1e9);
    host.seen = Clock::now();
    host.sample = std::move(sample);
  }
  // The file goes when the job has ended there.
  for (auto& [name, host] : hosts) {
    if (present.contains(name)) continue;
    for (ProcessSample& process : host.sample.processes)
      if (process.state != ProcessState::kGone) process.state = ProcessState::kEnded;
  }
}

bool JobReader::State::misses_details() const {
  return std::any_of(hosts.begin(), hosts.end(), [](const auto& known) {
    const std::vector<ProcessSample>& processes = known.second.sample.processes;
    return std::any_of(processes.begin(), processes.end(), [](const ProcessSample& each) {
      return each.is_summary && each.state != ProcessState::kEnded;
    });
  });
}

// Those of `own` processes, whose pages can be read, are left out. Samples are large: they are not copied.
void JobReader::State::add_hosts(std::vector<ProcessSample>& own,
                                 std::vector<const ProcessSample*>& samples,
                                 std::vector<std::string>& late) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, ProcessSample*> seen;  // by job and rank
  for (ProcessSample& sample : own) seen[{sample.page.rows.job, sample.page.rows.rank}] = &sample;
  for (auto& [name, host] : hosts) {
    const double age_s = host.age_then_s + seconds_since(host.seen);
    bool is_needed = false;
    for (ProcessSample& process : host.sample.processes) {
      const auto known = seen.find({process.page.rows.job, process.page.rows.rank});
      if (known != seen.end()) {
        if (age_s <= kLate_s) add_queues_of(process, *known->second);
        continue;
      }
      is_needed |= process.state != ProcessState::kEnded;
      process.age_s = age_s;
      process.samples_lost = host.lost;
      samples.push_back(&process);
    }
    if (is_needed && age_s > kLate_s) late.push_back(name);
  }
}

JobReader::JobReader(const std::string& run, bool wants_details)
    : state_(new State(run, wants_details)) {}
JobReader::~JobReader() = default;

void JobReader::want_details() { state_->wants_details = true; }

base::Result<JobState> JobReader::read() {
  std::vector<ProcessSample> own = state_->local.take();
  state_->read_hosts();
  if (state_->wants_details && (state_->has_waited || state_->misses_details())) {
    ask_for_details(state_->run);
    // They come with the next samples. Who looks only once would not see them.
    const auto until = Clock::now() + kDetailsWithin;
    while (!state_->has_waited && state_->misses_details() && Clock::now() < until) {
      std::this_thread::sleep_for(kBetweenLooksForDetails);
      state_->read_hosts();
    }
    state_->has_waited = true;
  }
  std::vector<const ProcessSample*> samples;
  // So that all samples of a process agree on when it started.
  const double taken_at_s = unix_time();
  for (ProcessSample& sample : own) {
    sample.age_s = std::max(0.0, taken_at_s - static_cast<double>(sample.taken_unix_ns) / 1e9);
    samples.push_back(&sample);
  }
  std::vector<std::string> late;
  state_->add_hosts(own, samples, late);
  if (samples.empty())
    return base::Error{"no running process of " + state_->run +
                       " can be seen from here: it has ended, or it was started without fathom run "
                       "--live, or FATHOM_LIVE=1"};
  JobState job = job_state_of(samples);
  job.run = state_->run;
  job.taken_at_s = taken_at_s;
  job.hosts_late = std::move(late);
  return job;
}

}  // namespace fathom::live
