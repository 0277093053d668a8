// SPDX-License-Identifier: BSD-3-Clause
#include "view/joined_window.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace fathom::view {
namespace {

using analysis::kNobody;
using analysis::Step;
using analysis::StepFile;
using analysis::StepKind;

// More steps are not looked at for one answer: a tenth of a second.
constexpr std::uint64_t kMostSteps = 4'000'000;

// For each step of a window, the other end of a message may be looked at, which lies anywhere; and a block that is
// read in part is in memory as a whole.
constexpr std::size_t kWithPartners = 4;

// Goes through the steps of a process from the first call that is open at the window's begin.
class WindowWalk {
 public:
  WindowWalk(const analysis::JoinedJob& job, std::uint32_t process, std::uint64_t from_ns,
             std::uint64_t to_ns)
      : job_(job),
        steps_(job.steps()),
        process_(process),
        from_ns_(from_ns),
        to_ns_(to_ns),
        open_(job, process) {}

  // `seen(call, number, wait)` for each call that overlaps the window, as it ends; `each(number, step)` for
  // all other steps.
  template <typename Seen, typename Each>
  void go(Seen seen, Each each) {
    std::uint32_t at = first_open(steps_.first_at(process_, from_ns_));
    const std::uint32_t size = steps_.size(process_);
    std::uint32_t beyond = 0;
    for (; at < size; ++at) {
      const Step& step = steps_.at(process_, at);
      if (at % StepFile::kBlockSteps == 0) StepFile::touched(kWithPartners * StepFile::kBlockSteps);
      if (step.time_ns >= to_ns_ && (++beyond > kLookAhead || calls_.empty())) break;
      if (step.kind != StepKind::kCall) {
        open_.add(at, step);
        each(at, step);
        continue;
      }
      // Not at other steps: those of the moment at which a call was left belong to it (as in analysis/waits/).
      finish_before(step.time_ns, seen);
      if (step.time_ns < to_ns_ && step.end_ns > from_ns_) {
        calls_.push_back(at);
      }
    }
    finish_before(analysis::CallWait::kNever, seen);
    StepFile::touched(kWithPartners * StepFile::kBlockSteps);
  }

 private:
  // The first call that is open where the window begins, or `begin`. A thread's calls lie inside each other, and
  // what happens in a call names it, so what was last says which are open. Threads may take turns, so where
  // there are several, each needs to have done something within kLookBack steps.
  std::uint32_t first_open(std::uint32_t begin) const {
    const bool alone = job_.definitions().processes[process_].threads.size() <= 1;
    std::uint32_t at = begin;
    bool inside_another = false;
    for (std::uint32_t back = begin; back > 0 && begin - back < kLookBack; --back) {
      const Step& step = steps_.at(process_, back - 1);
      const std::uint32_t call = step.kind == StepKind::kCall ? back - 1 : step.call;
      if (call == analysis::kNobody || call >= begin) continue;
      const Step& one = steps_.at(process_, call);
      if (one.end_ns > from_ns_ && call < at) at = call;
      inside_another =
          one.has(analysis::kNested);  // also of one that has ended: the outer may not have
      if (alone && begin - back > kLeastLookBack && !inside_another) break;
    }
    return at;
  }

  template <typename Seen>
  void finish_before(std::uint64_t time_ns, Seen seen) {
    std::erase_if(calls_, [&](std::uint32_t number) {
      const Step& call = steps_.at(process_, number);
      if (call.end_ns > time_ns) return false;
      const analysis::CallWait* found = open_.find(number);
      seen(call, number, found != nullptr ? found->wait() : analysis::Wait{});
      return true;
    });
    open_.close_left_by(time_ns, [](const analysis::CallWait&) {});
  }

  const analysis::JoinedJob& job_;
  const StepFile& steps_;
  const std::uint32_t process_;
  const std::uint64_t from_ns_, to_ns_;
  analysis::OpenWaits open_;
  std::vector<std::uint32_t> calls_;  // of the window, that have not ended
};

void set_depths(std::vector<WindowCall>& calls, std::size_t first) {
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> ends;  // of open calls, by thread
  for (std::size_t i = first; i < calls.size(); ++i) {
    auto& open = ends[calls[i].step->thread];
    while (!open.empty() && open.back() <= calls[i].step->time_ns) open.pop_back();
    if (!calls[i].step->has(analysis::kNested)) open.clear();
    calls[i].depth = static_cast<std::uint32_t>(open.size());
    open.push_back(calls[i].step->end_ns);
  }
}

}  // namespace

