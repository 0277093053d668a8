// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/lateness/lateness.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/engine/lazy_job.h"
#include "analysis/engine/parcels.h"
#include "base/seconds.h"
#include "trace/code/call_site_names.h"

namespace fathom::analysis {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

std::uint64_t above(std::uint64_t value, std::uint64_t least) {
  return value > least ? value - least : 0;
}

// ---- output ----

// What an event called. Only the owner of its process knows; fetched for events that are shown.
struct LatenessRow {
  std::uint32_t process = 0, call = 0, function = 0;
  std::uint32_t phase = kNobody;
  std::uint64_t site = 0;
};

// For the events in `wanted` (at process 0), in that order.
std::vector<LatenessRow> calls_of(JoinedJob& job, const CommEvents& all,
                                  const std::vector<std::uint32_t>& wanted) {
  Transport& transport = job.transport();
  Parcels questions(transport.size());
  for (const std::uint32_t event : wanted) {
    const CommEvent& one = all.events[event];
    questions.send(job.mapping()[one.process], 0,
                   LatenessRow{one.process, one.call, 0, kNobody, 0});
  }
  std::vector<LatenessRow> own;
  for (const Transport::Bytes& bytes : transport.exchange(questions.take())) {
    for (Received received(bytes); received.more();) {
      received.kind();
      auto row = received.take<LatenessRow>();
      const Step& call = job.steps().at(row.process, row.call);
      row.function = call.number;
      row.phase = call.partner;
      row.site = job.site_address(row.process, call);
      own.push_back(row);
    }
  }
  const std::vector<LatenessRow> rows = gathered(transport, own);
  base::FlatMap<std::uint64_t, LatenessRow> known;
  for (const LatenessRow& row : rows) known[std::uint64_t{row.process} << 32 | row.call] = row;
  std::vector<LatenessRow> calls;
  for (const std::uint32_t event : wanted) {
    const CommEvent& one = all.events[event];
    calls.push_back(known[std::uint64_t{one.process} << 32 | one.call]);
  }
  return calls;
}

class LatenessFindings {
 public:
  LatenessFindings(JoinedJob& job, const CommEvents& all, const LogicalStructure& structure,
                   const Lateness& late)
      : job_(job), all_(all), structure_(structure), late_(late), names_(job.definitions()) {}

  void tell(std::size_t most_events, Outcome& outcome) {
    const bool here = job_.transport().rank() == 0;
    worst_table(outcome.section, here);
    event_table(outcome, most_events, here);
    if (!here) return;
    figures(outcome.section);
    rank_table(outcome.section);
    partition_table(outcome.section);
  }

 private:
  std::int64_t rank(std::uint32_t event) const {
    return job_.definitions().processes[all_.events[event].process].rank;
  }

  void figures(Section& section) const {
    std::uint64_t most_ns = 0;
    std::uint32_t last = 0;
    all_.each([&](std::uint32_t event) {
      most_ns = std::max(most_ns, late_.lateness_ns(event));
      last = std::max(last, structure_.global_step(event));
    });
    section.figure("events", std::uint64_t{all_.events.size()});
    section.figure("partitions", std::uint64_t{structure_.partitions.size()});
    section.figure("leaps", std::uint64_t{structure_.leaps});
    section.figure("steps", std::uint64_t{all_.events.empty() ? 0 : last + 1});
    section.figure("most_lateness_seconds", base::seconds(most_ns));
  }

  struct RankRow {
    std::int64_t rank = 0;
    std::uint64_t events = 0, lateness_ns = 0, most_ns = 0, computed_ns = 0, communicated_ns = 0;
  };
  void rank_table(Section& section) const {
    std::vector<RankRow> rows;
    all_.each([&](std::uint32_t event) {
      if (rows.empty() || rows.back().rank != rank(event)) rows.emplace_back().rank = rank(event);
      RankRow& row = rows.back();
      const Late late = late_.event(event);
      ++row.events;
      row.lateness_ns += late.lateness_ns;
      row.most_ns = std::max(row.most_ns, late.lateness_ns);
      row.computed_ns += late_.computation(event).differential_ns;
      row.communicated_ns += late.differential_ns;
    });
    Table& table = section.table("lateness_by_rank");
    add_column(table, "rank", rows, [](const RankRow& row) { return row.rank; });
    add_column(table, "events", rows, [](const RankRow& row) { return row.events; });
    add_column(table, "mean_lateness_seconds", rows, [](const RankRow& row) {
      return base::seconds(row.lateness_ns) / static_cast<double>(row.events);
    });
    add_column(table, "most_lateness_seconds", rows,
               [](const RankRow& row) { return base::seconds(row.most_ns); });
    add_column(table, "fell_behind_computing_seconds", rows,
               [](const RankRow& row) { return base::seconds(row.computed_ns); });
    add_column(table, "fell_behind_communicating_seconds", rows,
               [](const RankRow& row) { return base::seconds(row.communicated_ns); });
  }

