#include "analysis/replay/wait_steps.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "analysis/replay/flat_map.h"
#include "analysis/replay/parcels.h"
#include "analysis/replay/rounds.h"

namespace fathom::analysis {
namespace {

enum ParcelKind : char { kBlamed, kBlame };

struct Target {
  std::uint32_t process = 0, step = 0;
};

// Where two processes last met, as one of them knows it.
struct Meeting {
  std::uint32_t own_call = kNobody;
  std::uint32_t others_step = kNobody;
};

constexpr std::uint64_t packed(const Meeting& meeting) {
  return std::uint64_t{meeting.own_call} << 32 | meeting.others_step;
}
constexpr Meeting unpacked(std::uint64_t note) {
  return {static_cast<std::uint32_t>(note >> 32), static_cast<std::uint32_t>(note)};
}

// ---- the first pass ----

class Forward {
 public:
  Forward(JoinedJob& job, Parcels& parcels, std::uint32_t process)
      : job_(job), parcels_(parcels), process_(process), size_(job.steps().size(process)) {}

  // Some steps; false at the end.
  bool go_on(std::uint32_t steps) {
    const std::uint32_t until = size_ - at_ < steps ? size_ : at_ + steps;
    for (; at_ < until; ++at_) {
      if (at_ % StepFile::kBlockSteps == 0) {
        job_.steps().touched(StepFile::kBlockSteps);
        job_.steps().will_write(process_, at_);
      }
      take(at_, job_.steps().at(process_, at_));
    }
    if (at_ < size_) return true;
    finish_before(~std::uint64_t{0});
    return false;
  }

 private:
  void take(std::uint32_t number, Step& step) {
    if (step.kind == StepKind::kCall) {
      finish_before(step.time_ns);
      step.note = waited_ns_;
      step.call = last_of_all_;
      return;
    }
    if (step.call == kNobody || step.kind == StepKind::kLost) return;
    auto open = std::find_if(open_.begin(), open_.end(), [&](const CallWait& wait) { return wait.call() == step.call; });
    if (open == open_.end()) open = open_.emplace(open_.end(), job_, process_, step.call);
    open->add(number, step);
  }

