// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/wait_blame.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/causal_walk.h"
#include "analysis/engine/parcels.h"
#include "analysis/waits/delay_stack.h"
#include "base/flat_map.h"

namespace fathom::analysis {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::uint64_t part_of(std::uint64_t whole, std::uint64_t part, std::uint64_t of) {
  return static_cast<std::uint64_t>(static_cast<Wide>(whole) * part / of);
}

class Origins {
 public:
  static constexpr bool kSendersWait = true;

  // What a process was delayed by when it did what another may have waited for.
  struct Payload {
    std::uint64_t time_ns = 0;  // when it did
    std::uint32_t process = kNobody;
    std::uint32_t since = kNobody, call = kNobody;  // as in Delay, if it was late by itself
    std::uint32_t reserved = 0;
    DelayStack stack;
  };

  // To the process that caused some of a wait.
  struct Note {
    WaitKey wait;
    std::uint32_t direct = 0;   // 1: it was waited for; 0: it had delayed the one that was
    std::uint32_t step = 0;     // direct: what was waited for; otherwise the call it was late for
    std::uint64_t ns = 0;       // that it caused
    std::uint64_t late_ns = 0;  // how late it came
    std::uint64_t from_ns = 0, to_ns = 0;  // of the call that waited, in scope
  };

  Origins(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies)
      : job_(job), scope_(scope), tallies_(tallies), lanes_(job.mapping().size()) {}

  void step(std::uint32_t process, std::uint32_t number, const Step& step) {
    Lane& lane = lanes_[process];
    lane.call = step.kind == StepKind::kCall ? number : step.call;
    if (step.kind != StepKind::kCall) return;
    finish_before(process, lane, step.time_ns);
    if (step.call != kNobody) lane.waits.push_back({number, std::nullopt});
  }

  Payload give(std::uint32_t process, const Step& part) {
    // A call that tells something at its end has waited before.
    if (part.has(kNotice) && part.kind == StepKind::kSend)
      finish_before(process, lanes_[process], part.time_ns);
    Payload payload;
    payload.process = process;
    payload.call = part.posted;
    if (part.posted == kNobody) return payload;
    const Step& call = job_.steps().at(process, part.posted);
    const Line& line = line_of(lanes_[process], call.thread);
    payload.time_ns = call.time_ns;
    payload.since = line.since;
    payload.stack = line.stack;
    return payload;
  }

  void take(std::uint32_t process, const Step& part, const Payload& payload) {
    Lane& lane = lanes_[process];
    if (part.note != 0) {
      for (OpenWait& wait : lane.waits) {
        if (wait.call + std::uint64_t{1} == part.note) wait.news = payload;
      }
    }
    if (lane.call == kNobody) return;
    Line& line = line_of(lane, job_.steps().at(process, lane.call).thread);
    if (joins_all(process, part)) {
      line.joined_all = lane.call;
    } else if (payload.process != process && payload.call != kNobody) {
      Heard& heard = line.heard[payload.process];
      if (heard.last.own_call != lane.call) heard.before = heard.last;
      heard.last = {payload.call, lane.call};
    }
  }

  // The last of the members of a collective that others waited for (collectives.h).
  static void merge(Payload& into, const Payload& other) {
    const bool later =
        other.time_ns != into.time_ns ? other.time_ns > into.time_ns : other.process < into.process;
    if (later) into = other;
  }

  template <typename Send>
  void tell(Send send) {
    for (const Sent& sent : notes_) send(sent.process, sent.note);
    notes_.clear();
  }

  void told(std::uint32_t process, const Note& note) {
    const bool direct = note.direct == 1;
    const std::uint32_t number = direct ? job_.steps().at(process, note.step).posted : note.step;
    if (number == kNobody) return;
    if (direct) tallies_.late(note.wait, number, note.late_ns);
    if (note.ns == 0) return;
    tallies_.caused(note.wait, key_of(job_, process, job_.steps().at(process, number)),
                    direct ? note.ns : 0, direct ? 0 : note.ns, number, note.late_ns,
                    {0, note.from_ns, note.to_ns});
  }

  // After the walk: calls that no other follows.
  void finish() {
    Parcels parcels(job_.transport().size());
    for (const std::uint32_t process : job_.own())
      finish_before(process, lanes_[process], kAtTheEnd);
    tell([&](std::uint32_t process, const Note& note) {
      parcels.send(job_.mapping()[process], 0, Sent{process, note});
    });
    for (const Transport::Bytes& bytes : job_.transport().exchange(parcels.take())) {
      for (Received received(bytes); received.more();) {
        received.kind();
        const auto sent = received.take<Sent>();
        told(sent.process, sent.note);
      }
    }
  }

 private:
  static constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};

  struct Sent {
    std::uint32_t process = 0;
    Note note;
  };

