// SPDX-License-Identifier: BSD-3-Clause
// Visits the steps of all processes in causal order, forward or backward, and lets each process
// pass something on to the processes that depend on it. A custom analysis takes about 30 lines
// (docs/adding-an-analysis.md).
//
// This is a Kahn network: every process is one sequence of steps and proceeds until it needs
// something that another has not passed on yet. So what an analysis sees at each process, and what
// it takes there, is the same for every number of analysis processes. Per-process results are
// therefore the same too; sums over processes are if they are integers.
//
//            gives                                      takes
// forward    message: kSend                             where the receive completes, or a probe
//                                                       found it (kProbe)
//            collective: kCollective                    there too; non-blocking: where it completes
// backward   message: where the receive takes it        kSend
//            collective: where it completes             kCollective
//            (1) send that waited: where it completes   the call that posted its receive, before
//                                                       step() is called for it
// forward    (1) the call that posted its receive       send that waited: where it completes
//
// (1) If the Analysis has `static constexpr bool kSendersWait = true`, for the sends and receives
// that are marked kAwaited. The receiver's side of it is the kReceive, whose `posted` is that call.
//
// In a collective, each member takes the merged payloads of the members it depends on (backward: of
// the members that depend on it): of all in barriers and N-to-N; from the root; at the root from
// all others; in scans from the lower ranks. It takes nothing if there are none. In a rooted
// collective of an intercommunicator, members of the root's own group neither give nor take, nor does
// any member of a collective that did not bring them together (kBystander). Hidden messages
// pass nothing on, except those of neighbourhood collectives and notices (step.h).
//
// An Analysis has
//
//   struct Payload
//       trivially copyable, small
//   void step(std::uint32_t process, std::uint32_t number, const Step& step)
//       called for every step, before it gives or takes
//   Payload give(std::uint32_t process, const Step& part)
//       part: the kSend, kReceive or kCollective
//   void take(std::uint32_t process, const Step& part, const Payload& payload)
//   static void merge(Payload& into, const Payload& other)
//       commutative and associative
//
// and, if it has something to say to the owner of another process that concerns no step,
//
//   struct Note
//       trivially copyable
//   void tell(auto&& send)
//       calls send(process, note) with each new Note, for processes of others; called often
//   void told(std::uint32_t process, const Note& note)
//       at the owner of `process`; in any order
//
// Cost: about 50 ns per message. Memory: payloads not yet taken.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"
#include "base/flat_map.h"

namespace fathom::analysis {

// Whether a member of a collective depends on another, given both positions and the root's in the
// communicator.
bool depends(Flow flow, Direction direction, std::size_t member, std::size_t on, std::size_t root);
inline constexpr std::size_t kNoRoot = ~std::size_t{0};

template <typename Analysis>
class CausalWalk : public Pass {
 public:
  using Payload = typename Analysis::Payload;

  CausalWalk(JoinedJob& job, Analysis& analysis, Direction direction)
      : job_(job),
        analysis_(analysis),
        forward_(direction == Direction::kForward),
        direction_(direction),
        parcels_(job.transport().size()),
        lanes_(job.mapping().size()) {
    for (const std::uint32_t process : job.own()) {
      Lane& lane = lanes_[process];
      lane.at = forward_ ? 0 : job.steps().size(process);
      lane.queued = true;
      ready_.push_back(process);
      if (kSendersWait && forward_) find_awaited(process, lane);
    }
    find_window();
  }

  // How often a process was released without what it should have taken because the giver's part is
  // missing. Valid at the end.
  std::uint64_t released() const { return released_; }

  Parcels& parcels() override { return parcels_; }

  // Processes one window of time, so that no process runs far ahead of those that take from it.
  Stall work() override {
    while (!ready_.empty()) {
      const std::uint32_t process = ready_.back();
      ready_.pop_back();
      Lane& lane = lanes_[process];
      lane.queued = false;
      lane.ended = go_on(process, lane);
    }
    tell_others();
    Stall latest;
    latest.more = !later_.empty();
    if (latest.more) {
      next_window();
      return latest;
    }
    for (const std::uint32_t process : job_.own()) {
      Lane& lane = lanes_[process];
      if (lane.ended) continue;
      std::uint64_t time_ns = job_.steps().at(process, forward_ ? lane.at : lane.at - 1).time_ns;
      if (forward_) time_ns = ~time_ns;  // the earliest is released first
      if (!latest.waits || time_ns > latest.time_ns)
        latest = {time_ns, process, true, false, false};
    }
    return latest;
  }

