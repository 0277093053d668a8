// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/waits/job_causes.h"

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/scope/known_time.h"
#include "analysis/waits/wait_findings.h"
#include "base/seconds.h"
#include "mpi/meaning.h"

namespace fathom::analysis {
namespace {

bool is_point_to_point(mpi::Group group) {
  return group == mpi::Group::kSend || group == mpi::Group::kReceive ||
         group == mpi::Group::kSendReceive || group == mpi::Group::kCompletion ||
         group == mpi::Group::kProbe;
}

// A call in the words of the program, the same in all processes.
struct NamedCall {
  std::uint32_t function = kNobody, line = kNobody;  // line: the number of one
  auto operator<=>(const NamedCall&) const = default;
};
struct NamedStretch {
  NamedCall after, before;
  auto operator<=>(const NamedStretch&) const = default;
};

// As in CauseRow.
struct Spent {
  std::uint64_t pieces = 0, waited_ns = 0;
  std::map<std::uint32_t, std::uint64_t> by_culprit;  // waited_ns
};

// The waits that become one finding.
struct Group {
  WaitCause cause;
  std::map<NamedStretch, Spent> spent;
  bool losses = false;
};

class JobCauses {
 public:
  JobCauses(const Input& input, const JoinedJob& job, const JobWaits& waits,
            trace::CallSiteNames& names, std::uint64_t all_ns)
      : input_(input), job_(job), waits_(waits), names_(names), all_ns_(all_ns) {
    if (input.profile) hub_ = hub_of(*input.profile, input.thresholds.few_ranks);
  }

  std::vector<Finding> find() {
    group();
    std::erase_if(groups_, [&](const auto& group) { return !is_finding(group.second.cause.ns()); });
    compare_work();
    std::vector<Finding> findings;
    for (auto& [key, group] : groups_) findings.push_back(finding(group));
    return findings;
  }

 private:
  // Work that ends at one call is one cause wherever it began: in a loop, the first iteration
  // begins elsewhere.
  struct Key {
    bool serves = false;
    NamedCall inside, before;  // one of them, unless it serves or nothing is known
    std::uint32_t phase = kNobody;
    auto operator<=>(const Key&) const = default;
  };

  const trace::Definitions& definitions() const { return job_.definitions(); }
  std::int64_t rank(std::uint32_t process) const { return definitions().processes[process].rank; }
  const std::string& function(std::uint32_t number) const {
    return definitions().functions[number].name;
  }
  std::string phase_name(std::uint32_t phase) const {
    return phase < definitions().phases.size() ? definitions().phases[phase] : "";
  }

  bool is_finding(std::uint64_t ns) const {
    return all_ns_ > 0 && ns > 0 &&
           static_cast<double>(ns) >= input_.thresholds.wait_share * static_cast<double>(all_ns_);
  }

  // The first number of a line, of the several that a line with several calls may have. Where lines
  // are not known, functions are told apart: most programs are built without debug information.
  std::uint32_t line_of(std::uint32_t process, std::uint64_t address) {
    const std::uint32_t number = names_.number_of(process, address);
    if (number == trace::CallSiteNames::kNone) return kNobody;
    const trace::CodeSite& site = names_[number];
    const std::string file = trace::file_or_module(site);
    const std::string caller = file.empty() ? site.function : "";
    return lines_.try_emplace({file, site.line, caller}, number).first->second;
  }
  NamedCall named(std::uint32_t process, std::uint32_t function, std::uint64_t site) {
    if (function == kNobody) return {};
    return {function, line_of(process, site)};
  }
  NamedStretch named(std::uint32_t process, const Stretch& stretch) {
    return {named(process, stretch.after, stretch.after_site),
            named(process, stretch.before, stretch.before_site)};
  }

  CallPlace place(const NamedCall& call) const {
    if (call.line == kNobody) return {function(call.function), "", "", 0};
    const trace::CodeSite& site = names_[call.line];
    return {function(call.function), site.function, trace::file_or_module(site), site.line};
  }

