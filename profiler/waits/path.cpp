// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/path.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

struct Token {
  std::int64_t now_ns = 0;  // the walk has come back to this moment
  std::int64_t end_ns = 0;
  std::uint64_t jumps = 0;
  std::int64_t error_ns = 0;
  std::uint32_t is_done = 0;
  std::uint32_t processes = 0;  // to which no token came before
};
static_assert(sizeof(Token) <= Gather::kLongestToken);

// What this process remembers, in order of time: before each call a stretch.
class OwnTime {
 public:
  // Without memory the path passes this process by.
  OwnTime(const SharedClock& clock, const FoundWaits& found) noexcept : clock_(clock) {
    try {
      remember(found);
    } catch (...) {
      calls_.clear();
    }
  }

  // Follows the path back to a wait, or to the beginning of the window. Returns the wait at which it
  // leaves this process.
  const FoundWait* follow(Token& token, const PathWindow& window) {
    auto call =
        std::lower_bound(calls_.begin(), calls_.end(), token.now_ns,
                         [](const Call& one, std::int64_t ns) { return one.entered_ns < ns; });
    while (token.now_ns > window.start_ns) {
      const bool inside = call != calls_.begin() && token.now_ns <= std::prev(call)->left_ns;
      if (!inside) {
        stretch(token, window, call);
        continue;
      }
      --call;
      const FoundWait* const wait = call->wait;
      const bool leaves =
          wait != nullptr && wait->decided_ns < token.now_ns && wait->decided_ns > window.start_ns;
      const std::int64_t from =
          std::max(leaves ? wait->decided_ns : call->entered_ns, window.start_ns);
      if (call->may_wait) token.error_ns += token.now_ns - from;
      if (call->row != nullptr)
        add(window, call->row, false, token.now_ns - from, 1, 1, static_cast<double>(call->bytes));
      token.now_ns = from;
      if (leaves) return wait;
    }
    return nullptr;
  }