  void open(Received& received) override {
    while (received.more()) {
      const char kind = received.kind();
      if (kind == kHanded) {
        hand(received.take<Handed>());
      } else if (kind == kContributed) {
        join(received.take<Contribution>());
      } else if constexpr (kHasNotes) {
        const auto told = received.take<Told<Analysis>>();
        analysis_.told(told.process, told.note);
      }
    }
  }

  void release(std::uint32_t process) override {
    ++released_;
    if (!job_.is_own(process)) return;
    lanes_[process].released = true;
    wake(process);
  }

 private:
  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};
  enum ParcelKind : char { kHanded, kContributed, kTold };
  static constexpr bool kSendersWait = requires { requires Analysis::kSendersWait; };
  static constexpr bool kHasNotes = requires { typename Analysis::Note; };

  template <typename Of>
  struct Told {
    std::uint32_t process = 0;
    typename Of::Note note;
  };

  // A receive that its sender waited for, and the call that posted it.
  struct Awaited {
    std::uint32_t posted = 0, receive = 0;
    auto operator<=>(const Awaited&) const = default;
  };

  struct Lane {
    std::uint32_t at = 0;  // forward: the next step; backward: one past it
    bool begun = false;    // step() and give() were called for it
    bool queued = false, ended = false, released = false;
    base::FlatMap<std::uint64_t, std::uint32_t> handed;  // by own step: index into payloads_
    base::FlatMap<std::uint64_t, bool> without;         // collectives that give this member nothing
    base::FlatMap<std::uint64_t, std::uint64_t> heard;  // backward: by own kSend of which several
                                                        // heard: how many have given
    std::vector<std::uint32_t> awaited;  // backward: own kReceives completed but not yet posted
    std::vector<Awaited> to_post;        // forward: the next last
  };
  struct Handed {
    std::uint32_t process = 0, step = 0;
    bool something = true;
    bool one_of_several = false;  // backward: to a kSend of which several heard
    Payload payload{};
  };
  struct Contribution {
    std::int32_t communicator = 0;
    std::uint32_t object = 0, number = 0, process = 0, step = 0;
    Flow flow = Flow::kNone;
    bool root = false;
    Payload payload{};
  };
  struct Key {
    std::int32_t communicator = 0;
    std::uint32_t object = 0, number = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const {
      return base::mixed(std::uint64_t{static_cast<std::uint32_t>(key.communicator)} << 32 |
                         key.number) ^
             base::mixed(key.object);
    }
  };
  struct Operation {
    std::vector<Contribution> parts;  // by position in the communicator; process kNobody: missing
    std::vector<bool> served;
    std::size_t arrived = 0, expected = 0, root = kNoRoot;
  };

  // Time that increases in the direction of the walk.
  std::uint64_t moment(std::uint64_t time_ns) const { return forward_ ? time_ns : ~time_ns; }

  void next_window() {
    std::uint64_t first = ~std::uint64_t{0};
    for (const std::uint32_t process : later_) {
      const Lane& lane = lanes_[process];
      first = std::min(first,
                       moment(job_.steps().at(process, forward_ ? lane.at : lane.at - 1).time_ns));
    }
    window_end_ = first + window_ns_ <= first ? kNoEnd : first + window_ns_;
    ready_.swap(later_);
    later_.clear();
  }

  // A window has some thousand steps of each process.
  void find_window() {
    constexpr std::uint64_t kStepsPerWindow = 4096;
    std::uint64_t span_ns = 1, most = 1;
    for (const std::uint32_t process : job_.own()) {
      span_ns = std::max(span_ns, job_.definitions().processes[process].last_ns);
      most = std::max<std::uint64_t>(most, job_.steps().size(process));
    }
    window_ns_ = std::max<std::uint64_t>(1, span_ns / (most / kStepsPerWindow + 1));
  }

