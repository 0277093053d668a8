// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/changed_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/engine/awaited_receives.h"
#include "analysis/engine/causal_walk.h"
#include "analysis/engine/parcels.h"
#include "analysis/path/chosen_time.h"
#include "base/flat_map.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {
namespace {

// Times may lie before the trace's time 0 if clocks contradict each other.
using Time = std::int64_t;
constexpr Time kNever = std::numeric_limits<Time>::min();
Time signed_time(std::uint64_t ns) { return static_cast<Time>(ns); }

Time scaled(Time ns, double factor) {
  if (factor == 1 || ns <= 0) return ns;
  return static_cast<Time>(std::llround(static_cast<double>(ns) * factor));
}

// Whether `file` ends with the path `wanted`.
bool is_place(const std::string& file, const std::string& wanted) {
  if (!file.ends_with(wanted)) return false;
  return file.size() == wanted.size() || wanted.front() == '/' ||
         file[file.size() - wanted.size() - 1] == '/';
}

// By what the times of a run are multiplied.
class Factors {
 public:
  Factors(const JoinedJob& job, const std::vector<SupposedChange>& changes)
      : job_(job), changes_(changes), names_(job.definitions()), used_(changes.size()) {}

  struct OfCall {
    double rest = 1, work = 1;  // of the call, and of the work before it
  };
  const OfCall& of_call(std::uint32_t process, const Step& call) {
    const Key key{process, call.number, call.partner_step};
    if (const OfCall* const known = known_.find(key)) return *known;
    return known_[key] = found(process, call);
  }
  double latency(std::uint32_t process) {
    return product(SupposedChange::Of::kLatency, process, nullptr);
  }
  // After the last call of a process.
  double work(std::uint32_t process) {
    return product(SupposedChange::Of::kWork, process, nullptr);
  }

  // By change: whether it concerned something.
  const std::vector<bool>& used() const { return used_; }

 private:
  struct Key {
    std::uint32_t process = 0, function = 0, site = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const {
      return base::mixed((std::uint64_t{key.process} << 32 | key.site) ^ base::mixed(key.function));
    }
  };

  OfCall found(std::uint32_t process, const Step& call) {
    return {product(SupposedChange::Of::kCalls, process, &call),
            product(SupposedChange::Of::kWork, process, &call)};
  }

  double product(SupposedChange::Of of, std::uint32_t process, const Step* call) {
    double factor = 1;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i].of != of || !concerns(changes_[i], process, call)) continue;
      used_[i] = true;
      factor *= changes_[i].factor;
    }
    return factor;
  }

  bool concerns(const SupposedChange& change, std::uint32_t process, const Step* call) {
    const std::int64_t rank = job_.definitions().processes[process].rank;
    if (change.ranks && !change.ranks->contains(rank)) return false;
    if (change.function.empty() && change.file.empty()) return true;
    if (call == nullptr) return false;
    const trace::CodeSite& site = names_.of_call(process, job_.site_address(process, *call));
    const std::string& function = job_.definitions().functions[call->number].name;
    if (!change.function.empty() && change.function != function && change.function != site.function)
      return false;
    if (change.file.empty()) return true;
    return is_place(trace::file_or_module(site), change.file) && site.line == change.line;
  }

  const JoinedJob& job_;
  const std::vector<SupposedChange>& changes_;
  trace::CallSiteNames names_;
  std::vector<bool> used_;
  base::FlatMap<Key, OfCall, KeyHash> known_;
};

class Replay {
 public:
  static constexpr bool kSendersWait = true;
  // When something was done on which others depend: in the run, and with the changes.
  struct Payload {
    Time time_ns = kNever, changed_ns = kNever;
  };

  Replay(JoinedJob& job, Factors& factors, const ChosenTime& chosen)
      : job_(job), factors_(factors), chosen_(chosen), lanes_(job.mapping().size()) {
    for (const std::uint32_t process : job.own()) {
      Lane& lane = lanes_[process];
      lane.time.process = process;
      lane.time.begin_ns = job.definitions().processes[process].first_ns;
      // A change of the latency concerns the run, even if it has no messages.
      if (chosen.whole()) static_cast<void>(factors.latency(process));
      lane.lines.resize(1);
      lane.lines[0].left_ns = signed_time(lane.time.begin_ns);
      lane.lines[0].begun = true;
    }
  }

  void step(std::uint32_t process, std::uint32_t number, const Step& step) {
    Lane& lane = lanes_[process];
    if (step.kind != StepKind::kCall) {
      lane.line = step.call == kNobody ? kNobody : job_.steps().at(process, step.call).thread;
      return;
    }
    lane.line = step.thread;
    Line& line = line_of(lane, step.thread);
    if (!step.has(kNested)) enter(process, lane, line, number, step);
    job_.steps().at(process, number).note = static_cast<std::uint64_t>(line.later_ns);
  }