  // A call that waited and has not ended yet; what the other was delayed by, once that is known.
  struct OpenWait {
    std::uint32_t call = 0;
    std::optional<Payload> news;
  };
  struct Heard {
    LastHeard last, before;  // before the own call of `last`
  };
  // Threads of one process wait independently, so each has its own.
  struct Line {
    DelayStack stack;
    std::uint32_t since = kNobody;              // the last call that waited
    std::uint32_t joined_all = kNobody;         // the last collective of all processes
    base::FlatMap<std::uint64_t, Heard> heard;  // by process
  };
  struct Lane {
    std::uint32_t call = kNobody;  // of the present step
    std::vector<Line> lines;       // by thread
    std::vector<OpenWait> waits;
  };

  static Line& line_of(Lane& lane, std::uint16_t thread) {
    if (lane.lines.size() <= thread) lane.lines.resize(thread + std::size_t{1});
    return lane.lines[thread];
  }

  // After it, no process is later than another for anything that was before.
  bool joins_all(std::uint32_t process, const Step& part) const {
    if (part.kind != StepKind::kCollective || part.has(kByRequest)) return false;
    const JobFacts& facts = job_.facts();
    const Flow flow = facts.meaning_of(part, job_.steps().at(process, part.call)).flow;
    return (flow == Flow::kBarrier || flow == Flow::kAllToAll) &&
           facts.members[static_cast<std::size_t>(part.communicator)].size() ==
               facts.definitions.processes.size();
  }

  // Calls left by then have taken all that they waited for.
  void finish_before(std::uint32_t process, Lane& lane, std::uint64_t time_ns) {
    const auto ended = [&](std::uint32_t call) {
      return time_ns == kAtTheEnd || job_.steps().at(process, call).end_ns <= time_ns;
    };
    std::erase_if(lane.waits, [&](const OpenWait& wait) {
      if (!ended(wait.call)) return false;
      end(process, lane, wait);
      return true;
    });
    for (Line& line : lane.lines) {
      if (line.joined_all == kNobody || !ended(line.joined_all)) continue;
      line.joined_all = kNobody;
      line.stack.size = 0;
      line.heard.clear();
    }
  }

  void end(std::uint32_t process, Lane& lane, const OpenWait& wait) {
    const StepFile& steps = job_.steps();
    const Step &call = steps.at(process, wait.call), &part = steps.at(process, call.call);
    Line& line = line_of(lane, call.thread);
    const Payload* const news =
        wait.news && wait.news->process == part.partner ? &*wait.news : nullptr;
    static constexpr DelayStack kNone;
    const DelayStack& culprit = news != nullptr ? news->stack : kNone;
    LastHeard last;
    if (const Heard* const heard = line.heard.find(part.partner))
      last = heard->last.own_call == wait.call ? heard->before : heard->last;
    Delay own;
    if (news != nullptr) own = {0, news->process, news->since, news->call, 0};
    const WaitCauses causes = causes_of(call.note, culprit, own, process, line.stack, last);
    blame(process, call, part, causes);
    if (news != nullptr) own.ns = causes.late_ns;
    line.stack = taken_over(culprit, own, line.stack, wait.call);
    line.since = wait.call;
  }

  void blame(std::uint32_t process, const Step& call, const Step& part, const WaitCauses& causes) {
    const std::uint64_t counted_ns = in_scope_ns(scope_, process, call, call.note);
    if (counted_ns == 0) return;
    Note note;
    note.wait = key_of(job_, process, call);
    note.wait.culprit = part.partner;
    note.wait.kind = call.wait_kind;
    note.from_ns = std::max(call.time_ns, scope_.from_ns);
    note.to_ns = std::min(call.end_ns, scope_.to_ns);
    tallies_.add(note.wait, counted_ns, note.from_ns);
    std::uint64_t rest_ns = counted_ns;
    for (std::size_t i = 0; i < causes.size; ++i) {
      const Delay& delay = causes.delays[i];
      note.step = delay.call;
      note.late_ns = delay.ns;
      note.ns = part_of(delay.ns, counted_ns, call.note);
      rest_ns -= note.ns;
      inform(delay.process, note);
    }
    note.direct = 1;
    note.step = part.partner_step;
    note.late_ns = call.note;
    note.ns = rest_ns;
    inform(part.partner, note);
  }

  void inform(std::uint32_t process, const Note& note) {
    if (job_.is_own(process)) return told(process, note);
    notes_.push_back({process, note});
  }

  JoinedJob& job_;
  const WaitScope& scope_;
  WaitTallies& tallies_;
  std::vector<Lane> lanes_;  // by process
  std::vector<Sent> notes_;  // to processes of others
};

}  // namespace

std::uint64_t find_origins(JoinedJob& job, const WaitScope& scope, WaitTallies& tallies) {
  Origins origins(job, scope, tallies);
  const std::uint64_t released = walk_causally(job, origins, Direction::kForward);
  origins.finish();
  return released;
}

}  // namespace fathom::analysis
