// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/loggops/replay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "simulator/loggops/event_queue.h"
#include "simulator/loggops/matching.h"

namespace fathom::simulator {
namespace {

constexpr double kNsPerSecond = 1e9;

// What can happen to an operation. A message is identified by its send.
enum class What : std::uint32_t {
  kStarted,  // a computation or a rendezvous send: releases what waits for its start
  kEnded,
  kFirstByte,    // of a message or of its request; it is matched now
  kAnswer,       // the sender may send the data
  kFirstOfData,  // of a rendezvous message
  kLastByte,     // the receive now needs a processor
};

struct Happening {
  OperationId operation;
  What what;
};

// Dependencies, indexed by the operation waited for.
class Followers {
 public:
  explicit Followers(const Program& program) : first_(program.size() + 1) {
    for (const auto& dependency : program.dependencies()) ++first_[dependency.before + 1];
    for (std::size_t at = 1; at < first_.size(); ++at) first_[at] += first_[at - 1];
    sorted_.resize(program.dependencies().size());
    std::vector<std::uint32_t> place(first_.begin(), first_.end() - 1);
    for (const auto& dependency : program.dependencies()) {
      sorted_[place[dependency.before]++] = {dependency.after, dependency.when};
    }
  }

  std::span<const Program::Successor> of(OperationId before) const {
    return {sorted_.data() + first_[before], sorted_.data() + first_[before + 1]};
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Program::Successor> sorted_;
};

class Replay {
 public:
  Replay(const Program& program, const LogGops& machine, const ReplayNetwork* network,
         LinkUsage* busy)
      : program_(program),
        machine_(machine),
        network_(network),
        followers_(program),
        matching_(program),
        waits_for_(program.size()),
        partner_(program.size(), kNoOperation),
        arrival_ns_(program.size(), kNever),
        processors_(processor_count(program)),
        busy_(busy),
        interfaces_(program.rank_count()) {
    result_.ranks.resize(program.rank_count());
    for (OperationId operation = 0; operation < program.size(); ++operation) {
      count_waits(program.successor(operation));
      for (const auto& follower : followers_.of(operation)) count_waits(follower);
    }
    processor_free_ns_.resize(processors_ * program.rank_count());
  }

  base::Result<ReplayResult> run() {
    for (OperationId operation = 0; operation < program_.size(); ++operation) {
      if (waits_for_[operation] == 0) ready_.push_back(operation);
    }
    start_ready();
    while (next_event()) start_ready();
    if (!flow_error_.message.empty()) return flow_error_;
    if (ended_ < program_.size()) return stuck();
    for (const RankTimes& rank : result_.ranks)
      result_.end_ns = std::max(result_.end_ns, rank.end_ns);
    result_.events = program_.size() + result_.messages;
    result_.unreceived = matching_.unexpected();
    return std::move(result_);
  }

 private:
  static constexpr double kNever = FlowModel::kNever;

  struct Interface {
    double sends_at_ns = 0;     // when it can send the next first byte
    double receives_at_ns = 0;  // when it can receive the next first byte
  };

  void count_waits(const Program::Successor& successor) {
    if (successor.operation != kNoOperation) ++waits_for_[successor.operation];
  }

  // False if no event is left.
  bool next_event() {
    const double event_ns = events_.empty() ? kNever : events_.next_time();
    const double flow_ns =
        network_ == nullptr ? kNever : network_->flows->next_event_s() * kNsPerSecond;
    if ((event_ns == kNever && flow_ns == kNever) || !flow_error_.message.empty()) return false;
    if (flow_ns < event_ns) {
      now_ns_ = std::max(now_ns_, flow_ns);
      for (const EndedFlow& flow : network_->flows->step()) {
        const double end_ns = std::max(now_ns_, flow.end_s * kNsPerSecond);
        flow_ended(static_cast<OperationId>(flow.tag), end_ns);
      }
      return true;
    }
    now_ns_ = event_ns;
    happen(events_.pop());
    return true;
  }