  // Calls that were left by then have all their steps.
  void finish_before(std::uint64_t time_ns) {
    for (std::size_t i = 0; i < open_.size();) {
      if (time_ns != ~std::uint64_t{0} && job_.steps().at(process_, open_[i].call()).end_ns > time_ns) {
        ++i;
        continue;
      }
      finish(open_[i]);
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void finish(const CallWait& call) {
    StepFile& steps = job_.steps();
    const Wait wait = call.wait();
    if (wait.ns > 0) {
      const Meeting* met = met_.find(wait.culprit);
      steps.at(process_, wait.part).note = packed(met ? *met : Meeting{});
      waited_ns_ += wait.ns;
      blame({wait.culprit, wait.culprit_step});
    }
    steps.at(process_, call.call()).note = waited_ns_;
    for (const std::uint32_t number : call.completed()) {
      const Step& part = steps.at(process_, number);
      if (part.kind != StepKind::kCollective) {
        met_[part.partner] = {call.call(), part.partner_step};
      } else if (joins_all(part)) {
        last_of_all_ = number;
      }
    }
  }

  bool joins_all(const Step& collective) const {
    const JobFacts& facts = job_.facts();
    const Flow flow = facts.functions[job_.steps().at(process_, collective.call).number].flow;
    return (flow == Flow::kBarrier || flow == Flow::kAllToAll) && !collective.has(kByRequest) &&
           facts.members[static_cast<std::size_t>(collective.communicator)].size() == facts.definitions.processes.size();
  }

  void blame(const Target& target);

  JoinedJob& job_;
  Parcels& parcels_;
  std::uint32_t process_, size_, at_ = 0;
  std::vector<CallWait> open_;
  FlatMap<std::uint64_t, Meeting> met_;  // by process
  std::uint32_t last_of_all_ = kNobody;  // kCollective
  std::uint64_t waited_ns_ = 0;
};

// The call of the other's that is waited for will have a share of the blame to expect.
void expect(StepFile& steps, const Target& target) {
  const std::uint32_t call = steps.at(target.process, target.step).posted;
  if (call != kNobody) ++steps.at(target.process, call).blamed;
}

void Forward::blame(const Target& target) {
  if (job_.is_own(target.process)) return expect(job_.steps(), target);
  parcels_.send(job_.mapping()[target.process], kBlamed, target);
}

void note_waits(JoinedJob& job) {
  Parcels parcels(job.transport().size());
  std::vector<std::uint32_t> left = job.own();
  std::optional<Forward> pass;
  constexpr std::uint32_t kStepsPerRound = 1 << 20;
  run_rounds(
      job.transport(), parcels,
      [&] {
        if (!pass && !left.empty()) {
          pass.emplace(job, parcels, left.back());
          left.pop_back();
        }
        if (pass && !pass->go_on(kStepsPerRound)) pass.reset();
        Stall stall;
        stall.more = pass || !left.empty();
        return stall;
      },
      [&](const Transport::Bytes& bytes) {
        for (Received received(bytes); received.more();) {
          received.kind();
          expect(job.steps(), received.take<Target>());
        }
      },
      [](std::uint32_t) {});
}

// ---- the second pass ----

struct Blame {
  std::uint32_t process = 0, step = 0;  // who is to blame, and what of it was waited for
  std::uint32_t others_step = kNobody;  // of that process: where the two last met
  std::uint32_t sequence = kNobody;     // of the last collective of all before, if there was one
  std::uint64_t waited_ns = 0;          // how long it was waited
  std::uint64_t direct_ns = 0;          // the part of that which counts
  std::uint64_t passed_ns = 0;          // and what others waited because of it
  std::uint64_t busy_ns = 0, busy_since_all_ns = 0;  // of the one that waited, since either
};

struct WaitKey {
  std::uint64_t site = 0;
  std::uint32_t process = 0, function = 0, phase = 0, culprit = 0;
  std::uint32_t kind = 0;
  bool operator==(const WaitKey&) const = default;
  auto order() const { return std::tie(process, kind, function, site, phase, culprit); }
};
struct WaitKeyHash {
  std::uint64_t operator()(const WaitKey& key) const {
    return mixed(key.site * 31 ^ mixed(std::uint64_t{key.culprit} << 32 | key.phase) ^
                 (std::uint64_t{key.process} << 24 | std::uint64_t{key.function} << 4 | key.kind));
  }
};

// An OriginRow, and its worst instance: the call that came late, and how long the other had waited by then.
struct Origin {
  OriginRow row;
  std::uint64_t worst_ns = 0, waited_ns = 0;
  std::uint32_t call = 0;
};

// Where the first thread was longest outside of MPI while the other waited. Goes back from the call that came late.
void find_longest_work(const JoinedJob& job, std::uint32_t process, const Origin& origin, OriginRow& row) {
  const StepFile& steps = job.steps();
  const Step* next = &steps.at(process, origin.call);
  const std::uint64_t begin_ns = next->time_ns - std::min(origin.waited_ns, next->time_ns);
  for (std::uint32_t number = origin.call; number-- > 0 && next->time_ns > begin_ns;) {
    if (number % StepFile::kBlockSteps == 0) job.steps().touched(StepFile::kBlockSteps);
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested)) continue;
    const std::uint64_t from_ns = std::max(step.end_ns, begin_ns);
    if (next->time_ns > from_ns && next->time_ns - from_ns > row.work_ns) {
      row.work_ns = next->time_ns - from_ns;
      row.work_after = step.number;
      row.work_before = next->number;
      row.work_after_site = job.site_address(process, step);
      row.work_before_site = job.site_address(process, *next);
    }
    next = &step;
  }
}

class Tallies {
 public:
  void add(const WaitKey& key, std::uint64_t ns, std::uint64_t at_ns) {
    WaitRow& row = waits_[key];
    row.ns += ns;
    ++row.count;
    if (ns > row.worst_ns || (ns == row.worst_ns && at_ns < row.worst_at_ns)) {
      row.worst_ns = ns;
      row.worst_at_ns = at_ns;
    }
  }
  // Before the step `call`; the other had waited for `waited_ns` by then.
  void caused(const WaitKey& key, std::uint64_t direct_ns, std::uint64_t indirect_ns, std::uint32_t call, std::uint64_t waited_ns) {
    Origin& origin = origins_[key];
    origin.row.direct_ns += direct_ns;
    origin.row.indirect_ns += indirect_ns;
    ++origin.row.count;
    // Blame comes in any order; the same instance must be the worst.
    const std::uint64_t ns = direct_ns + indirect_ns;
    if (std::tie(ns, waited_ns, call) <= std::tie(origin.worst_ns, origin.waited_ns, origin.call)) return;
    std::tie(origin.worst_ns, origin.waited_ns, origin.call) = std::tie(ns, waited_ns, call);
  }