  using Symptoms = std::span<const SymptomRow>;

  // Whether it kept ranks waiting for messages while it dealt with those of others.
  bool serves(const CauseId& cause, Symptoms symptoms) const {
    const Stretch& stretch = cause.stretch;
    if (!hub_ || rank(cause.process) != *hub_ || stretch.after == kNobody) return false;
    const auto& functions = job_.facts().functions;
    if (!is_point_to_point(functions[stretch.after].group) ||
        (stretch.before != kNobody && !is_point_to_point(functions[stretch.before].group)))
      return false;
    std::uint64_t all_ns = 0, message_ns = 0;
    for (const SymptomRow& row : symptoms) {
      all_ns += row.direct_ns;
      if (is_for_message(row.wait.kind)) message_ns += row.direct_ns;
    }
    return 2 * message_ns > all_ns;
  }

  Key key_of(const CauseId& cause, Symptoms symptoms) {
    if (serves(cause, symptoms)) return {true, {}, {}, cause.phase};
    const NamedStretch stretch = named(cause.process, cause.stretch);
    if (cause.stretch.before == kNobody) return {false, stretch.after, {}, cause.phase};
    return {false, {}, stretch.before, cause.phase};
  }

  void group() {
    auto begin = waits_.symptoms.begin();  // both are sorted by cause
    for (const CauseRow& row : waits_.causes) {
      auto end = begin;
      while (end != waits_.symptoms.end() && end->cause == row.id) ++end;
      const Symptoms symptoms(begin, end);
      begin = end;
      const Key key = key_of(row.id, symptoms);
      Group& group = groups_[key];
      group.cause.serves = key.serves;
      group.cause.hub = hub_;
      Spent& spent = group.spent[named(row.id.process, row.id.stretch)];
      spent.pieces += row.pieces;
      spent.waited_ns += row.waited_ns;
      spent.by_culprit[row.id.process] += row.waited_ns;
      for (const SymptomRow& symptom : symptoms) add(symptom, group);
    }
  }

  void add(const SymptomRow& row, Group& group) {
    const WaitId& wait = row.wait;
    const std::int64_t culprit = rank(row.cause.process), victim = rank(wait.process);
    const std::uint64_t ns = row.direct_ns + row.indirect_ns;
    if (ns == 0 || wait.kind == WaitKind::kInit) return;
    const bool passed_on = row.direct_ns == 0;
    const std::int64_t awaited = rank(wait.awaited);
    WaitCause& cause = group.cause;
    cause.culprits[culprit] += ns;
    (passed_on ? cause.passed : cause.direct).add(victim, awaited, ns, row.count);
    WaitGroup& symptom = cause.symptoms[{place_of(wait), passed_on}];
    symptom.add(victim, awaited, ns, row.count);
    symptom.worst[victim].add(row.worst);
    const auto& processes = job_.summary().processes;
    if (processes[wait.process].losses > 0 || processes[row.cause.process].losses > 0)
      group.losses = true;
  }

  template <typename Wait>
  WaitPlace place_of(const Wait& wait) {
    const trace::CodeSite& site = names_.of_call(wait.process, wait.site);
    return {wait.kind, function(wait.function), site.function, trace::file_or_module(site),
            site.line, phase_name(wait.phase)};
  }

