// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/joined_job.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "analysis/engine/notices.h"
#include "analysis/engine/parcels.h"
#include "trace/join/opened_channels.h"

namespace fathom::analysis {
namespace {

constexpr std::size_t kBatch = 256;               // events
constexpr std::uint64_t kEventsPerWindow = 1024;  // average for one process
// Events of one analysis process between two exchanges: enough to hide the exchange, and few enough
// that the steps to update afterwards are still in its cache.
constexpr std::uint64_t kEventsPerExchange = 1 << 14;
// A process whose events are bunched in time may read this many windows' worth in one window.
constexpr std::uint64_t kMostWindows = 8;

enum ParcelKind : char { kSent, kNoticeSent, kLoss, kMatched, kPart, kPartJoined, kClosed };

struct RoutedSend {
  SentMessage message;
  std::uint32_t process = 0;
};

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

// The pass itself. What one window produces for other analysis processes travels while the next
// window is read.
class Joiner {
 public:
  Joiner(JoinedJob& job, const JoinOptions& options, Mapping mapping);
  base::Status run();

 private:
  struct Lane {
    Lane(std::uint32_t number, trace::EventCursor events)
        : process(number), cursor(std::move(events)) {}
    std::uint32_t process;
    trace::EventCursor cursor;
    std::optional<StepRecorder> recorder;
    trace::Event waiting;
    bool has_waiting = false, ended = false;
    std::uint64_t events = 0;
  };

  std::uint64_t events_per_window() const;
  void go_on(Lane& lane, std::uint64_t until_ns);
  void end_lane(Lane& lane);
  void route();
  void deliver(std::uint32_t process, const SentMessage& message);
  void apply(const SourceLoss& loss);
  void route_notices();
  void apply_notices();
  void apply(const Channels::Joined& joined);
  void apply_both(const trace::JoinedEnds& joined);
  void apply_end(const trace::JoinedEnds& joined, bool sender);
  void apply(const JoinedCollective& joined);
  std::uint32_t owner_of_communicator(std::int32_t communicator) const {
    return job_.mapping_[job_.facts_.members[static_cast<std::size_t>(communicator)].front()];
  }
  void take_part(const Participation& part);
  void hand_out(const Collectives::Joined& joined);
  void open(Received received);
  base::Status sum_up();

  JoinedJob& job_;
  const JoinOptions& options_;
  Transport& transport_;
  Parcels parcels_;
  Collectives collectives_;
  std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<Channels>> channels_;  // by process; nullptr for those of others
  std::optional<Notices> notices_;
  std::vector<AccessEnd> access_ends_;  // of own processes
  Outgoing outgoing_;
  Channels::Joined joined_, joined_notices_;
  Collectives::Joined joined_parts_;
  std::vector<trace::Event> batch_;
  std::uint64_t per_window_;
};

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
  if (transport_.size() == 1) return kEventsPerWindow;
  const std::uint64_t processes = std::max<std::size_t>(1, job_.definitions().processes.size());
  return std::max(kEventsPerWindow, kEventsPerExchange * transport_.size() / processes);
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
    if (!more) end_lane(lane);
    if (lane.has_waiting) return;
  }
}

void Joiner::end_lane(Lane& lane) {
  lane.ended = true;
  for (EventConsumer* consumer : options_.consumers) consumer->end(lane.process);
  ProcessSummary& summary = job_.summary_.processes[lane.process];
  summary.events = lane.events;
  const auto& problems = lane.cursor.problems();
  job_.summary_.problems.insert(job_.summary_.problems.end(), problems.begin(), problems.end());
  if (!lane.recorder) return;
  lane.recorder->finish();
  route();
  job_.sites_[lane.process] = lane.recorder->sites();
  summary.losses = lane.recorder->losses();
  summary.lost_records = lane.recorder->lost_records();
  lane.recorder.reset();
}

// Delivers what the events of a process mean for its own and other processes.
void Joiner::route() {
  for (const SentMessage& message : outgoing_.sent) {
    const std::uint32_t to = job_.facts_.process_of(message.destination);
    if (to == kNobody) {
      ++job_.summary_.sends_to_nobody;
    } else if (job_.is_own(to)) {
      deliver(to, message);
    } else {
      parcels_.send(job_.mapping_[to], kSent, RoutedSend{message, to});
    }
  }
  route_notices();
  for (const SourceLoss& loss : outgoing_.losses) {
    apply(loss);
    for (std::size_t other = 0; other < transport_.size(); ++other) {
      if (other != transport_.rank()) parcels_.send(other, kLoss, loss);
    }
  }
  for (const Participation& part : outgoing_.parts) {
    if (job_.facts_.members[static_cast<std::size_t>(part.communicator)].size() < 2) continue;
    const std::uint32_t owner = owner_of_communicator(part.communicator);
    if (owner == transport_.rank()) {
      take_part(part);
    } else {
      parcels_.send(owner, kPart, part);
    }
  }
  for (const Closing& closing : outgoing_.closings) {
    const std::uint32_t owner = owner_of_communicator(closing.communicator);
    if (owner == transport_.rank()) {
      collectives_.close(closing);
    } else {
      parcels_.send(owner, kClosed, closing);
    }
  }
  apply(outgoing_.joined);
  outgoing_.sent.clear();
  outgoing_.losses.clear();
  outgoing_.parts.clear();
  outgoing_.closings.clear();
  outgoing_.joined.clear();
}