  void happen(const Happening& event) {
    switch (event.what) {
      case What::kStarted: started(event.operation); break;
      case What::kEnded: ended(event.operation); break;
      case What::kFirstByte: first_byte_arrived(event.operation); break;
      case What::kAnswer: send_data(event.operation); break;
      case What::kFirstOfData:
        receive_bytes(event.operation);
        await_last_byte(event.operation);
        break;
      case What::kLastByte: finish_receive(event.operation); break;
    }
  }

  // --- what waits for what ---

  void started(OperationId operation) { release(operation, When::kStarted); }

  void ended(OperationId operation) {
    ++ended_;
    double& end_ns = result_.ranks[program_[operation].rank].end_ns;
    end_ns = std::max(end_ns, now_ns_);
    // An eager send starts and ends at the same time.
    if (program_[operation].kind == OperationKind::kSend && is_eager(operation)) started(operation);
    release(operation, When::kEnded);
  }

  void release(OperationId before, When when) {
    release(program_.successor(before), when);
    for (const Program::Successor& follower : followers_.of(before)) release(follower, when);
  }

  void release(const Program::Successor& follower, When when) {
    if (follower.operation == kNoOperation || follower.when != when) return;
    if (--waits_for_[follower.operation] == 0) ready_.push_back(follower.operation);
  }

  bool start_is_waited_for(OperationId operation) const {
    const auto waits = [](const Program::Successor& follower) {
      return follower.operation != kNoOperation && follower.when == When::kStarted;
    };
    const auto followers = followers_.of(operation);
    return waits(program_.successor(operation)) ||
           std::any_of(followers.begin(), followers.end(), waits);
  }

  // Starts operations in the order they became ready; starting one may make others ready.
  void start_ready() {
    for (std::size_t at = 0; at < ready_.size(); ++at) start(ready_[at]);
    ready_.clear();
  }

  void start(OperationId operation) {
    switch (program_[operation].kind) {
      case OperationKind::kCompute: compute(operation); break;
      case OperationKind::kSend: send(operation); break;
      case OperationKind::kReceive: post(operation); break;
    }
  }

  // --- processors ---

  // Occupies the operation's processor for this long, from now or when it is free. Returns the end.
  double occupy(const Operation& operation, double nanoseconds) {
    double& free_ns = processor_free_ns_[operation.rank * processors_ + operation.processor];
    free_ns = std::max(free_ns, now_ns_) + nanoseconds;
    if (busy_ && nanoseconds > 0) {
      const auto processor =
          static_cast<std::uint32_t>(operation.rank * processors_ + operation.processor);
      busy_->change(processor, (free_ns - nanoseconds) * 1e-9, 1);
      busy_->change(processor, free_ns * 1e-9, 0);
    }
    return free_ns;
  }

  void compute(OperationId id) {
    const Operation& operation = program_[id];
    const double end_ns = occupy(operation, operation.amount);
    result_.ranks[operation.rank].compute_ns += operation.amount;
    if (start_is_waited_for(id)) events_.push(end_ns - operation.amount, {id, What::kStarted});
    events_.push(end_ns, {id, What::kEnded});
  }

  // Cost, to a processor of the rank, of sending or receiving this many bytes.
  double overhead_ns(std::uint32_t rank, double bytes) {
    const double overhead = machine_.o + machine_.O * bytes;
    result_.ranks[rank].overhead_ns += overhead;
    return overhead;
  }

  void finish_receive(OperationId send) {
    const OperationId receive = partner_[send];
    const Operation& operation = program_[receive];
    const double overhead = overhead_ns(operation.rank, program_[send].amount);
    events_.push(occupy(operation, overhead), {receive, What::kEnded});
  }

  // --- messages ---

  double passing_ns(double bytes) const { return std::max(bytes - 1, 0.0) * machine_.G; }
  bool is_eager(OperationId send) const { return program_[send].amount <= machine_.S_bytes; }
  std::uint32_t receiver(OperationId send) const {
    return program_.channels()[program_[send].channel].rank;
  }

