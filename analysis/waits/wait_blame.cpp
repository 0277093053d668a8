// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_blame.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"
#include "analysis/scope/scope_filter.h"
#include "analysis/waits/wait_notes.h"
#include "base/flat_map.h"

namespace fathom::analysis {
namespace {

// Of a collective: its sequence, and the position in it.
struct Place {
  std::int32_t communicator = -1;
  std::uint32_t object = 0, number = 0;
  bool operator==(const Place&) const = default;
};
Place place_of(const Step& collective) {
  return {collective.communicator, collective.object, collective.number};
}

struct Blame {
  WaitKey wait;                         // whose wait; its culprit is to blame
  std::uint32_t step = 0;               // of the culprit: what was waited for
  std::uint32_t others_step = kNobody;  // of the culprit: where the two last met
  Place all;                            // of the last collective of all before, if any
  std::uint64_t waited_ns = 0;          // duration of the wait
  std::uint64_t direct_ns = 0;          // the part of it that counts
  std::uint64_t passed_ns = 0;          // and waits of others caused by it
  // How long the waiting thread was busy since either, and since the beginning.
  std::uint64_t busy_ns = 0, busy_since_all_ns = 0, busy_in_all_ns = 0;
};

__extension__ using Wide = unsigned __int128;

// Shares are nanoseconds of blame per nanosecond of waiting, times 2^32.
constexpr int kShareBits = 32;
constexpr std::uint64_t share_of(std::uint64_t blame_ns, std::uint64_t waited_ns) {
  const Wide share = (static_cast<Wide>(blame_ns) << kShareBits) / waited_ns;
  return share > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share);
}
constexpr std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return static_cast<std::uint64_t>(static_cast<Wide>(whole) * part / of);
}

class Backward {
 public:
  Backward(JoinedJob& job, std::uint32_t process, const WaitScope& scope, WaitTallies& tallies)
      : job_(job),
        process_(process),
        scope_(scope),
        tallies_(tallies),
        at_(job.steps().size(process)),
        open_(job, process) {}