// Few programs have any.
void Joiner::route_notices() {
  for (const SentMessage& notice : outgoing_.notices) {
    const std::uint32_t to = job_.facts_.process_of(notice.destination);
    if (to == kNobody) continue;
    if (job_.is_own(to)) {
      notices_->told(to, notice, joined_notices_);
    } else {
      parcels_.send(job_.mapping_[to], kNoticeSent, RoutedSend{notice, to});
    }
  }
  for (const HeardNotice& heard : outgoing_.heard) notices_->heard(heard, joined_notices_);
  apply_notices();
  access_ends_.insert(access_ends_.end(), outgoing_.access_ends.begin(),
                      outgoing_.access_ends.end());
  outgoing_.notices.clear();
  outgoing_.heard.clear();
  outgoing_.access_ends.clear();
}

void Joiner::apply_notices() {
  for (const trace::JoinedEnds& joined : joined_notices_) apply_both(joined);
  joined_notices_.clear();
}

void Joiner::deliver(std::uint32_t process, const SentMessage& message) {
  joined_.clear();
  channels_[process]->send(message.key, message.end, joined_);
  if (!joined_.empty()) apply(joined_);
}

void Joiner::apply(const SourceLoss& loss) {
  joined_.clear();
  for (const std::uint32_t process : job_.own_) {
    channels_[process]->loss_at_source(loss.source, loss.time_ns, joined_);
  }
  notices_->loss(loss, joined_notices_);
  apply_notices();
  apply(joined_);
}

void Joiner::apply(const Channels::Joined& all) {
  for (const trace::JoinedEnds& joined : all) {
    ++job_.summary_.messages;
    ProcessSummary& receiver = job_.summary_.processes[joined.received.process];
    if (joined.received.time_ns < joined.sent.time_ns) {
      ++receiver.clock_errors;
      receiver.worst_clock_error_ns =
          std::max(receiver.worst_clock_error_ns, joined.sent.time_ns - joined.received.time_ns);
    }
    apply_both(joined);
  }
}

void Joiner::apply_both(const trace::JoinedEnds& joined) {
  apply_end(joined, false);
  if (job_.is_own(joined.sent.process)) {
    apply_end(joined, true);
  } else {
    parcels_.send(job_.mapping_[joined.sent.process], kMatched, joined);
  }
}

void Joiner::apply_end(const trace::JoinedEnds& joined, bool sender) {
  const trace::ChannelEnd& own = sender ? joined.sent : joined.received;
  const trace::ChannelEnd& other = sender ? joined.received : joined.sent;
  Step& step = job_.steps_->at(own.process, own.step);
  step.end_ns = other.begin_ns;
  step.partner = other.process;
  step.partner_step = other.step;
  step.flags |= kJoined;
}

void Joiner::apply(const JoinedCollective& joined) {
  Step& step = job_.steps_->at(joined.process, joined.step);
  step.end_ns = joined.decided_ns;
  step.bytes = joined.first_left_ns;
  step.partner = joined.partner;
  step.partner_step = joined.partner_step;
  step.flags |= joined.bystander ? kJoined | kBystander : kJoined;
  ++job_.summary_.collectives;
  if (joined.clock_error_ns == 0) return;
  ProcessSummary& process = job_.summary_.processes[joined.process];
  ++process.early_collectives;
  process.worst_clock_error_ns = std::max(process.worst_clock_error_ns, joined.clock_error_ns);
}

void Joiner::take_part(const Participation& part) {
  joined_parts_.clear();
  collectives_.take_part(part, joined_parts_);
  for (const JoinedCollective& joined : joined_parts_) {
    if (job_.is_own(joined.process)) {
      apply(joined);
    } else {
      parcels_.send(job_.mapping_[joined.process], kPartJoined, joined);
    }
  }
}

void Joiner::open(Received received) {
  while (received.more()) {
    switch (received.kind()) {
      case kSent: {
        const auto routed = received.take<RoutedSend>();
        deliver(routed.process, routed.message);
        break;
      }
      case kLoss: {
        apply(received.take<SourceLoss>());
        break;
      }
      case kNoticeSent: {
        const auto routed = received.take<RoutedSend>();
        notices_->told(routed.process, routed.message, joined_notices_);
        apply_notices();
        break;
      }
      case kMatched: apply_end(received.take<trace::JoinedEnds>(), true); break;
      case kPart: take_part(received.take<Participation>()); break;
      case kPartJoined: apply(received.take<JoinedCollective>()); break;
      case kClosed: collectives_.close(received.take<Closing>()); break;
      default: return;
    }
  }
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
    if (alone) {
      all_done = done || !job_.steps_->status();
      continue;
    }
    all_done = under_way;
    if (under_way) {
      for (const Transport::Bytes& bytes : transport_.finish_exchange()) {
        all_done = all_done && bytes.back() == 1;
        open(Received(bytes.data(), bytes.size() - 1));
      }
      if (all_done) break;
    }
    // A process that failed reports that it has nothing left to send, so that all end together.
    const bool idle = (done && parcels_.empty()) || !job_.steps_->status();
    auto outgoing = parcels_.take();
    for (Transport::Bytes& bytes : outgoing) bytes.push_back(idle ? 1 : 0);
    transport_.begin_exchange(std::move(outgoing));
    under_way = true;
  }
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
    return base::Error{"another process of the analysis ran out of disk space for its steps"};
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

}  // namespace fathom::analysis