  std::span<const std::uint32_t> route(OperationId send) const {
    if (network_ == nullptr) return {};
    return network_->route(program_[send].rank, receiver(send));
  }

  double latency_ns(std::span<const std::uint32_t> links) const {
    return links.empty() ? machine_.L : network_->flows->latency_s(links) * kNsPerSecond;
  }

  // When the first byte leaves the sender, if the bytes are ready at `ready_ns`.
  double depart(std::uint32_t rank, double ready_ns, double bytes, bool as_flow) {
    double& free_ns = interfaces_[rank].sends_at_ns;
    const double departure_ns = std::max(free_ns, ready_ns);
    // The links limit the rate of a flow, so it holds the interface for the gap alone.
    free_ns = departure_ns + (as_flow ? 0 : passing_ns(bytes)) + machine_.g;
    return departure_ns;
  }

  void send(OperationId id) {
    const Operation& operation = program_[id];
    const auto links = route(id);
    const bool eager = is_eager(id);
    const double issued_ns = occupy(operation, overhead_ns(operation.rank, operation.amount));
    const double departure_ns =
        depart(operation.rank, issued_ns, eager ? operation.amount : 1, !links.empty());
    if (eager && !links.empty()) start_flow(id, links, departure_ns);
    events_.push(departure_ns + latency_ns(links), {id, What::kFirstByte});
    if (eager) {
      events_.push(issued_ns, {id, What::kEnded});
    } else if (start_is_waited_for(id)) {
      events_.push(issued_ns, {id, What::kStarted});
    }
    ++result_.messages;
    result_.bytes += operation.amount;
  }

  void start_flow(OperationId id, std::span<const std::uint32_t> links, double departure_ns) {
    const double start_s = std::max(departure_ns / kNsPerSecond, network_->flows->now_s());
    const auto started = network_->flows->start({links, program_[id].amount, start_s, id});
    if (!started) flow_error_ = started.error();
  }

  void first_byte_arrived(OperationId send) {
    const bool eager = is_eager(send);
    if (eager && route(send).empty()) receive_bytes(send);
    partner_[send] = matching_.arrive(send);
    if (partner_[send] == kNoOperation) return;
    eager ? await_last_byte(send) : answer(send);
  }

  void post(OperationId receive) {
    started(receive);
    const OperationId send = matching_.post(receive);
    if (send == kNoOperation) return;
    partner_[send] = receive;
    is_eager(send) ? await_last_byte(send) : answer(send);
  }

  // The first byte is there and the receiver's interface takes in the message; sets arrival_ns_.
  void receive_bytes(OperationId send) {
    const double passing = passing_ns(program_[send].amount);
    double& free_ns = interfaces_[receiver(send)].receives_at_ns;
    arrival_ns_[send] = std::max(free_ns, now_ns_) + passing;
    free_ns = arrival_ns_[send] + machine_.g;
  }

  // Only for a message that has a receive. While its flow is active, flow_ended() does this later.
  void await_last_byte(OperationId send) {
    if (arrival_ns_[send] == kNever) return;
    events_.push(std::max(now_ns_, arrival_ns_[send]), {send, What::kLastByte});
  }

  void answer(OperationId send) {
    events_.push(now_ns_ + latency_ns(route(send)), {send, What::kAnswer});
  }

  void send_data(OperationId id) {
    const Operation& operation = program_[id];
    const auto links = route(id);
    const double departure_ns = depart(operation.rank, now_ns_, operation.amount, !links.empty());
    if (!links.empty()) {
      start_flow(id, links, departure_ns);
      return;
    }
    events_.push(departure_ns + passing_ns(operation.amount), {id, What::kEnded});
    events_.push(departure_ns + machine_.L, {id, What::kFirstOfData});
  }