  // Continues until it needs blame that has not arrived, and hands out its own. True at the
  // beginning of the trace.
  template <typename HandOut>
  bool go_on(HandOut hand_out) {
    while (at_ > 0 || waiting_) {
      if (!waiting_) {
        const std::uint32_t number = --at_;
        if (at_ % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
        const Step& step = job_.steps().at(process_, number);
        if (step.kind != StepKind::kCall) {
          open_.add(number, step);
          continue;
        }
        begin_call(number, step, hand_out);
      }
      const Step& call = job_.steps().at(process_, at_);
      const auto* come = come_.find(at_);
      if (call.blamed > (come ? come->size() : 0) && !released_) {
        waiting_ = true;
        return false;
      }
      waiting_ = released_ = false;
      if (come != nullptr) {
        for (const Blame& blame : *come) share(blame, call);
        come_.erase(at_);
      }
    }
    return true;
  }

  void take(const Blame& blame) {
    const std::uint32_t call = job_.steps().at(process_, blame.step).posted;
    if (call != kNobody) come_[call].push_back(blame);
  }
  std::uint64_t time_ns() const { return job_.steps().at(process_, at_).time_ns; }
  void release() { released_ = true; }

 private:
  template <typename HandOut>
  void begin_call(std::uint32_t number, const Step& call, HandOut hand_out) {
    Shares& shares = shares_of(call);
    while (!shares.given.empty() && std::get<0>(shares.given.top()) > number) {
      shares.sum -= std::get<1>(shares.given.top());
      shares.given.pop();
    }
    wait_ns_ = 0;
    const CallWait* const open = open_.find(number);
    if (open == nullptr) return;
    Wait wait = open->wait();
    wait_ns_ = wait.ns;
    if (wait.ns > 0) {
      const std::uint64_t counted_ns = in_scope_ns(call, wait);
      const WaitKey key = key_of(call, wait);
      if (counted_ns > 0) tallies_.add(key, counted_ns, std::max(call.time_ns, scope_.from_ns));
      hand_out(blame_for(key, call, wait, counted_ns, shares.sum));
    }
    std::uint64_t sent_ns = ~std::uint64_t{0};
    for (const std::uint32_t part : open->completed()) {
      const Step& step = job_.steps().at(process_, part);
      if (step.kind == StepKind::kReceive) sent_ns = std::min(sent_ns, step.end_ns);
    }
    if (sent_ns != ~std::uint64_t{0}) next_sent_ns_ = sent_ns;
    open_.close(number);
  }

  // The part of a wait that counts; the wait begins when the call is entered.
  std::uint64_t in_scope_ns(const Step& call, const Wait& wait) const {
    if (scope_.processes && !(*scope_.processes)[process_]) return 0;
    if (!holds_phase(scope_.phases, call.partner)) return 0;
    const std::uint64_t begin_ns = std::max(call.time_ns, scope_.from_ns),
                        end_ns = std::min(call.time_ns + wait.ns, scope_.to_ns);
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
  }

  WaitKey key_of(const Step& call, const Wait& wait) const {
    WaitKey key = key_of(call);
    key.culprit = wait.culprit;
    const bool wrong_order = wait.kind == WaitKind::kLateSender && next_sent_ns_ < call.time_ns;
    key.kind = static_cast<std::uint32_t>(wrong_order ? WaitKind::kWrongOrder : wait.kind);
    return key;
  }

  WaitKey key_of(const Step& call) const {
    WaitKey key;
    key.process = process_;
    key.function = call.number;
    key.phase = call.partner;
    key.site = job_.site_address(process_, call);
    return key;
  }

  // How long a thread had waited since the end of one of its calls (kNobody: since the beginning).
  // 0 if that call was left after the moment in question.
  std::uint64_t waited_since(std::uint32_t from_call, std::uint64_t waited_before_ns) const {
    if (from_call == kNobody) return waited_before_ns;
    const std::uint64_t waited_by_then_ns = job_.steps().at(process_, from_call).note;
    return waited_before_ns > waited_by_then_ns ? waited_before_ns - waited_by_then_ns : 0;
  }

  // Busy time from the end of one call to the beginning of another on the same thread.
  std::uint64_t busy_since(std::uint32_t from_call, const Step& call,
                           std::uint64_t waited_before_ns) const {
    const Step& from = job_.steps().at(process_, from_call == kNobody ? 0 : from_call);
    const std::uint64_t from_ns = from_call == kNobody ? from.time_ns : from.end_ns;
    const std::uint64_t waited_ns = waited_since(from_call, waited_before_ns);
    const std::uint64_t span_ns = call.time_ns > from_ns ? call.time_ns - from_ns : 0;
    return span_ns > waited_ns ? span_ns - waited_ns : 0;
  }

  Blame blame_for(const WaitKey& key, const Step& call, const Wait& wait, std::uint64_t counted_ns,
                  std::uint64_t share_sum) const {
    const Meeting met = unpacked(job_.steps().at(process_, wait.part).note);
    const std::uint64_t before_ns = call.note - wait.ns;
    Blame blame;
    blame.wait = key;
    blame.step = wait.culprit_step;
    blame.others_step = met.others_step;
    blame.direct_ns = counted_ns;
    blame.waited_ns = wait.ns;
    blame.passed_ns =
        static_cast<std::uint64_t>(static_cast<Wide>(wait.ns) * share_sum >> kShareBits);
    blame.busy_ns = busy_since(met.own_call, call, before_ns);
    blame.busy_in_all_ns = busy_since(kNobody, call, before_ns);
    if (call.call != kNobody) {
      const Step& all = job_.steps().at(process_, call.call);
      blame.all = place_of(all);
      blame.busy_since_all_ns = busy_since(all.call, call, before_ns);
    }
    return blame;
  }

  void share(const Blame& blame, const Step& call) {
    const StepFile& steps = job_.steps();
    if (blame.direct_ns > 0) tallies_.late(blame.wait, at_, blame.waited_ns);
    std::uint32_t from =
        blame.others_step == kNobody ? kNobody : steps.at(process_, blame.others_step).posted;
    std::uint64_t others_busy_ns = blame.busy_ns;
    // If they met on another thread of this process, nothing is known about this thread since then.
    if (from != kNobody && steps.at(process_, from).thread != call.thread) {
      from = kNobody;
      others_busy_ns = blame.busy_in_all_ns;
    }
    if (call.call != kNobody && blame.all == place_of(steps.at(process_, call.call))) {
      const std::uint32_t all = steps.at(process_, call.call).call;
      if (from == kNobody || all > from) {
        from = all;
        others_busy_ns = blame.busy_since_all_ns;
      }
    }
    const std::uint64_t before_ns = call.note - wait_ns_;
    const std::uint64_t busy_ns = busy_since(from, call, before_ns);
    const std::uint64_t own_ns = busy_ns > others_busy_ns ? busy_ns - others_busy_ns : 0;
    const std::uint64_t waited_ns = waited_since(from, before_ns);
    std::uint64_t direct_ns = blame.direct_ns, passed_ns = blame.passed_ns, spread_ns = 0;
    if (waited_ns > 0) {
      direct_ns = part_of(blame.direct_ns, own_ns, own_ns + waited_ns);
      passed_ns = part_of(blame.passed_ns, own_ns, own_ns + waited_ns);
      spread_ns = blame.direct_ns + blame.passed_ns - direct_ns - passed_ns;
    }
    if (direct_ns + passed_ns > 0)
      tallies_.caused(key_of(call), direct_ns, passed_ns, at_, blame.waited_ns);
    if (spread_ns == 0) return;
    const std::uint64_t share = share_of(spread_ns, waited_ns);
    Shares& shares = shares_of(call);
    shares.given.emplace(from == kNobody ? 0 : from + 1, share);
    shares.sum += share;
  }

  // The blame of a thread's waits that precede the current call.
  struct Shares {
    std::priority_queue<std::tuple<std::uint32_t, std::uint64_t>>
        given;  // valid down to this call; share
    std::uint64_t sum = 0;
  };
  Shares& shares_of(const Step& call) {
    if (shares_.size() <= call.thread) shares_.resize(call.thread + std::size_t{1});
    return shares_[call.thread];
  }

  JoinedJob& job_;
  std::uint32_t process_;
  const WaitScope& scope_;
  WaitTallies& tallies_;
  std::uint32_t at_;
  bool waiting_ = false, released_ = false;
  std::uint64_t wait_ns_ = 0;  // of the current call
  OpenWaits open_;
  base::FlatMap<std::uint64_t, std::vector<Blame>> come_;  // by call
  std::vector<Shares> shares_;                             // by thread
  std::uint64_t next_sent_ns_ =
      ~std::uint64_t{0};  // first send among the messages of the next call that receives any
};

class BlamePass : public Pass {
 public:
  BlamePass(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies)
      : job_(job), parcels_(job.transport().size()) {
    number_.resize(job.mapping().size(), kNobody);
    for (const std::uint32_t process : job.own()) {
      number_[process] = static_cast<std::uint32_t>(passes_.size());
      ready_.push_back(process);
      passes_.emplace_back(job, process, scope, tallies);
    }
    ended_.resize(passes_.size());
    queued_.assign(passes_.size(), true);
  }