  // How much of the work in a stretch is the culprits'. Unknown where calls are missing between.
  void compare_work() {
    const KnownTime known = known_time(definitions(), job_.gaps());
    if (!known.between || !known.ranks) return;
    std::map<NamedCall, std::map<std::int64_t, std::uint64_t>> work;  // ns by rank
    for (const auto& [key, group] : groups_) {
      if (key.before.function != kNobody) work[key.before];
    }
    std::map<std::int64_t, std::uint64_t> all_work;
    for (const WorkRow& row : waits_.work) {
      all_work[rank(row.process)] += row.ns;
      const auto at = work.find(named(row.process, row.stretch.before, row.stretch.before_site));
      if (at != work.end()) at->second[rank(row.process)] += row.ns;
    }
    const std::size_t ranks = definitions().processes.size();
    for (auto& [key, group] : groups_) {
      const auto at = work.find(key.before);
      if (at == work.end()) continue;
      std::optional<Balance>& balance = group.cause.balance;
      balance = balance_of(at->second, group.cause, ranks);
      if (!balance) continue;
      WaitCause alone;
      alone.hub = hub_;
      alone.culprits[balance->busiest] = 1;
      const auto in_all = balance_of(all_work, alone, ranks);
      balance->evens_out = in_all && in_all->excess_ns < balance->excess_ns / 2;
    }
  }

  Finding finding(Group& group) {
    WaitCause& cause = group.cause;
    cause.traced = true;
    cause.confidence = group.losses ? 0.5 : 1;
    cause.meanwhile = meanwhile(group);
    return finding_of(cause, input_.thresholds.load_balance, all_ns_);
  }

  // Whether a culprit that was waited for that long spent most of it elsewhere. (In a loop, the first iteration of
  // each begins elsewhere, which need not be said.)
  static bool works_elsewhere(const Group& group, const NamedStretch& where,
                              std::uint64_t least_ns) {
    std::map<std::uint32_t, std::uint64_t> here_ns, most_elsewhere_ns;
    for (const auto& [stretch, spent] : group.spent) {
      for (const auto& [culprit, ns] : spent.by_culprit) {
        if (stretch == where)
          here_ns[culprit] = ns;
        else
          most_elsewhere_ns[culprit] = std::max(most_elsewhere_ns[culprit], ns);
      }
    }
    return std::any_of(most_elsewhere_ns.begin(), most_elsewhere_ns.end(), [&](const auto& row) {
      return row.second >= least_ns && row.second > here_ns[row.first];
    });
  }

  // All its pieces, named after the stretch with most of the time.
  std::optional<Meanwhile> meanwhile(const Group& group) const {
    const NamedStretch* where = nullptr;
    std::uint64_t most_ns = 0;
    Spent all;
    for (const auto& [stretch, spent] : group.spent) {
      all.pieces += spent.pieces;
      all.waited_ns += spent.waited_ns;
      if (stretch.after.function == kNobody || spent.waited_ns <= most_ns) continue;
      where = &stretch;
      most_ns = spent.waited_ns;
    }
    // Work that was going on for hardly any of the waiting is not what was waited for: in a partial
    // trace, that may be missing.
    constexpr double kHardlyAny = 0.05;
    if (where == nullptr ||
        static_cast<double>(all.waited_ns) < kHardlyAny * static_cast<double>(group.cause.ns()))
      return {};
    Meanwhile found;
    found.mostly = works_elsewhere(group, *where, all.waited_ns / 10);
    // Waits in MPI_Init count there, not in the cause.
    found.seconds = base::seconds(std::min(all.waited_ns, group.cause.ns()));
    found.of_seconds = base::seconds(group.cause.ns());
    found.pieces = all.pieces;
    found.after = place(where->after);
    if (where->before.function == kNobody) {
      found.inside = std::exchange(found.after, {});
    } else {
      found.before = place(where->before);
    }
    return found;
  }

  const Input& input_;
  const JoinedJob& job_;
  const JobWaits& waits_;
  trace::CallSiteNames& names_;
  const std::uint64_t all_ns_;
  std::optional<std::int64_t> hub_;
  std::map<std::tuple<std::string, int, std::string>, std::uint32_t> lines_;
  std::map<Key, Group> groups_;
};

}  // namespace

std::vector<Finding> cause_findings(const Input& input, const JoinedJob& job, const JobWaits& waits,
                                    trace::CallSiteNames& names, std::uint64_t all_ns) {
  return JobCauses(input, job, waits, names, all_ns).find();
}

}  // namespace fathom::analysis