  Payload give(std::uint32_t process, const Step& part) {
    if (part.posted == kNobody) return {signed_time(part.time_ns), signed_time(part.time_ns)};
    const Step& call = job_.steps().at(process, part.posted);
    const Time entered_ns = signed_time(call.time_ns);
    Payload when{entered_ns, entered_ns + static_cast<Time>(call.note)};
    const Lane& lane = lanes_[process];
    // A call that tells something after it has waited.
    if (part.has(kNotice) && lane.line != kNobody && lane.lines[lane.line].call == part.posted)
      merge(when, lane.lines[lane.line].ready);
    return when;
  }

  void take(std::uint32_t process, const Step& part, const Payload& payload) {
    Lane& lane = lanes_[process];
    if (lane.line == kNobody) return;
    Line& line = lane.lines[lane.line];
    if (line.call == kNobody || lane.ended) return;
    const Step& call = job_.steps().at(process, line.call);
    const mpi::Meaning& meaning = job_.facts().functions[call.number];
    if (meaning.immediate || meaning.begins_job || meaning.ends_job) return;
    const Payload ready = part.kind == StepKind::kReceive && !part.has(kNotice)
                              ? arrival(process, call, part, payload)
                              : payload;
    const bool left_before =
        ready.time_ns >
        signed_time(call.end_ns) + signed_time(job_.uncertainty_ns(
                                       process, part.partner == kNobody ? process : part.partner));
    if (ready.time_ns == kNever || left_before) return;
    merge(line.ready, ready);
  }

  static void merge(Payload& into, const Payload& other) {
    into.time_ns = std::max(into.time_ns, other.time_ns);
    into.changed_ns = std::max(into.changed_ns, other.changed_ns);
  }

  std::vector<ChangedTime> times() {
    std::vector<ChangedTime> times;
    for (const std::uint32_t process : job_.own()) {
      Lane& lane = lanes_[process];
      const std::uint64_t last_ns = job_.definitions().processes[process].last_ns;
      if (!lane.ended) {
        Line& line = lane.lines[0];
        leave(process, lane, line);
        const Time end_ns = std::max(signed_time(last_ns), line.left_ns);
        const Piece work =
            changed(process, line.left_ns, end_ns, [&] { return factors_.work(process); });
        count(lane, line, work);
        end(lane, end_ns, line.later_ns + work.longer_ns());
      }
      times.push_back(lane.time);
    }
    return times;
  }

 private:
  struct Line {                    // a thread
    std::uint32_t call = kNobody;  // that it is in
    Time left_ns = 0;              // in the run: the end of the last call
    Time later_ns = 0;             // how much later it is with the changes: entered, else left
    Payload ready;                 // what the call completes
    bool begun = false;
  };
  struct Lane {
    ChangedTime time;
    std::vector<Line> lines;       // by thread
    std::uint32_t line = kNobody;  // of the present step
    bool ended = false;
  };
  // What is in the chosen part of an interval: in the run, and with the changes.
  struct Piece {
    Time ns = 0, changed_ns = 0;
    Time longer_ns() const { return changed_ns - ns; }
  };

  // The factor is asked for only where there is something to change.
  template <typename Factor>
  Piece changed(std::uint32_t process, Time from_ns, Time to_ns, const Factor& factor) const {
    if (chosen_.whole()) return {to_ns - from_ns, scaled(to_ns - from_ns, factor())};
    const Time inside_ns = inside(process, from_ns, to_ns);
    return {inside_ns, inside_ns == 0 ? 0 : scaled(inside_ns, factor())};
  }

  Time inside(std::uint32_t process, Time from_ns, Time to_ns) const {
    return signed_time(chosen_.inside_ns(process, static_cast<std::uint64_t>(from_ns),
                                         static_cast<std::uint64_t>(to_ns)));
  }

  // A wait that is longer or shorter is so in equal parts. One that was not in the run belongs to
  // the moment at which it begins.
  Piece waited(std::uint32_t process, Time from_ns, Time ns, Time changed_ns) const {
    if (chosen_.whole()) return {ns, changed_ns};
    const Time inside_ns = inside(process, from_ns, from_ns + std::max<Time>(ns, 1));
    if (inside_ns == 0) return {};
    if (inside_ns >= ns) return {ns, changed_ns};
    const double share = static_cast<double>(inside_ns) / static_cast<double>(ns);
    return {inside_ns, scaled(changed_ns, share)};
  }

  // Adds to the time of the first thread.
  void count(Lane& lane, const Line& line, const Piece& piece) const {
    if (&line != lane.lines.data() || lane.ended) return;
    lane.time.part_ns += static_cast<std::uint64_t>(std::max<Time>(0, piece.ns));
    lane.time.changed_part_ns += static_cast<std::uint64_t>(std::max<Time>(0, piece.changed_ns));
  }