  std::uint64_t released() const { return released_; }

  Parcels& parcels() override { return parcels_; }
  void open(Received& received) override {
    while (received.more()) {
      received.kind();
      give(received.take<Blame>());
    }
  }
  void release(std::uint32_t process) override {
    ++released_;
    if (!job_.is_own(process)) return;
    passes_[number_[process]].release();
    wake(process);
  }
  Stall work() override {
    while (!ready_.empty()) {
      const std::uint32_t process = ready_.back();
      ready_.pop_back();
      const std::uint32_t number = number_[process];
      queued_[number] = false;
      ended_[number] = passes_[number].go_on([&](const Blame& blame) {
        if (job_.is_own(blame.wait.culprit)) {
          give(blame);
        } else {
          parcels_.send(job_.mapping()[blame.wait.culprit], 0, blame);
        }
      });
    }
    Stall latest;
    for (const std::uint32_t process : job_.own()) {
      if (ended_[number_[process]]) continue;
      const std::uint64_t time_ns = passes_[number_[process]].time_ns();
      if (!latest.waits || time_ns > latest.time_ns)
        latest = {time_ns, process, true, false, false};
    }
    return latest;
  }

 private:
  void give(const Blame& blame) {
    passes_[number_[blame.wait.culprit]].take(blame);
    wake(blame.wait.culprit);
  }
  void wake(std::uint32_t process) {
    const std::uint32_t number = number_[process];
    if (ended_[number] || queued_[number]) return;
    queued_[number] = true;
    ready_.push_back(process);
  }

  JoinedJob& job_;
  Parcels parcels_;
  std::vector<std::uint32_t> number_;  // by process: in passes_
  std::vector<Backward> passes_;
  std::vector<bool> ended_, queued_;
  std::vector<std::uint32_t> ready_;
  std::uint64_t released_ = 0;
};

}  // namespace

std::uint64_t hand_out_blame(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies) {
  BlamePass pass(job, scope, tallies);
  run_passes(job.transport(), {&pass});
  return pass.released();
}

}  // namespace fathom::analysis