  std::vector<profile::PathRow> rows() const {
    std::vector<profile::PathRow> all;
    for (const auto& [key, sum] : sums_) {
      const auto& [window, row, is_program] = key;
      profile::PathRow& one = all.emplace_back();
      if (row != nullptr) {
        one.key = row->key;
        one.place = row->place;
      } else {
        one.key.communicator = profile::kNoCommunicator;
        one.place.function = kAtTheEnd;
      }
      one.window = window;
      one.is_program = is_program ? 1 : 0;
      one.stretches =
          std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(sum.stretches)));
      one.total_ns = static_cast<std::uint64_t>(sum.ns);
      one.calls = static_cast<std::uint64_t>(std::llround(sum.calls));
      one.bytes = static_cast<std::uint64_t>(std::llround(sum.bytes));
    }
    return all;
  }

 private:
  struct Call {
    std::int64_t entered_ns, left_ns;
    const FoundWait* wait;
    bool may_wait;                     // nobody knows
    const profile::CallRow* row;       // null: it only ends a stretch
    const profile::CallRow* leads_to;  // of this call, or the next that is one; null: the end
    std::uint64_t bytes;
    std::size_t at;  // its stretch
  };
  struct Sum {
    std::int64_t ns = 0;
    double stretches = 0, calls = 0, bytes = 0;
  };

  void remember(const FoundWaits& found) {
    calls_.reserve(WaitLog::record_count());
    auto wait = found.waits.begin();
    auto unresolved = found.unresolved.begin();
    WaitLog::for_each_record(
        [&](const WaitLog::Record& record, std::uint32_t number, std::size_t at) {
          const bool waited = wait != found.waits.end() && wait->number == number;
          const bool may_wait = unresolved != found.unresolved.end() && *unresolved == number;
          if (record.of_main)
            calls_.push_back({clock_.at(record.entered), clock_.at(record.left),
                              waited ? &*wait : nullptr, may_wait, record.row, record.row,
                              record.bytes, at});
          if (waited) ++wait;
          if (may_wait) ++unresolved;
        });
    const profile::CallRow* next = nullptr;
    for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
      if (call->leads_to == nullptr) call->leads_to = next;
      next = call->leads_to;
    }
  }

  // The part of the stretch before `call` that lies before the present moment.
  void stretch(Token& token, const PathWindow& window, std::vector<Call>::const_iterator call) {
    const std::int64_t begin =
        call == calls_.begin() ? clock_.at(WaitLog::opened_at()) : std::prev(call)->left_ns;
    const bool is_last = call == calls_.end();
    const std::int64_t end = is_last ? clock_.at(WaitLog::closed_at()) : call->entered_ns;
    const std::int64_t from = std::max(begin, window.start_ns);
    const std::int64_t ns = std::max<std::int64_t>(token.now_ns - from, 0);
    const double part =
        end > begin ? static_cast<double>(ns) / static_cast<double>(end - begin) : 0.0;
    std::int64_t known = 0;
    const WaitLog::Stretch sums =
        is_last ? WaitLog::present_stretch() : WaitLog::stretch_at(call->at);
    const auto share = [&](std::uint64_t ticks) {
      return static_cast<std::int64_t>(static_cast<double>(ticks) * clock_.ns_per_tick() * part);
    };
    const auto take = [&](std::uint64_t ticks) {
      const std::int64_t fits = std::min(share(ticks), ns - known);
      known += fits;
      return fits;
    };
    token.error_ns += share(sums.short_waits);
    for (std::uint32_t i = 0; i < sums.count; ++i) {
      const WaitLog::Sum sum = sums.sums[i];
      const double calls = static_cast<double>(sum.calls) * part;
      add(window, sum.row, false, take(sum.ticks), calls, calls,
          static_cast<double>(sum.bytes) * part);
      add(window, sum.row, true, take(sum.program_ticks), calls, 0, 0);
    }
    add(window, is_last ? nullptr : call->leads_to, true, ns - known, 1, 0, 0);
    // Before the first call there is nothing that could be followed further.
    token.now_ns = call == calls_.begin() ? window.start_ns : from;
  }

  void add(const PathWindow& window, const profile::CallRow* row, bool is_program, std::int64_t ns,
           double stretches, double calls, double bytes) noexcept try {
    if (ns <= 0) return;
    Sum& sum = sums_[{window.number, row, is_program}];
    sum.stretches += stretches;
    sum.ns += ns;
    sum.calls += calls;
    sum.bytes += bytes;
  } catch (...) {  // no memory: this part is missing
  }

  const SharedClock& clock_;
  std::vector<Call> calls_;
  std::map<std::tuple<std::uint32_t, const profile::CallRow*, bool>, Sum> sums_;
};

void keep(std::vector<PathFacts>& all, const PathFacts& facts) noexcept try {
  for (PathFacts& known : all) {
    if (known.window != facts.window) continue;
    known.elapsed_ns += facts.elapsed_ns;
    known.jumps += facts.jumps;
    known.error_ns += facts.error_ns;
    return;
  }
  all.push_back(facts);
} catch (...) {  // no memory: the window has no length
}

}  // namespace

FoundPath find_path(Gather& gather, std::uint32_t rank, const SharedClock& clock,
                    const FoundWaits& found, const std::vector<PathWindow>& windows,
                    Gather::Place last) noexcept {
  OwnTime own(clock, found);
  FoundPath path;
  for (const PathWindow& window : windows) {
    if (&window != &windows.front()) last = gather.largest({window.stop_ns, rank});
    Token token{last.value, last.value, 0, 0, 0, 0};
    bool here = last.where == rank;
    while (here || gather.next_token(&token, sizeof token)) {
      if (token.is_done != 0) {  // at process 0
        keep(path.facts, {window.number, token.end_ns - token.now_ns, token.jumps, token.error_ns});
        path.processes += token.processes;
        gather.end_tokens();
        break;
      }
      here = false;
      if (!path.comes_here) token.processes += 1;
      path.comes_here = true;
      const FoundWait* const wait = own.follow(token, window);
      if (wait != nullptr) {
        token.jumps += 1;
        here = wait->peer_rank == rank;
        if (!here) gather.send_token(static_cast<int>(wait->peer_rank), &token, sizeof token);
        continue;
      }
      token.is_done = 1;
      here = rank == 0;
      if (!here) gather.send_token(0, &token, sizeof token);
    }
  }
  try {
    path.rows = own.rows();
  } catch (...) {
    path.rows.clear();
  }
  return path;
}

}  // namespace fathom::profiler