  // Imbalance: longest time of any of its ranks in it minus the shortest.
  void partition_table(Section& section) const {
    struct Row {
      std::uint32_t number = 0, ranks = 0;
      std::uint64_t events = 0, most_ns = 0, least_ns = kMost, lateness_ns = 0;
    };
    ScratchVector<Row> rows(structure_.partitions.size());
    for (std::uint32_t event = 0; event < all_.events.size();) {
      const std::uint32_t partition = structure_.partition[event],
                          process = all_.events[event].process;
      Row& row = rows[partition];
      row.number = partition;
      std::uint64_t ns = 0;
      for (; event < all_.events.size() && structure_.partition[event] == partition &&
             all_.events[event].process == process;
           ++event) {
        CommEvents::touched(event);
        ++row.events;
        ns += above(all_.events[event].exit_ns, all_.events[event].enter_ns);
        row.lateness_ns = std::max(row.lateness_ns, late_.lateness_ns(event));
      }
      ++row.ranks;
      row.most_ns = std::max(row.most_ns, ns);
      row.least_ns = std::min(row.least_ns, ns);
    }
    const std::size_t shown = std::min(rows.size(), kMostShown);
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
                      [](const Row& a, const Row& b) {
                        return a.lateness_ns != b.lateness_ns ? a.lateness_ns > b.lateness_ns
                                                              : a.number < b.number;
                      });
    rows.resize(shown);
    Table& table = section.table("latest_partitions");
    add_column(table, "partition", rows, [](const Row& row) { return std::int64_t{row.number}; });
    add_column(table, "leap", rows, [&](const Row& row) {
      return std::int64_t{structure_.partitions[row.number].leap};
    });
    add_column(table, "ranks", rows, [](const Row& row) { return std::int64_t{row.ranks}; });
    add_column(table, "events", rows, [](const Row& row) { return row.events; });
    add_column(table, "steps", rows, [&](const Row& row) {
      return std::int64_t{structure_.partitions[row.number].steps};
    });
    add_column(table, "most_lateness_seconds", rows,
               [](const Row& row) { return base::seconds(row.lateness_ns); });
    add_column(table, "imbalance_seconds", rows,
               [](const Row& row) { return base::seconds(row.most_ns - row.least_ns); });
  }

