// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/joined_job.h"

#include <algorithm>
#include <cstring>
#include <latch>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/engine/joiner.h"
#include "base/process/parallel.h"
#include "trace/join/opened_channels.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kBatch = 256;               // events
constexpr std::uint64_t kEventsPerWindow = 1024;  // average for one process
// For all processes together: if there are many, each reads less at a time, so that fewer new steps are in memory. Not much
// less, because each process's state must come into the cache again.
constexpr std::uint64_t kEventsOfAll = 400'000, kLeastPerWindow = 64;
// Events of one analysis process between two exchanges: enough to hide the exchange, and few enough
// that the steps to update afterwards are still in its cache.
constexpr std::uint64_t kEventsPerExchange = 1 << 14;
// A process whose events are bunched in time may read this many windows' worth in one window.
constexpr std::uint64_t kMostWindows = 8;

}  // namespace

JoinedJob::JoinedJob(const trace::Trace& trace, Transport& transport)
    : trace_(trace), transport_(transport), facts_(trace.definitions()) {
  std::map<std::string, std::uint32_t> numbers;
  for (const trace::Process& process : trace.definitions().processes) {
    // A process with a clock of its own is as far from its neighbours as another host.
    const std::string clock =
        process.clock.own ? process.host + '\n' + std::to_string(process.rank) : process.host;
    hosts_.push_back(
        numbers.emplace(clock, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
}

std::uint64_t JoinedJob::gaps() const {
  std::uint64_t gaps = 0;
  for (const ProcessSummary& process : summary_.processes) gaps += process.losses;
  return gaps;
}

std::uint64_t JoinedJob::uncertainty_ns(std::uint32_t a, std::uint32_t b) const {
  const auto& processes = definitions().processes;
  const std::uint64_t error = std::max(summary_.processes[a].worst_clock_error_ns,
                                       summary_.processes[b].worst_clock_error_ns);
  if (hosts_[a] == hosts_[b]) return 0;
  return std::max({processes[a].clock.uncertainty_ns, processes[b].clock.uncertainty_ns, error});
}

// A thread makes one outermost call after the other. So what is open at a moment lies inside the last of them
// that began before it.
StepRange JoinedJob::steps_in(std::uint32_t process, std::uint64_t from_ns,
                              std::uint64_t to_ns) const {
  const StepFile& steps = *steps_;
  const std::uint32_t size = steps.size(process);
  StepRange range{0, size, ~std::uint64_t{0}};
  if (definitions().processes[process].threads.size() > 1) return range;
  // The last outermost call that began before the step; kNobody: none.
  const auto outermost_before = [&](std::uint32_t number) {
    while (number-- > 0) {
      const Step& step = steps.at(process, number);
      if (step.kind == StepKind::kCall && !step.has(kNested)) return number;
    }
    return kNobody;
  };
  const std::uint32_t first = outermost_before(steps.first_at(process, from_ns));
  if (first != kNobody) range.begin = first;
  const std::uint32_t after = steps.first_at(process, to_ns), last = outermost_before(after);
  range.known_until_ns = last == kNobody ? 0 : steps.at(process, last).end_ns;
  if (range.known_until_ns == ~std::uint64_t{0}) return range;
  range.end = std::max(after, steps.first_at(process, range.known_until_ns + 1));
  return range;
}

Joiner::Joiner(JoinedJob& job, const JoinOptions& options, Mapping mapping)
    : job_(job),
      options_(options),
      transport_(job.transport_),
      parcels_(job.transport_.size()),
      collectives_(job.facts_),
      batch_(kBatch),
      per_window_(events_per_window()) {
  const trace::Definitions& definitions = job.definitions();
  const std::size_t count = definitions.processes.size();
  job.mapping_ = std::move(mapping);
  job.steps_ = std::make_unique<StepFile>(count);
  job.sites_.resize(count);
  job.summary_.processes.resize(count);
  channels_.resize(count);
  for (std::uint32_t process = 0; process < count; ++process) {
    if (job.is_own(process)) job.own_.push_back(process);
  }
  notices_.emplace(job.facts_, job.own_);
  if (transport_.size() == 1) others_until_ns_ = kAtTheEnd;
  lanes_.reserve(job.own_.size());
  for (const std::uint32_t process : job.own_) {
    channels_[process] = std::make_unique<Channels>();
    Lane& lane = lanes_.emplace_back(process, job.trace_.events(process));
    if (options.steps) {
      lane.recorder.emplace(job.facts_, process, RecorderOptions{options.hidden_messages},
                            *job.steps_, *channels_[process], outgoing_);
    }
  }
  trace::open_channels(definitions,
                       [this](std::size_t process) { return channels_[process].get(); });
}

// For one process. An analysis process that is alone uses short windows, which keep few messages in
// flight. With others, windows are long enough to give each one work between two exchanges.
std::uint64_t Joiner::events_per_window() const {
  const std::uint64_t processes = std::max<std::size_t>(1, job_.definitions().processes.size());
  const std::uint64_t few = std::clamp(kEventsOfAll / processes, kLeastPerWindow, kEventsPerWindow);
  if (transport_.size() == 1) return few;
  return std::max(few, kEventsPerExchange * transport_.size() / processes);
}

void Joiner::go_on(Lane& lane, std::uint64_t until_ns) {
  std::uint64_t here = 0;
  while (!lane.ended && here < kMostWindows * per_window_) {
    std::size_t size = 0;
    if (lane.has_waiting && lane.waiting.time_ns >= until_ns) return;
    if (lane.has_waiting) batch_[size++] = lane.waiting;
    lane.has_waiting = false;
    bool more = true;
    while (size < kBatch && (more = lane.cursor.next(batch_[size]))) {
      if (batch_[size].time_ns >= until_ns) {
        lane.waiting = batch_[size];
        lane.has_waiting = true;
        break;
      }
      ++size;
    }
    const std::span<const trace::Event> events(batch_.data(), size);
    for (EventConsumer* consumer : options_.consumers) consumer->events(lane.process, events);
    if (lane.recorder) {
      for (const trace::Event& event : events) {
        lane.recorder->step(event);
        // A loss must stay between the sends before it and those after it.
        if (!outgoing_.losses.empty()) route();
      }
      route();
    }
    here += size;
    lane.events += size;
    if (size > 0) lane.now_ns = events.back().time_ns;
    if (!more) end_lane(lane);
    if (lane.has_waiting) return;
  }
}

void Joiner::end_lane(Lane& lane) {
  lane.ended = true;
  for (EventConsumer* consumer : options_.consumers) consumer->end(lane.process);
  ProcessSummary& summary = job_.summary_.processes[lane.process];
  summary.events = lane.events;
  if (const auto& problems = lane.cursor.problems(); !problems.empty())
    job_.summary_.problems[lane.process] = problems;
  if (!lane.recorder) return;
  lane.recorder->finish();
  route();
  job_.sites_[lane.process] = lane.recorder->sites();
  summary.losses = lane.recorder->losses();
  summary.lost_records = lane.recorder->lost_records();
  summary.of_unknown_objects = lane.recorder->of_unknown_objects();
  lane.recorder.reset();
}
// Returns whether its sender was idle.
bool Joiner::take_batch(const Transport::Bytes& bytes) {
  BatchEnd end;
  std::memcpy(&end, bytes.data() + bytes.size() - sizeof end, sizeof end);
  open(Received(bytes.data(), bytes.size() - sizeof end));
  others_until_ns_ = std::min(others_until_ns_, end.known_until_ns);
  locks_ = locks_ || end.locks != 0;
  announced_locks_ = announced_locks_ || end.locks != 0;
  return end.idle != 0;
}

// Ends when every analysis process has read everything and has nothing left to send.
base::Status Joiner::run() {
  std::uint64_t span_ns = 1, records = 1;
  for (const trace::Process& process : job_.definitions().processes) {
    span_ns = std::max(span_ns, process.last_ns + 1);
    records += process.records;
  }
  const double windows =
      static_cast<double>(records) / static_cast<double>(per_window_) /
      static_cast<double>(std::max<std::size_t>(1, job_.definitions().processes.size()));
  const std::uint64_t window_ns = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(span_ns) / std::max(1.0, windows)));
  std::uint64_t until_ns = 0;
  const bool alone = transport_.size() == 1;
  bool under_way = false, all_done = false;
  while (!all_done) {
    until_ns = until_ns + window_ns < until_ns ? ~std::uint64_t{0} : until_ns + window_ns;
    bool done = true;
    for (Lane& lane : lanes_) {
      go_on(lane, until_ns);
      done = done && lane.ended;
    }
    settle_locks(std::min(known_until_ns(), others_until_ns_));
    job_.steps_->store_complete();
    if (alone) {
      all_done = done || !job_.steps_->status();
      continue;
    }
    all_done = under_way;
    if (under_way) {
      others_until_ns_ = kAtTheEnd;
      for (const Transport::Bytes& bytes : transport_.finish_exchange())
        all_done = take_batch(bytes) && all_done;
      if (all_done) break;
    }
    // A process that failed reports that it has nothing left to send, so that all end together.
    const bool idle = (done && parcels_.empty()) || !job_.steps_->status();
    auto outgoing = parcels_.take();
    const BatchEnd end{known_until_ns(), idle ? 1u : 0u, locks_ ? 1u : 0u};
    announced_locks_ = locks_;
    const auto* const end_bytes = reinterpret_cast<const char*>(&end);
    for (Transport::Bytes& bytes : outgoing)
      bytes.insert(bytes.end(), end_bytes, end_bytes + sizeof end);
    transport_.begin_exchange(std::move(outgoing));
    under_way = true;
  }
  settle_last_locks();
  job_.steps_->store_all();
  const base::Status status = sum_up();
  if (status) delay_notices(job_, access_ends_);
  return status;
}

namespace {

struct Sums {
  std::uint64_t messages = 0, collectives = 0, sends_to_nobody = 0, left_out_parts = 0;
  bool failed = false;
};

}  // namespace

// Every analysis process gets the totals of all.
base::Status Joiner::sum_up() {
  JoinSummary& summary = job_.summary_;
  for (const std::uint32_t process : job_.own_) {
    const auto unmatched = channels_[process]->unmatched();
    summary.processes[process].unmatched_receives = unmatched.receives;
    summary.processes[process].unmatched_from = unmatched.sends;
  }
  summary.left_out_parts = collectives_.left_out();
  Parcels parcels(transport_.size());
  for (std::size_t to = 0; to < transport_.size(); ++to) {
    parcels.send(to, 0,
                 Sums{summary.messages, summary.collectives, summary.sends_to_nobody,
                      summary.left_out_parts, !job_.steps_->status()});
    for (const std::uint32_t process : job_.own_) {
      parcels.send(to, 1, process);
      parcels.send(to, 2, summary.processes[process]);
    }
  }
  summary.messages = summary.collectives = summary.sends_to_nobody = summary.left_out_parts = 0;
  bool failed = false;
  for (const Transport::Bytes& bytes : transport_.exchange(parcels.take())) {
    std::uint32_t process = 0;
    for (Received received(bytes); received.more();) {
      const char kind = received.kind();
      if (kind == 0) {
        const auto sums = received.take<Sums>();
        summary.messages += sums.messages;
        summary.collectives += sums.collectives;
        summary.sends_to_nobody += sums.sends_to_nobody;
        summary.left_out_parts += sums.left_out_parts;
        failed = failed || sums.failed;
      } else if (kind == 1) {
        process = received.take<std::uint32_t>();
      } else {
        summary.processes[process] = received.take<ProcessSummary>();
      }
    }
  }
  for (const ProcessSummary& process : summary.processes) summary.events += process.events;
  if (failed && job_.steps_->status())
    return base::Error{
        "another process of the analysis ran out of disk space for its steps; set "
        "TMPDIR to a folder with more room"};
  return job_.steps_->status();
}

// Checks that every process has an owner, because a process without one would be left out silently.
static base::Status check_mapping(const Mapping& mapping, std::size_t processes,
                                  std::size_t owners) {
  if (mapping.size() != processes) {
    return base::Error{"the mapping names owners for " + std::to_string(mapping.size()) +
                       " processes; the job has " + std::to_string(processes)};
  }
  for (std::size_t process = 0; process < mapping.size(); ++process) {
    if (mapping[process] < owners) continue;
    return base::Error{"the mapping assigns process " + std::to_string(process) +
                       " to an analysis process that does not exist; there are " +
                       std::to_string(owners)};
  }
  return base::Done{};
}

// Calls the strategy once at each analysis process and compares the answers. A strategy may answer
// differently each time, and then processes would silently be left out or read twice.
static base::Result<Mapping> agreed_mapping(const JoinOptions& options,
                                            const trace::Definitions& definitions,
                                            Transport& transport) {
  std::vector<std::uint64_t> loads;
  for (const trace::Process& process : definitions.processes) loads.push_back(process.records);
  Mapping mapping = options.mapping(loads, transport.size());
  const char* begin = reinterpret_cast<const char*>(mapping.data());
  const Transport::Bytes bytes(begin, begin + mapping.size() * sizeof mapping.front());
  const auto all = transport.exchange(std::vector<Transport::Bytes>(transport.size(), bytes));
  for (const Transport::Bytes& other : all) {
    if (other != all.front())
      return base::Error{"the mapping is not the same at every analysis process"};
  }
  if (auto right = check_mapping(mapping, loads.size(), transport.size()); !right)
    return right.error();
  return mapping;
}

base::Result<std::unique_ptr<JoinedJob>> join_job(const trace::Trace& trace, Transport& transport,
                                                  const JoinOptions& options) {
  auto job = std::make_unique<JoinedJob>(trace, transport);
  auto mapping = agreed_mapping(options, trace.definitions(), transport);
  if (!mapping) return mapping.error();
  Joiner joiner(*job, options, std::move(*mapping));
  const base::Status status = joiner.run();
  if (!status) return status.error();
  return job;
}

// The processes of all parts, as one analysis process that owns all of them.
class JoinedParts {
 public:
  using Part = base::Result<std::unique_ptr<JoinedJob>>;

  static Part together(const trace::Trace& trace, Transport& transport,
                       std::vector<std::optional<Part>>& parts) {
    auto all = std::make_unique<JoinedJob>(trace, transport);
    const std::size_t count = trace.definitions().processes.size();
    all->mapping_.resize(count);
    all->steps_ = std::make_unique<StepFile>(count);
    all->sites_.resize(count);
    for (auto& joined : parts) {
      if (!*joined) return joined->error();
      JoinedJob& part = ***joined;
      all->steps_->take(*part.steps_);
      for (const std::uint32_t process : part.own_) {
        all->own_.push_back(process);
        all->sites_[process] = std::move(part.sites_[process]);
      }
      part.summary_.problems.merge(all->summary_.problems);
      all->summary_ = std::move(part.summary_);  // the same in each part, but for the problems
      joined.reset();
    }
    std::sort(all->own_.begin(), all->own_.end());
    return all;
  }
};

base::Result<std::unique_ptr<JoinedJob>> join_in_threads(const trace::Trace& trace,
                                                         Transport& transport,
                                                         const JoinOptions& options,
                                                         std::size_t threads) {
  if (threads <= 1) return join_job(trace, transport, options);
  std::vector<std::optional<JoinedParts::Part>> parts(threads);
  std::vector<ThreadGroup::Member> members;
  const auto join = [&](std::size_t number) {
    parts[number].emplace(join_job(trace, members[number], options));
  };
  // They begin once it is known how many they are.
  std::latch begin(1);
  std::vector<std::thread> others;
  try {
    for (std::size_t number = 1; number < threads; ++number)
      others.emplace_back([&, number] {
        begin.wait();
        join(number);
      });
  } catch (const std::system_error&) {
    // This user may have no more threads: fewer do it.
  }
  const std::size_t count = others.size() + 1;
  ThreadGroup group(count);
  for (std::size_t number = 0; number < count; ++number) members.emplace_back(group, number);
  parts.resize(count);
  begin.count_down();
  join(0);
  for (std::thread& other : others) other.join();
  return JoinedParts::together(trace, transport, parts);
}

std::size_t joining_threads(const trace::Trace& trace) {
  constexpr std::uint64_t kEventsPerThread = 1 << 19;  // fewer are joined before threads have begun
  constexpr std::uint64_t kMostThreads = 4;            // more wait for each other, and for the disk
  std::uint64_t events = 0;
  for (const trace::Process& process : trace.definitions().processes) events += process.records;
  return std::min<std::uint64_t>({events / kEventsPerThread, base::worker_threads(), kMostThreads,
                                  trace.definitions().processes.size()});
}

}  // namespace fathom::analysis