  void flow_ended(OperationId send, double end_ns) {
    arrival_ns_[send] = end_ns;
    if (!is_eager(send)) events_.push(end_ns, {send, What::kEnded});
    if (partner_[send] != kNoOperation) await_last_byte(send);
  }

  // --- the end ---

  base::Error stuck() const {
    std::vector<bool> has_message(program_.size());
    for (OperationId receive : partner_) {
      if (receive != kNoOperation) has_message[receive] = true;
    }
    const std::string left =
        "; " + std::to_string(program_.size() - ended_) + " operations are left";
    for (OperationId id = 0; id < program_.size(); ++id) {
      const OperationKind kind = program_[id].kind;
      if (waits_for_[id] != 0) continue;
      if (kind == OperationKind::kReceive && !has_message[id]) {
        return {describe(id, "receives from") + ", but no such message is sent" + left};
      }
      if (kind == OperationKind::kSend && !is_eager(id) && partner_[id] == kNoOperation) {
        return {describe(id, "sends to") + ", which never receives it" + left};
      }
    }
    return {"operations wait for each other in a cycle" + left};
  }

  std::string describe(OperationId id, const char* what) const {
    const Operation& operation = program_[id];
    const Channel& channel = program_.channels()[operation.channel];
    const std::uint32_t peer =
        operation.kind == OperationKind::kSend ? channel.rank : channel.source;
    return "rank " + std::to_string(operation.rank) + " waits forever: it " + what + " " +
           (peer == kAnySource ? "any rank" : "rank " + std::to_string(peer)) + ", " +
           (channel.tag == kAnyTag ? "any tag" : "tag " + std::to_string(channel.tag)) +
           ", communicator " + std::to_string(channel.communicator);
  }

  const Program& program_;
  const LogGops& machine_;
  const ReplayNetwork* network_;
  Followers followers_;
  Matching matching_;
  EventQueue<Happening> events_;
  double now_ns_ = 0;
  std::vector<OperationId> ready_;
  std::vector<std::uint32_t> waits_for_;  // by operation: number of unmet dependencies
  std::vector<OperationId> partner_;      // by send: the receive that gets it
  std::vector<double> arrival_ns_;        // by send: of the last byte; kNever if unknown
  std::size_t processors_;                // per rank
  LinkUsage* busy_;
  std::vector<double> processor_free_ns_;  // by rank, then by processor
  std::vector<Interface> interfaces_;      // by rank
  std::size_t ended_ = 0;
  base::Error flow_error_;
  ReplayResult result_;
};

base::Status check(const Program& program, const LogGops& machine, const ReplayNetwork* network) {
  for (double value : {machine.L, machine.o, machine.g, machine.G, machine.O, machine.S_bytes}) {
    if (std::isnan(value) || value < 0) {
      return base::Error{"a LogGOPS parameter is " + std::to_string(value) +
                         "; it must be zero or more"};
    }
  }
  for (OperationId id = 0; id < program.size(); ++id) {
    const Operation& operation = program[id];
    if (std::isfinite(operation.amount) && operation.amount >= 0) continue;
    return base::Error{"operation " + std::to_string(id) + " of rank " +
                       std::to_string(operation.rank) + " has the amount " +
                       std::to_string(operation.amount) + "; it must be zero or more"};
  }
  if (network != nullptr && network->flows->now_s() > 0) {
    return base::Error{"the flow model of a replay must be fresh; it is at " +
                       std::to_string(network->flows->now_s()) + " s already"};
  }
  return base::Done{};
}

}  // namespace

base::Result<ReplayResult> replay(const Program& program, const LogGops& machine,
                                  const ReplayNetwork* network, LinkUsage* busy) {
  if (auto checked = check(program, machine, network); !checked) return checked.error();
  return Replay(program, machine, network, busy).run();
}

std::uint32_t processor_count(const Program& program) {
  std::uint32_t count = 1;
  for (OperationId id = 0; id < program.size(); ++id)
    count = std::max(count, program[id].processor + 1u);
  return count;
}

}  // namespace fathom::simulator