  // Where most time was lost, in an event or before it.
  void worst_table(Section& section, bool here) {
    struct Row {
      std::uint32_t event = 0;
      bool computing = false;
      std::uint64_t ns = 0;
    };
    std::vector<Row> rows;
    const auto later = [](const Row& a, const Row& b) {
      return a.ns != b.ns         ? a.ns > b.ns
             : a.event != b.event ? a.event < b.event
                                  : a.computing < b.computing;
    };
    const auto keep = [&](const Row& row) {
      if (row.ns == 0 || (rows.size() == kMostShown && !later(row, rows.front()))) return;
      rows.push_back(row);
      std::push_heap(rows.begin(), rows.end(), later);
      if (rows.size() <= kMostShown) return;
      std::pop_heap(rows.begin(), rows.end(), later);
      rows.pop_back();
    };
    all_.each([&](std::uint32_t event) {
      keep({event, false, late_.event(event).differential_ns});
      keep({event, true, late_.computation(event).differential_ns});
    });
    std::sort(rows.begin(), rows.end(), later);
    std::vector<std::uint32_t> wanted;
    for (const Row& row : rows) wanted.push_back(row.event);
    // Collective: every process takes part, although only process 0 has events to ask for.
    const auto calls = calls_of(job_, all_, wanted);
    if (!here) return;
    std::vector<std::size_t> numbers(rows.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    Table& table = section.table("fell_behind");
    add_column(table, "rank", rows, [&](const Row& row) { return rank(row.event); });
    add_column(table, "what", rows, [](const Row& row) {
      return std::string(row.computing ? "computing before" : "communicating in");
    });
    call_columns(table, numbers, calls);
    add_column(table, "step", rows,
               [&](const Row& row) { return std::int64_t{structure_.global_step(row.event)}; });
    add_column(table, "at_s", rows,
               [&](const Row& row) { return base::seconds(all_.events[row.event].enter_ns); });
    add_column(table, "seconds", rows, [](const Row& row) { return base::seconds(row.ns); });
  }

  void call_columns(Table& table, const std::vector<std::size_t>& numbers,
                    const std::vector<LatenessRow>& calls) {
    const auto site = [&](std::size_t i) -> const trace::CodeSite& {
      return names_.of_call(calls[i].process, calls[i].site);
    };
    add_column(table, "name", numbers,
               [&](std::size_t i) { return job_.definitions().functions[calls[i].function].name; });
    add_column(table, "file", numbers,
               [&](std::size_t i) { return trace::file_or_module(site(i)); });
    add_column(table, "line", numbers, [&](std::size_t i) { return std::int64_t{site(i).line}; });
    add_column(table, "phase", numbers, [&](std::size_t i) {
      const auto& phases = job_.definitions().phases;
      return calls[i].phase < phases.size() ? phases[calls[i].phase] : std::string();
    });
  }

  // Pipit's columns, plus our own.
  void event_table(Outcome& outcome, std::size_t most_events, bool here) {
    const std::size_t shown = std::min(all_.events.size(), most_events);
    std::vector<std::uint32_t> wanted(shown);
    std::iota(wanted.begin(), wanted.end(), 0u);
    const auto calls = calls_of(job_, all_, wanted);
    if (!here) return;
    if (shown < all_.events.size()) {
      outcome.limits.push_back("lateness: the table of events holds the first " +
                               std::to_string(shown) + " of " + std::to_string(all_.events.size()) +
                               "; --set lateness_events=N shows more");
    }
    Table& table = outcome.section.table("events");
    const auto column = [&](const char* name, auto of) { add_column(table, name, wanted, of); };
    const auto first_sender = [&](std::uint32_t event) {
      return all_.senders.of(event).empty() ? kNobody : all_.senders.of(event).front();
    };
    column("PartitionId",
           [&](std::uint32_t event) { return std::int64_t{structure_.partition[event]}; });
    column("EventId", [](std::uint32_t event) { return std::int64_t{event}; });
    column("EventName", [&](std::uint32_t event) {
      return job_.definitions().functions[calls[event].function].name;
    });
    column("Stride", [&](std::uint32_t event) {
      return structure_.stride[event] == kNobody ? std::int64_t{-1}
                                                 : std::int64_t{structure_.stride[event]};
    });
    column("Process", [&](std::uint32_t event) { return rank(event); });
    column("Matching Event ID", [&](std::uint32_t event) {
      return first_sender(event) == kNobody ? std::int64_t{-1} : std::int64_t{first_sender(event)};
    });
    column("Matching Process", [&](std::uint32_t event) {
      return first_sender(event) == kNobody ? std::int64_t{-1} : rank(first_sender(event));
    });
    column("Leap", [&](std::uint32_t event) {
      return std::int64_t{structure_.partitions[structure_.partition[event]].leap};
    });
    column("LocalStep", [&](std::uint32_t event) { return std::int64_t{structure_.step[event]}; });
    column("Step",
           [&](std::uint32_t event) { return std::int64_t{structure_.global_step(event)}; });
    column("Start", [&](std::uint32_t event) { return all_.events[event].enter_ns; });
    column("End", [&](std::uint32_t event) { return all_.events[event].exit_ns; });
    for (const bool computing : {false, true}) {
      const std::string prefix = computing ? "Computation" : "";
      const auto of = [&](const std::string& name, std::uint64_t Late::*member) {
        column((prefix + name).c_str(), [&](std::uint32_t event) {
          return (computing ? late_.computation(event) : late_.event(event)).*member;
        });
      };
      of("Lateness", &Late::lateness_ns);
      of("GlobalLateness", &Late::global_lateness_ns);
      of("DiffLateness", &Late::differential_ns);
      of("DiffDuration", &Late::differential_duration_ns);
    }
  }

  static constexpr std::size_t kMostShown = 64;
  JoinedJob& job_;
  const CommEvents& all_;
  const LogicalStructure& structure_;
  const Lateness& late_;
  trace::CallSiteNames names_;
};

std::vector<std::uint64_t> begun_ns(const JoinedJob& job) {
  std::vector<std::uint64_t> begun;
  for (const trace::Process& process : job.definitions().processes)
    begun.push_back(process.first_ns);
  return begun;
}

}  // namespace