  static Line& line_of(Lane& lane, std::uint16_t thread) {
    if (lane.lines.size() <= thread) lane.lines.resize(thread + std::size_t{1});
    return lane.lines[thread];
  }

  void enter(std::uint32_t process, Lane& lane, Line& line, std::uint32_t number,
             const Step& call) {
    const Time entered_ns = signed_time(call.time_ns);
    leave(process, lane, line);
    // A thread that begins is as late as the first one.
    if (!line.begun) {
      line.later_ns = lane.lines[0].later_ns;
      line.left_ns = entered_ns;
      line.begun = true;
    }
    line.call = number;
    line.ready = {};
    const mpi::Meaning& meaning = job_.facts().functions[call.number];
    if (meaning.begins_job) {
      line.later_ns = 0;
      if (call.thread == 0 && !lane.ended) lane.time.begin_ns = call.end_ns;
    } else {
      const Piece work = changed(process, line.left_ns, entered_ns,
                                 [&] { return factors_.of_call(process, call).work; });
      count(lane, line, work);
      line.later_ns += work.longer_ns();
    }
    if (meaning.ends_job && call.thread == 0 && !lane.ended) end(lane, entered_ns, line.later_ns);
  }

  void leave(std::uint32_t process, Lane& lane, Line& line) {
    if (line.call == kNobody) return;
    const Step& call = job_.steps().at(process, line.call);
    const Time entered_ns = signed_time(call.time_ns), left_ns = signed_time(call.end_ns);
    const Time ready_ns = std::max(entered_ns, line.ready.time_ns),
               changed_entered_ns = entered_ns + line.later_ns,
               changed_ready_ns = std::max(changed_entered_ns, line.ready.changed_ns);
    const bool begins_job = job_.facts().functions[call.number].begins_job;
    const Piece rest = changed(process, ready_ns, left_ns, [&] {
      return begins_job ? 1 : factors_.of_call(process, call).rest;
    });
    if (!begins_job) {
      count(lane, line,
            waited(process, entered_ns, ready_ns - entered_ns,
                   changed_ready_ns - changed_entered_ns));
      count(lane, line, rest);
    }
    line.later_ns = changed_ready_ns - ready_ns + rest.longer_ns();
    line.left_ns = std::max(line.left_ns, left_ns);
    line.call = kNobody;
  }

  Payload arrival(std::uint32_t process, const Step& call, const Step& part,
                  const Payload& sent) const {
    // A probe found the message, which was received later.
    if (part.time_ns > call.end_ns) return sent;
    Payload start = sent;
    if (part.posted != kNobody) {
      const Step& posted = job_.steps().at(process, part.posted);
      const Time posted_ns = signed_time(posted.time_ns);
      merge(start, {posted_ns, posted_ns + static_cast<Time>(posted.note)});
    }
    const Time arrived_ns = signed_time(part.time_ns);
    const Piece latency =
        changed(process, start.time_ns, arrived_ns, [&] { return factors_.latency(process); });
    return {arrived_ns, start.changed_ns + (arrived_ns - start.time_ns) + latency.longer_ns()};
  }

  static void end(Lane& lane, Time end_ns, Time later_ns) {
    lane.time.end_ns = static_cast<std::uint64_t>(end_ns);
    lane.time.changed_end_ns = static_cast<std::uint64_t>(std::max<Time>(0, end_ns + later_ns));
    lane.ended = true;
  }

  JoinedJob& job_;
  Factors& factors_;
  const ChosenTime& chosen_;
  std::vector<Lane> lanes_;  // by process
};

// By change: whether it concerned something at any analysis process.
std::vector<bool> used_anywhere(Transport& transport, const std::vector<bool>& used) {
  Transport::Bytes bytes(used.begin(), used.end());
  std::vector<bool> all = used;
  for (const Transport::Bytes& others :
       transport.exchange(std::vector<Transport::Bytes>(transport.size(), bytes))) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || others[i] != 0;
  }
  return all;
}

}  // namespace

base::Result<ChangedRun> changed_run(JoinedJob& job, const std::vector<SupposedChange>& changes,
                                     const Scope& scope) {
  mark_awaited_receives(job);
  const ChosenTime chosen(job, scope);
  Factors factors(job, changes);
  Replay replay(job, factors, chosen);
  ChangedRun run;
  run.released = walk_causally(job, replay, Direction::kForward);
  run.processes = gathered(job.transport(), replay.times());
  std::sort(run.processes.begin(), run.processes.end(),
            [](const ChangedTime& a, const ChangedTime& b) { return a.process < b.process; });
  const std::vector<bool> used = used_anywhere(job.transport(), factors.used());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (used[i]) continue;
    return base::Error{"'" + changes[i].text + "' matches nothing in " +
                       (chosen.whole() ? "this run" : "the chosen part of the run")};
  }
  return run;
}

}  // namespace fathom::analysis