  bool go_on(std::uint32_t process, Lane& lane) {
    const StepFile& steps = job_.steps();
    const std::uint32_t end = forward_ ? steps.size(process) : 0;
    while (lane.at != end) {
      const std::uint32_t number = forward_ ? lane.at : lane.at - 1;
      const Step& step = steps.at(process, number);
      if (!lane.begun) {
        if (moment(step.time_ns) >= window_end_ && window_end_ != kNoEnd) {
          lane.queued = true;
          later_.push_back(process);
          return false;
        }
        if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
        if (kSendersWait && !forward_ && !take_from_senders(process, lane, number, step))
          return false;
        analysis_.step(process, number, step);
        if (kSendersWait && forward_) give_to_senders(process, lane, number);
        give(process, number, step);
        lane.begun = true;
      }
      const std::uint32_t takes = what_it_takes(process, number, step);
      if (takes != kNobody) {
        const std::uint32_t* place = lane.handed.find(takes);
        if (place != nullptr && !forward_ && !all_have_heard(lane, takes, step)) place = nullptr;
        if (place != nullptr) {
          take_handed(process, lane, takes, *place);
        } else if (!lane.without.erase(takes) && !lane.released) {
          return false;
        }
        lane.released = false;
      }
      lane.begun = false;
      forward_ ? ++lane.at : --lane.at;
    }
    return true;
  }

  // Backward: whether everyone who heard of it has given.
  bool all_have_heard(Lane& lane, std::uint32_t number, const Step& told) const {
    if (told.kind != StepKind::kSend || !told.has(kNotice)) return true;
    const std::uint64_t* const heard = lane.heard.find(number);
    if (heard != nullptr && *heard < told.bytes && !lane.released) return false;
    lane.heard.erase(number);
    return true;
  }

  bool takes_part(std::uint32_t process, const Step& part) const {
    if (!part.has(kJoined) || (part.kind != StepKind::kCollective && is_internal(part)))
      return false;
    return part.kind != StepKind::kCollective ||
           (!part.has(kBystander) && flow_of(process, part) != Flow::kNone);
  }
  Flow flow_of(std::uint32_t process, const Step& part) const {
    return job_.facts().meaning_of(part, job_.steps().at(process, part.call)).flow;
  }

  std::uint32_t what_it_takes(std::uint32_t process, std::uint32_t number, const Step& step) const {
    if (!forward_) {
      const bool begins = step.kind == StepKind::kSend || step.kind == StepKind::kCollective;
      return begins && takes_part(process, step) ? number : kNobody;
    }
    const std::uint32_t complete = ends_with(process, number, step);
    if (complete == kNobody) return kNobody;
    const Step& part = job_.steps().at(process, complete);
    if (part.kind == StepKind::kSend && !(kSendersWait && part.has(kAwaited))) return kNobody;
    return takes_part(process, part) ? complete : kNobody;
  }

  // The part that is over for the process from this step on. What a probe found is there from the
  // probe on, so its completion changes nothing.
  std::uint32_t ends_with(std::uint32_t process, std::uint32_t number, const Step& step) const {
    if (step.kind == StepKind::kProbe) return step.partner_step;
    const std::uint32_t complete = completed_with(number, step);
    if (complete == kNobody) return kNobody;
    const Step& part = job_.steps().at(process, complete);
    return part.has(kProbed) ? kNobody : complete;
  }

  // Backward: the call that posted a receive takes from the senders that waited for it. False if
  // something is still missing.
  bool take_from_senders(std::uint32_t process, Lane& lane, std::uint32_t number,
                         const Step& step) {
    const StepFile& steps = job_.steps();
    if (step.kind == StepKind::kReceive && step.has(kAwaited) && step.posted < number)
      lane.awaited.push_back(number);
    if (step.kind != StepKind::kCall || lane.awaited.empty()) return true;
    for (const std::uint32_t receive : lane.awaited) {
      if (steps.at(process, receive).posted != number || lane.handed.find(receive)) continue;
      if (!lane.released) return false;
      lane.released = false;
      break;
    }
    std::erase_if(lane.awaited, [&](std::uint32_t receive) {
      if (steps.at(process, receive).posted != number) return false;
      if (const std::uint32_t* place = lane.handed.find(receive))
        take_handed(process, lane, receive, *place);
      return true;
    });
    return true;
  }