Lateness::Lateness(const CommEvents& all, const LogicalStructure& structure,
                   std::vector<std::uint64_t> begun)
    : all_(all), structure_(structure), begun_ns_(std::move(begun)), least_(structure.buckets) {
  std::size_t steps = 0;
  for (const Partition& partition : structure.partitions)
    steps = std::max<std::size_t>(steps, (partition.first_step + 2 * partition.steps) / 2 + 1);
  exit_ns_.resize(steps, kMost);
  enter_ns_.resize(steps, kMost);
  const auto lower = [](std::uint64_t& least, std::uint64_t value) {
    least = std::min(least, value);
  };
  all.each([&](std::uint32_t event) {
    const CommEvent& one = all.events[event];
    Least& least = least_[structure.bucket(event)];
    lower(least.exit_ns, one.exit_ns);
    lower(least.enter_ns, one.enter_ns);
    lower(least.duration_ns, duration_ns(event));
    lower(least.computation_ns, computation_ns(event));
    lower(exit_ns_[structure.global_step(event) / 2], one.exit_ns);
    lower(enter_ns_[structure.global_step(event) / 2], one.enter_ns);
  });
}

std::uint64_t Lateness::duration_ns(std::uint32_t event) const {
  return above(all_.events[event].exit_ns, all_.events[event].enter_ns);
}

std::uint64_t Lateness::computation_ns(std::uint32_t event) const {
  return above(all_.events[event].enter_ns, is_first(event) ? begun_ns_[all_.events[event].process]
                                                            : all_.events[event - 1].exit_ns);
}

Late Lateness::event(std::uint32_t event) const {
  Late late;
  late.lateness_ns = lateness_ns(event);
  late.global_lateness_ns =
      all_.events[event].exit_ns - exit_ns_[structure_.global_step(event) / 2];
  late.differential_duration_ns = duration_ns(event) - least_[structure_.bucket(event)].duration_ns;
  std::uint64_t before_ns = lateness_before_ns(event);
  for (const std::uint32_t sender : all_.senders.of(event))
    before_ns = std::max(before_ns, lateness_ns(sender));
  for (const std::uint32_t group : all_.completed.of(event)) {
    for (const std::uint32_t post : all_.members.of(group))
      before_ns = std::max(before_ns, lateness_ns(post));
  }
  late.differential_ns = above(late.lateness_ns, before_ns);
  return late;
}

Late Lateness::computation(std::uint32_t event) const {
  Late late;
  late.lateness_ns = lateness_before_ns(event);
  late.global_lateness_ns =
      all_.events[event].enter_ns - enter_ns_[structure_.global_step(event) / 2];
  late.differential_duration_ns =
      computation_ns(event) - least_[structure_.bucket(event)].computation_ns;
  late.differential_ns = above(late.lateness_ns, is_first(event) ? 0 : lateness_ns(event - 1));
  return late;
}

base::Result<Outcome> lateness(const Input& input) {
  auto joined = input.job->joined();
  if (!joined) return joined.error();
  JoinedJob& job = **joined;
  const CommEvents all = comm_events(job, input.scope.from_ns, input.scope.to_ns);
  StructureOptions options;
  options.complete_leaps = input.thresholds.lateness_complete_leaps > 0;
  options.force = input.thresholds.lateness_complete_leaps > 1;
  const LogicalStructure structure = logical_structure(all, options);
  const Lateness late(all, structure, begun_ns(job));
  Outcome outcome;
  LatenessFindings(job, all, structure, late)
      .tell(static_cast<std::size_t>(input.thresholds.lateness_events), outcome);
  if (input.scope.ranks || input.scope.phases)
    outcome.limits.push_back(
        "lateness: the tables cover all ranks and phases, because logical steps span them all");
  return outcome;
}

}  // namespace fathom::analysis
