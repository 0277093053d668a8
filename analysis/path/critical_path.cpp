// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/path/critical_path.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "analysis/calls/call_key.h"
#include "analysis/engine/call_wait.h"
#include "analysis/engine/job_end.h"
#include "analysis/engine/parcels.h"
#include "analysis/engine/rounds.h"
#include "base/flat_map.h"
#include "base/order/sort_stably.h"

namespace fathom::analysis {
namespace {

// Position of the walk: before the step `number` of `process`, at this time.
struct Token {
  std::uint32_t process = 0;
  std::uint32_t number = 0;
  bool at_end = false;   // at the end of that process; number is not known yet
  bool at_step = false;  // number is the step waited for; its call comes next
  std::uint64_t time_ns = 0;
};

struct PathKey {
  CallKey call;
  std::uint32_t leads_to = kNobody, follows = kNobody;
  std::uint64_t follows_site = 0;
  bool operator==(const PathKey&) const = default;
};

struct PathKeyHash {
  std::uint64_t operator()(const PathKey& key) const {
    return base::mixed(
        CallKeyHash{}(key.call) ^
        base::mixed(key.follows_site ^ (std::uint64_t{key.leads_to} << 32 | key.follows)));
  }
};

// The path is one chain, so at any time only the owner of its present process can work. The walk is
// therefore a Pass that shares its rounds with others, which keep the rest busy.
class Walk : public Pass {
 public:
  Walk(JoinedJob& job, std::size_t most_stretches)
      : job_(job), parcels_(job.transport().size()), most_stretches_(most_stretches) {
    const JobEnd end = job_end(job);
    if (end.process == kNobody) return;
    begin_ns_ = end_ns_ = end.time_ns;
    pass_on({end.process, 0, true, false, end.time_ns}, true);
  }

  Stall work() override {
    while (here_) go_on();
    return {};
  }
  Parcels& parcels() override { return parcels_; }
  void open(Received& received) override {
    while (received.more()) {
      received.kind();
      here_ = received.take<Token>();
    }
  }

  CriticalPath gather() {
    std::vector<PathRow> own;
    rows_.for_each([&](const PathKey& key, PathRow row) {
      row.process = key.call.process;
      row.function = key.call.function;
      row.phase = key.call.phase;
      row.communicator = key.call.communicator;
      row.site = key.call.site;
      row.leads_to = key.leads_to;
      row.follows = key.follows;
      row.follows_site = key.follows_site;
      own.push_back(row);
    });
    CriticalPath path;
    path.rows = gathered(job_.transport(), own);
    std::sort(path.rows.begin(), path.rows.end(), [](const PathRow& a, const PathRow& b) {
      return std::tie(a.process, a.function, a.site, a.communicator, a.phase, a.leads_to,
                      a.follows_site, a.follows) < std::tie(b.process, b.function, b.site,
                                                            b.communicator, b.phase, b.leads_to,
                                                            b.follows_site, b.follows);
    });
    path.stretches = gathered(job_.transport(), stretches_);
    const auto later = [](const PathStretch& a, const PathStretch& b) {
      return a.end_ns > b.end_ns;
    };
    std::sort(path.stretches.begin(), path.stretches.end(), later);
    path.stretches.resize(std::min(path.stretches.size(), most_stretches_));
    std::reverse(path.stretches.begin(), path.stretches.end());
    path.end_ns = path.begin_ns = end_ns_;
    for (const auto& [begin_ns, changes] :
         gathered(job_.transport(), std::vector{Ends{begin_ns_, changes_}})) {
      path.begin_ns = std::min(path.begin_ns, begin_ns);
      path.changes += changes;
    }
    return path;
  }

 private:
  void pass_on(const Token& token, bool all_know = false) {
    if (job_.is_own(token.process)) {
      here_ = token;
    } else if (!all_know) {
      parcels_.send(job_.mapping()[token.process], 0, token);
    }
  }