  // Receives are placed where their messages arrive, so the calls that post them come before.
  void find_awaited(std::uint32_t process, Lane& lane) {
    const StepFile& steps = job_.steps();
    for (std::uint32_t number = 0; number < steps.size(process); ++number) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(process, number);
      if (step.kind == StepKind::kReceive && step.has(kAwaited))
        lane.to_post.push_back({step.posted == kNobody ? 0 : step.posted, number});
    }
    std::sort(lane.to_post.rbegin(), lane.to_post.rend());
  }

  void give_to_senders(std::uint32_t process, Lane& lane, std::uint32_t number) {
    while (!lane.to_post.empty() && lane.to_post.back().posted <= number) {
      const Step& part = job_.steps().at(process, lane.to_post.back().receive);
      lane.to_post.pop_back();
      if (takes_part(process, part))
        hand(Handed{part.partner, part.partner_step, true, false, analysis_.give(process, part)});
    }
  }

  void tell_others() {
    if constexpr (kHasNotes) {
      analysis_.tell([this](std::uint32_t process, const typename Analysis::Note& note) {
        parcels_.send(job_.mapping()[process], kTold, Told<Analysis>{process, note});
      });
    }
  }

  void take_handed(std::uint32_t process, Lane& lane, std::uint32_t part, std::uint32_t place) {
    const Step& step = job_.steps().at(process, part);
    const NextHearer next = forward_ ? NextHearer::of(step) : NextHearer{};
    free_.push_back(place);
    analysis_.take(process, step, payloads_[place]);
    lane.handed.erase(part);
    if (next.process == kNobody) return;
    const Payload payload = payloads_[place];
    hand(Handed{next.process, next.step, true, false, payload});
  }

  void give(std::uint32_t process, std::uint32_t number, const Step& step) {
    std::uint32_t gives = kNobody;
    if (forward_) {
      if (step.kind == StepKind::kSend || step.kind == StepKind::kCollective) gives = number;
    } else {
      gives = ends_with(process, number, step);
    }
    if (gives == kNobody) return;
    const Step& part = job_.steps().at(process, gives);
    if (!takes_part(process, part) ||
        (!forward_ && part.kind == StepKind::kSend && !(kSendersWait && part.has(kAwaited))))
      return;
    const Payload payload = analysis_.give(process, part);
    if (part.kind == StepKind::kCollective) return contribute(process, gives, part, payload);
    const bool one_of_several = !forward_ && part.kind == StepKind::kReceive && part.has(kNotice);
    hand(Handed{part.partner, part.partner_step, true, one_of_several, payload});
  }

  void hand(const Handed& handed) {
    if (!job_.is_own(handed.process))
      return parcels_.send(job_.mapping()[handed.process], kHanded, handed);
    Lane& lane = lanes_[handed.process];
    if (handed.one_of_several) ++lane.heard[handed.step];
    const std::uint32_t* const others =
        handed.one_of_several ? lane.handed.find(handed.step) : nullptr;
    if (others != nullptr) {
      Analysis::merge(payloads_[*others], handed.payload);
    } else if (handed.something) {
      lane.handed[handed.step] = keep(handed.payload);
    } else {
      lane.without[handed.step] = true;
    }
    wake(handed.process);
  }

  std::uint32_t keep(const Payload& payload) {
    if (free_.empty()) {
      payloads_.push_back(payload);
      return static_cast<std::uint32_t>(payloads_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    payloads_[place] = payload;
    return place;
  }

  void wake(std::uint32_t process) {
    Lane& lane = lanes_[process];
    if (lane.ended || lane.queued) return;
    lane.queued = true;
    ready_.push_back(process);
  }

  void contribute(std::uint32_t process, std::uint32_t number, const Step& part,
                  const Payload& payload) {
    Contribution one{part.communicator,      part.object, part.number, process, number,
                     flow_of(process, part), false,       payload};
    one.root = (one.flow == Flow::kFromRoot) == (part.partner == kNobody);
    const std::uint32_t owner = job_.mapping()[members(part.communicator).front()];
    if (owner == job_.transport().rank()) return join(one);
    parcels_.send(owner, kContributed, one);
  }

  const std::vector<std::uint32_t>& members(std::int32_t communicator) const {
    return job_.facts().members[static_cast<std::size_t>(communicator)];
  }
  std::size_t position(std::int32_t communicator, std::uint32_t process) {
    const auto key = [&](std::uint32_t member) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(communicator)) << 32 | member;
    };
    if (const std::uint32_t* known = positions_.find(key(process))) return *known;
    const auto& all = members(communicator);
    for (std::size_t i = 0; i < all.size(); ++i)
      positions_[key(all[i])] = static_cast<std::uint32_t>(i);
    return *positions_.find(key(process));
  }

  void join(const Contribution& one) {
    const std::size_t size = members(one.communicator).size();
    const Key key{one.communicator, one.object, one.number};
    Operation& operation = operations_[key];
    if (operation.parts.empty()) {
      operation.parts.resize(size);
      for (Contribution& part : operation.parts) part.process = kNobody;
      operation.served.resize(size);
    }
    const std::size_t here = position(one.communicator, one.process);
    operation.expected = expected(one, here);
    operation.parts[here] = one;
    ++operation.arrived;
    if (one.root && (one.flow == Flow::kFromRoot || one.flow == Flow::kToRoot))
      operation.root = here;
    const bool complete = operation.arrived == operation.expected;
    std::vector<Handed> handed;
    if (complete && (one.flow == Flow::kBarrier || one.flow == Flow::kAllToAll)) {
      serve_all_alike(operation, handed);
    } else if (complete || (one.flow != Flow::kBarrier && one.flow != Flow::kAllToAll)) {
      for (std::size_t member = 0; member < size; ++member) serve(operation, one, member, handed);
    }
    if (complete) operations_.erase(key);
    for (const Handed& each : handed) hand(each);
  }

  // How many take part. In a rooted collective of an intercommunicator, the root and the other group.
  std::size_t expected(const Contribution& one, std::size_t here) const {
    const std::size_t size = members(one.communicator).size(),
                      local =
                          job_.facts().local_members[static_cast<std::size_t>(one.communicator)];
    const bool rooted = one.flow == Flow::kFromRoot || one.flow == Flow::kToRoot;
    if (!rooted || local == size) return size;
    const bool root_is_local = one.root == (here < local);
    return 1 + (root_is_local ? size - local : local);
  }

  void serve_all_alike(const Operation& operation, std::vector<Handed>& handed) {
    Payload all = operation.parts.front().payload;
    for (std::size_t i = 1; i < operation.parts.size(); ++i)
      Analysis::merge(all, operation.parts[i].payload);
    for (const Contribution& part : operation.parts)
      handed.push_back({part.process, part.step, true, false, all});
  }

  // Serves the member once everything it depends on has arrived.
  void serve(Operation& operation, const Contribution& of, std::size_t member,
             std::vector<Handed>& handed) {
    const auto& parts = operation.parts;
    const Flow flow = of.flow;
    const bool rooted = flow == Flow::kFromRoot || flow == Flow::kToRoot;
    if (operation.served[member] || parts[member].process == kNobody) return;
    Handed one{parts[member].process, parts[member].step, false, false, {}};
    const bool all_there = operation.arrived == operation.expected;
    for (std::size_t on = 0; on < parts.size(); ++on) {
      // The root is known only once its part has arrived.
      const bool unknown = rooted && operation.root == kNoRoot && !all_there;
      if (unknown && !(parts[member].root)) {
        const bool waits_for_root = (flow == Flow::kFromRoot) == forward_;
        if (waits_for_root) return;
        continue;
      }
      if (!depends(flow, direction_, member, on, operation.root)) continue;
      if (rooted && !job_.facts().exchange(of.communicator, member, on)) continue;
      if (parts[on].process == kNobody) return;
      if (one.something) {
        Analysis::merge(one.payload, parts[on].payload);
      } else {
        one.payload = parts[on].payload;
        one.something = true;
      }
    }
    operation.served[member] = true;
    handed.push_back(one);
  }

  JoinedJob& job_;
  Analysis& analysis_;
  const bool forward_;
  const Direction direction_;
  Parcels parcels_;
  std::vector<Lane> lanes_;
  std::vector<Payload> payloads_;    // given and not taken; may be large, so maps hold indices
  std::vector<std::uint32_t> free_;  // free indices
  std::vector<std::uint32_t> ready_, later_;
  std::uint64_t window_ns_ = 1, window_end_ = 0;  // the end is a moment()
  base::FlatMap<Key, Operation, KeyHash> operations_;
  base::FlatMap<std::uint64_t, std::uint32_t> positions_;
  std::uint64_t released_ = 0;
};

// Collective over the job's transport. Returns how often a process was released.
template <typename Analysis>
std::uint64_t walk_causally(JoinedJob& job, Analysis& analysis, Direction direction) {
  CausalWalk<Analysis> pass(job, analysis, direction);
  run_passes(job.transport(), {&pass});
  return pass.released();
}

}  // namespace fathom::analysis