std::uint64_t add_calls(const analysis::JoinedJob& job, std::uint32_t process,
                        std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most,
                        std::vector<WindowCall>& calls) {
  const std::size_t first = calls.size();
  std::uint64_t more = 0;
  WindowWalk(job, process, from_ns, to_ns)
      .go(
          [&](const Step& call, std::uint32_t, const analysis::Wait& wait) {
            if (calls.size() >= most) return void(++more);
            calls.push_back({&call, process, 0, wait});
          },
          [](std::uint32_t, const Step&) {});
  std::stable_sort(calls.begin() + static_cast<std::ptrdiff_t>(first), calls.end(),
                   [](const WindowCall& a, const WindowCall& b) {
                     return std::tie(a.step->time_ns, b.step->end_ns) <
                            std::tie(b.step->time_ns, a.step->end_ns);
                   });
  set_depths(calls, first);
  return more;
}

void add_waits(const analysis::JoinedJob& job, std::uint32_t process, std::uint64_t from_ns,
               std::uint64_t to_ns, std::vector<WindowWait>& waits) {
  WindowWalk(job, process, from_ns, to_ns)
      .go(
          [&](const Step& call, std::uint32_t, const analysis::Wait& wait) {
            const std::uint64_t begin_ns = std::max(call.time_ns, from_ns),
                                end_ns = std::min(call.time_ns + wait.ns, to_ns);
            if (end_ns > begin_ns) waits.push_back({&call, end_ns - begin_ns});
          },
          [](std::uint32_t, const Step&) {});
}

WindowMessages messages_in(const analysis::JoinedJob& job, const std::vector<bool>& chosen,
                           std::uint64_t from_ns, std::uint64_t to_ns, std::size_t most) {
  const StepFile& steps = job.steps();
  WindowMessages found;
  std::vector<WindowMessage>& messages = found.costliest;
  // The wait that a message ended, by its receive.
  std::unordered_map<std::uint64_t, std::uint64_t> waits;
  const auto name = [](std::uint32_t process, std::uint32_t step) {
    return std::uint64_t{process} << 32 | step;
  };
  const auto inside = [&](std::uint64_t time_ns) { return time_ns >= from_ns && time_ns < to_ns; };
  const auto costlier = [](const WindowMessage& a, const WindowMessage& b) {
    return std::tuple(b.wait_ns, b.received->bytes, a.source, a.destination, a.sent->time_ns) <
           std::tuple(a.wait_ns, a.received->bytes, b.source, b.destination, b.sent->time_ns);
  };
  const auto cut = [&] {
    for (WindowMessage& message : messages) {
      const auto wait = waits.find(name(message.destination, message.sent->partner_step));
      if (wait != waits.end()) message.wait_ns = std::max(message.wait_ns, wait->second);
    }
    if (messages.size() <= most) return;
    std::nth_element(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(most),
                     messages.end(), costlier);
    messages.resize(most);
  };
  std::uint64_t looked_at = 0;
  for (std::uint32_t process = 0; process < chosen.size(); ++process) {
    if (looked_at > kMostSteps) {
      found.complete = false;
      break;
    }
    const auto add = [&](std::uint32_t number, const Step& step) {
      ++looked_at;
      if (step.partner == kNobody || step.partner_step == kNobody || step.has(analysis::kHidden) ||
          !inside(step.time_ns))
        return;
      if (step.kind == StepKind::kReceive) {
        if (!chosen[process] && !chosen[step.partner]) return;
        messages.push_back(
            {&steps.at(step.partner, step.partner_step), &step, step.partner, process, 0});
        ++found.all;
      } else if (step.kind == StepKind::kSend) {
        const Step& received = steps.at(step.partner, step.partner_step);
        // Else it is found at its receive.
        if (inside(received.time_ns) || (!chosen[process] && !chosen[step.partner])) return;
        messages.push_back({&step, &received, process, step.partner, 0});
        ++found.all;
      }
      static_cast<void>(number);
    };
    const auto waited = [&](const Step&, std::uint32_t, const analysis::Wait& wait) {
      if (wait.ns == 0 || wait.part == kNobody) return;
      const Step& part = steps.at(process, wait.part);
      if (part.kind == StepKind::kReceive) waits[name(process, wait.part)] = wait.ns;
      if (part.kind == StepKind::kSend && part.partner != kNobody)
        waits[name(part.partner, part.partner_step)] = wait.ns;
    };
    WindowWalk(job, process, from_ns, to_ns).go(waited, add);
    if (messages.size() > 64 * most + 100'000) cut();
    StepFile::touched(looked_at > 0 ? 1024 : 0);
  }
  cut();
  std::sort(messages.begin(), messages.end(), costlier);
  return found;
}

}  // namespace fathom::view