  std::vector<WaitRow> wait_rows() const {
    std::vector<WaitRow> rows;
    waits_.for_each([&](const WaitKey& key, WaitRow row) {
      row.process = key.process;
      row.kind = static_cast<WaitKind>(key.kind);
      row.function = key.function;
      row.phase = key.phase;
      row.culprit = key.culprit;
      row.site = key.site;
      rows.push_back(row);
    });
    return rows;
  }
  // Cost: for each row once the steps of its worst instance.
  std::vector<OriginRow> origin_rows(const JoinedJob& job) const {
    std::vector<OriginRow> rows;
    origins_.for_each([&](const WaitKey& key, const Origin& origin) {
      OriginRow row = origin.row;
      find_longest_work(job, key.process, origin, row);
      row.process = key.process;
      row.function = key.function;
      row.phase = key.phase;
      row.site = key.site;
      rows.push_back(row);
    });
    return rows;
  }

 private:
  FlatMap<WaitKey, WaitRow, WaitKeyHash> waits_;
  FlatMap<WaitKey, Origin, WaitKeyHash> origins_;
};

__extension__ using Wide = unsigned __int128;

// Shares are nanoseconds of blame for each nanosecond of waiting, times 2^32.
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
  Backward(JoinedJob& job, std::uint32_t process, const WaitScope& scope, Tallies& tallies)
      : job_(job), process_(process), scope_(scope), tallies_(tallies), at_(job.steps().size(process)) {}