  // Follows one process backward until the path leaves it, or begins.
  void go_on() {
    Token token = *here_;
    here_.reset();
    OpenWaits open(job_, token.process);
    const StepFile& steps = job_.steps();
    if (token.at_end) token.number = steps.size(token.process);
    std::uint32_t inside_call = kNobody;
    if (token.at_step) {
      const Step& step = steps.at(token.process, token.number);
      const std::uint32_t call = step.posted;
      // What a call tells after it has waited leads back into it; anything else, before it.
      const bool inside = step.has(kNotice) && step.kind == StepKind::kSend &&
                          steps.at(token.process, call).time_ns < token.time_ns;
      if (inside) {
        inside_call = call;
        ++token.number;
      }
      if (call != kNobody && !inside) token.number = call;
    }
    std::uint64_t now_ns = token.time_ns;
    const Step* next = nullptr;  // the call that follows the work before now
    if (token.number < steps.size(token.process) &&
        steps.at(token.process, token.number).kind == StepKind::kCall) {
      next = &steps.at(token.process, token.number);
    }
    for (std::uint32_t number = token.number; number-- > 0;) {
      if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
      const Step& step = steps.at(token.process, number);
      if (step.kind != StepKind::kCall) {
        open.add(number, step);
        continue;
      }
      if (step.thread != 0 || step.has(kNested) || step.time_ns >= now_ns) continue;
      if (step.end_ns < now_ns) add_work(token.process, step, next, now_ns);
      const std::uint64_t end_ns = std::min(step.end_ns, now_ns);
      const CallWait* const seen = open.find(number);
      const Wait wait = seen == nullptr ? Wait{} : seen->wait();
      // Back in time, or out of the call that passed something on after it had waited; elsewhere two calls
      // that end when they begin would pass the path on to each other for ever.
      if (wait.ns > 0 &&
          (wait.decided_ns < end_ns || (wait.decided_ns == end_ns && number == inside_call))) {
        if (wait.decided_ns < end_ns) add_call(token.process, step, wait.decided_ns, end_ns);
        ++changes_;
        begin_ns_ = std::min(begin_ns_, wait.decided_ns);
        return pass_on({wait.culprit, wait.culprit_step, false, true, wait.decided_ns});
      }
      add_call(token.process, step, step.time_ns, end_ns);
      now_ns = step.time_ns;
      next = &step;
      open.clear();
    }
    begin_ns_ = std::min(begin_ns_, now_ns);
  }

  void add_call(std::uint32_t process, const Step& call, std::uint64_t begin_ns,
                std::uint64_t end_ns) {
    add({{job_.site_address(process, call), process, call.number, call.partner, call.communicator}},
        begin_ns, end_ns);
  }
  // Adds the program's work from one call to the next; `next` is nullptr if there is none.
  void add_work(std::uint32_t process, const Step& before, const Step* next, std::uint64_t end_ns) {
    PathKey key{{0, process, kNobody, kNobody, -1},
                kNobody,
                before.number,
                job_.site_address(process, before)};
    if (next != nullptr) {
      key.call = {job_.site_address(process, *next), process, kNobody, next->partner,
                  next->communicator};
      key.leads_to = next->number;
    }
    add(key, before.end_ns, end_ns);
  }
  void add(const PathKey& key, std::uint64_t begin_ns, std::uint64_t end_ns) {
    PathRow& row = rows_[key];
    row.ns += end_ns - begin_ns;
    ++row.count;
    if (stretches_.size() < most_stretches_)
      stretches_.push_back({begin_ns, end_ns, key.call.process, key.call.function});
  }

  struct Ends {
    std::uint64_t begin_ns = 0, changes = 0;
  };

  JoinedJob& job_;
  Parcels parcels_;
  std::optional<Token> here_;
  base::FlatMap<PathKey, PathRow, PathKeyHash> rows_;
  const std::size_t most_stretches_;
  std::vector<PathStretch> stretches_;
  std::uint64_t begin_ns_ = 0, end_ns_ = 0, changes_ = 0;
};

}  // namespace

PassTo<CriticalPath> critical_path_pass(JoinedJob& job, std::size_t most_stretches) {
  auto walk = std::make_shared<Walk>(job, most_stretches);
  return {walk, [walk] { return walk->gather(); }};
}

}  // namespace fathom::analysis