  // Goes on until it needs blame that has not come, and hands out its own. True at the beginning of the trace.
  template <typename HandOut>
  bool go_on(HandOut hand_out) {
    while (at_ > 0 || waiting_) {
      if (!waiting_) {
        const std::uint32_t number = --at_;
        if (at_ % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
        const Step& step = job_.steps().at(process_, number);
        if (step.kind != StepKind::kCall) {
          collect(number, step);
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
  void collect(std::uint32_t number, const Step& step) {
    if (step.call == kNobody || step.kind == StepKind::kLost) return;
    auto open = std::find_if(open_.begin(), open_.end(), [&](const CallWait& wait) { return wait.call() == step.call; });
    if (open == open_.end()) open = open_.emplace(open_.end(), job_, process_, step.call);
    open->add(number, step);
  }

  template <typename HandOut>
  void begin_call(std::uint32_t number, const Step& call, HandOut hand_out) {
    while (!shares_.empty() && std::get<0>(shares_.top()) > number) {
      share_sum_ -= std::get<1>(shares_.top());
      shares_.pop();
    }
    wait_ns_ = 0;
    const auto open = std::find_if(open_.begin(), open_.end(), [&](const CallWait& wait) { return wait.call() == number; });
    if (open == open_.end()) return;
    Wait wait = open->wait();
    wait_ns_ = wait.ns;
    if (wait.ns > 0) {
      const std::uint64_t counted_ns = in_scope_ns(call, wait);
      if (counted_ns > 0) tell(call, wait, counted_ns);
      hand_out(blame_for(call, wait, counted_ns));
    }
    for (const std::uint32_t part : open->completed()) {
      const Step& step = job_.steps().at(process_, part);
      if (step.kind == StepKind::kReceive) earliest_sent_later_ns_ = std::min(earliest_sent_later_ns_, step.end_ns);
    }
    open_.erase(open);
  }

  // The part of the wait, which begins when the call is entered, that counts.
  std::uint64_t in_scope_ns(const Step& call, const Wait& wait) const {
    if (scope_.processes && !(*scope_.processes)[process_]) return 0;
    if (scope_.phase != kNobody && call.partner != scope_.phase) return 0;
    const std::uint64_t begin_ns = std::max(call.time_ns, scope_.from_ns), end_ns = std::min(call.time_ns + wait.ns, scope_.to_ns);
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
  }

  void tell(const Step& call, const Wait& wait, std::uint64_t counted_ns) {
    WaitKey key = key_of(call);
    key.culprit = wait.culprit;
    const bool wrong_order = wait.kind == WaitKind::kLateSender &&
                             earliest_sent_later_ns_ < job_.steps().at(process_, wait.part).end_ns;
    key.kind = static_cast<std::uint32_t>(wrong_order ? WaitKind::kWrongOrder : wait.kind);
    tallies_.add(key, counted_ns, std::max(call.time_ns, scope_.from_ns));
  }

  WaitKey key_of(const Step& call) const {
    WaitKey key;
    key.process = process_;
    key.function = call.number;
    key.phase = call.partner;
    key.site = job_.site_address(process_, call);
    return key;
  }

  // Busy from the end of one call to the beginning of another.
  std::uint64_t busy_since(std::uint32_t from_call, const Step& call, std::uint64_t waited_before_ns) const {
    const Step& from = job_.steps().at(process_, from_call == kNobody ? 0 : from_call);
    const std::uint64_t from_ns = from_call == kNobody ? from.time_ns : from.end_ns;
    const std::uint64_t waited_ns = waited_before_ns - (from_call == kNobody ? 0 : from.note);
    const std::uint64_t span_ns = call.time_ns > from_ns ? call.time_ns - from_ns : 0;
    return span_ns > waited_ns ? span_ns - waited_ns : 0;
  }

  Blame blame_for(const Step& call, const Wait& wait, std::uint64_t counted_ns) const {
    const Meeting met = unpacked(job_.steps().at(process_, wait.part).note);
    const std::uint64_t before_ns = call.note - wait.ns;
    Blame blame;
    blame.process = wait.culprit;
    blame.step = wait.culprit_step;
    blame.others_step = met.others_step;
    blame.direct_ns = counted_ns;
    blame.waited_ns = wait.ns;
    blame.passed_ns = static_cast<std::uint64_t>(static_cast<Wide>(wait.ns) * share_sum_ >> kShareBits);
    blame.busy_ns = busy_since(met.own_call, call, before_ns);
    if (call.call != kNobody) {
      const Step& all = job_.steps().at(process_, call.call);
      blame.sequence = all.number;
      blame.busy_since_all_ns = busy_since(all.call, call, before_ns);
    }
    return blame;
  }

  void share(const Blame& blame, const Step& call) {
    const StepFile& steps = job_.steps();
    std::uint32_t from = blame.others_step == kNobody ? kNobody : steps.at(process_, blame.others_step).posted;
    std::uint64_t others_busy_ns = blame.busy_ns;
    if (call.call != kNobody && blame.sequence == steps.at(process_, call.call).number) {
      const std::uint32_t all = steps.at(process_, call.call).call;
      if (from == kNobody || all > from) {
        from = all;
        others_busy_ns = blame.busy_since_all_ns;
      }
    }
    const std::uint64_t before_ns = call.note - wait_ns_;
    const std::uint64_t busy_ns = busy_since(from, call, before_ns);
    const std::uint64_t own_ns = busy_ns > others_busy_ns ? busy_ns - others_busy_ns : 0;
    const std::uint64_t waited_ns = before_ns - (from == kNobody ? 0 : steps.at(process_, from).note);
    std::uint64_t direct_ns = blame.direct_ns, passed_ns = blame.passed_ns, spread_ns = 0;
    if (waited_ns > 0) {
      direct_ns = part_of(blame.direct_ns, own_ns, own_ns + waited_ns);
      passed_ns = part_of(blame.passed_ns, own_ns, own_ns + waited_ns);
      spread_ns = blame.direct_ns + blame.passed_ns - direct_ns - passed_ns;
    }
    if (direct_ns + passed_ns > 0) tallies_.caused(key_of(call), direct_ns, passed_ns, at_, blame.waited_ns);
    if (spread_ns == 0) return;
    const std::uint64_t share = share_of(spread_ns, waited_ns);
    shares_.emplace(from == kNobody ? 0 : from + 1, share);
    share_sum_ += share;
  }

  JoinedJob& job_;
  std::uint32_t process_;
  const WaitScope& scope_;
  Tallies& tallies_;
  std::uint32_t at_;
  bool waiting_ = false, released_ = false;
  std::uint64_t wait_ns_ = 0;  // of the call at hand
  std::vector<CallWait> open_;
  FlatMap<std::uint64_t, std::vector<Blame>> come_;  // by call
  std::priority_queue<std::tuple<std::uint32_t, std::uint64_t>> shares_;  // holds down to this call; share
  std::uint64_t share_sum_ = 0;
  std::uint64_t earliest_sent_later_ns_ = ~std::uint64_t{0};
};

class BlamePass {
 public:
  BlamePass(JoinedJob& job, const WaitScope& scope, Tallies& tallies) : job_(job), parcels_(job.transport().size()) {
    number_.resize(job.mapping().size(), kNobody);
    for (const std::uint32_t process : job.own()) {
      number_[process] = static_cast<std::uint32_t>(passes_.size());
      ready_.push_back(process);
      passes_.emplace_back(job, process, scope, tallies);
    }
    ended_.resize(passes_.size());
    queued_.assign(passes_.size(), true);
  }

  std::uint64_t run() {
    run_rounds(
        job_.transport(), parcels_, [&] { return work(); },
        [&](const Transport::Bytes& bytes) {
          for (Received received(bytes); received.more();) {
            received.kind();
            give(received.take<Blame>());
          }
        },
        [&](std::uint32_t process) {
          ++released_;
          if (!job_.is_own(process)) return;
          passes_[number_[process]].release();
          wake(process);
        });
    return released_;
  }

 private:
  Stall work() {
    while (!ready_.empty()) {
      const std::uint32_t process = ready_.back();
      ready_.pop_back();
      const std::uint32_t number = number_[process];
      queued_[number] = false;
      ended_[number] = passes_[number].go_on([&](const Blame& blame) {
        if (job_.is_own(blame.process)) {
          give(blame);
        } else {
          parcels_.send(job_.mapping()[blame.process], kBlame, blame);
        }
      });
    }
    Stall latest;
    for (const std::uint32_t process : job_.own()) {
      if (ended_[number_[process]]) continue;
      const std::uint64_t time_ns = passes_[number_[process]].time_ns();
      if (!latest.waits || time_ns > latest.time_ns) latest = {time_ns, process, true, false, false};
    }
    return latest;
  }

  void give(const Blame& blame) {
    passes_[number_[blame.process]].take(blame);
    wake(blame.process);
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

auto order_of(const WaitRow& row) {
  return std::make_tuple(row.process, row.kind, row.function, row.site, row.phase, row.culprit);
}
auto order_of(const OriginRow& row) { return std::make_tuple(row.process, row.function, row.site, row.phase); }

template <typename Row>
void sort_rows(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return order_of(a) < order_of(b); });
}

}  // namespace

JobWaits find_waits(JoinedJob& job, const WaitScope& scope) {
  note_waits(job);
  Tallies tallies;
  BlamePass pass(job, scope, tallies);
  JobWaits waits;
  waits.released = pass.run();
  waits.rows = gathered(job.transport(), tallies.wait_rows());
  waits.origins = gathered(job.transport(), tallies.origin_rows(job));
  sort_rows(waits.rows);
  sort_rows(waits.origins);
  return waits;
}

}  // namespace fathom::analysis
