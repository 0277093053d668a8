// SPDX-License-Identifier: BSD-3-Clause
#include "trace/run_definitions.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/seconds.h"
#include "profile/communicator_merge.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kMostNumbers = kMaxSmall + 1;  // classes and phases: as fit into a record

class Together {
 public:
  explicit Together(const std::vector<ProcessDefinitions>& processes) : processes_(processes) {
    run_.tables.resize(processes.size());
  }

  RunDefinitions run() {
    add_facts();
    add_communicators();
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const ProcessDefinitions& own = processes_[i];
      add_functions(own.functions.empty() ? any_functions() : own.functions, run_.tables[i]);
      add_classes(own.classes.empty() ? any_classes() : own.classes, run_.tables[i]);
      add_phases(own.phases, run_.tables[i]);
      run_.tables[i].own_rank = static_cast<std::int32_t>(own.process.rank);
      run_.definitions.processes.push_back(own.process);
      if (own.opening_exact) add_opening(own, i);
    }
    add_clocks();
    return std::move(run_);
  }

 private:
  void add_facts() {
    Definitions& definitions = run_.definitions;
    for (const ProcessDefinitions& process : processes_) {
      if (!process.header) continue;
      if (definitions.world_size == 0) definitions.world_size = process.header->world_size;
      profile::Application& application = definitions.application;
      if (application.executable.empty()) {
        application.executable = process.application.executable;
        application.arguments = process.application.arguments;
      }
      const auto started =
          static_cast<std::int64_t>(process.header->started_unix_ns & ~(std::uint64_t{1} << 63));
      if (application.started_unix_ns == 0 || started < application.started_unix_ns) {
        application.started_unix_ns = started;
      }
      application.seconds =
          std::max(application.seconds, base::seconds(process.header->elapsed_ns));
      if (definitions.level.empty()) definitions.level = process.level;
      if (definitions.chosen_communicators.empty())
        definitions.chosen_communicators = process.chosen_communicators;
      if (definitions.selection.empty()) definitions.selection = process.selection;
      if (definitions.source.empty()) definitions.source = process.source;
    }
  }

  void add_communicators() {
    profile::CommunicatorMerge merge;
    profile::ProcessNumbers numbers;
    const std::int64_t world_size = run_.definitions.world_size;
    std::uint32_t job = 0;
    for (const ProcessDefinitions& process : processes_) {
      if (process.header) {
        job = process.header->job;
        break;
      }
    }
    numbers.set_world(job, world_size);
    std::vector<std::vector<std::uint32_t>> kinds;
    for (const ProcessDefinitions& process : processes_) {
      kinds.push_back(
          merge.add(process.process.rank, process.communicators, process.foreign_members, numbers));
    }
    const std::vector<std::int64_t> foreign = numbers.settle();
    run_.definitions.communicators = merge.finish(world_size, foreign);
    std::map<std::pair<std::uint32_t, bool>, std::shared_ptr<const std::vector<std::int32_t>>>
        groups;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      for (std::size_t position = 0; position < kinds[i].size(); ++position) {
        const profile::CommunicatorRow& row = processes_[i].communicators[position];
        const std::uint32_t kind = kinds[i][position];
        const bool is_inter = (row.flags & profile::kIntercommunicator) != 0;
        const bool peers_are_remote = merge.is_remote_group(kind, row.group_key) != is_inter;
        auto& group = groups[{kind, peers_are_remote}];
        if (!group) {
          const std::vector<std::int64_t> members = merge.members(kind, peers_are_remote);
          group = std::make_shared<const std::vector<std::int32_t>>(members.begin(), members.end());
        }
        run_.tables[i].communicators.push_back({static_cast<std::int32_t>(merge.id_of(kind)),
                                                (row.flags & profile::kPerProcess) != 0, group});
      }
    }
  }

  const std::map<std::uint32_t, Function>& any_functions() const {
    static const std::map<std::uint32_t, Function> none;
    const auto found = std::find_if(processes_.begin(), processes_.end(),
                                    [](const auto& process) { return !process.functions.empty(); });
    return found == processes_.end() ? none : found->functions;
  }

  const std::map<std::uint32_t, std::pair<std::string, bool>>& any_classes() const {
    static const std::map<std::uint32_t, std::pair<std::string, bool>> none;
    const auto found = std::find_if(processes_.begin(), processes_.end(),
                                    [](const auto& process) { return !process.classes.empty(); });
    return found == processes_.end() ? none : found->classes;
  }

  void add_functions(const std::map<std::uint32_t, Function>& functions, DecodeTables& tables) {
    for (const auto& [number, function] : functions) {
      const auto [known, is_new] = function_numbers_.emplace(
          function.name, static_cast<std::uint32_t>(run_.definitions.functions.size()));
      if (is_new) run_.definitions.functions.push_back(function);
      if (tables.functions.size() <= number) tables.functions.resize(number + 1);
      DecodeTables::FunctionPlan& plan = tables.functions[number];
      plan.function = known->second;
      plan.enter = DecodeTables::CallPlan(function.enter);
      plan.leave = DecodeTables::CallPlan(function.leave);
    }
  }

  void add_classes(const std::map<std::uint32_t, std::pair<std::string, bool>>& classes,
                   DecodeTables& tables) {
    for (const auto& [number, name] : classes) {
      if (number >= kMostNumbers) break;
      const auto [known, is_new] =
          class_numbers_.emplace(name, static_cast<std::uint32_t>(run_.definitions.classes.size()));
      if (is_new) {
        run_.definitions.classes.push_back(name.first);
        run_.definitions.class_hidden.push_back(name.second);
      }
      tables.classes.resize(number + 1, DecodeTables::kUnknown);
      tables.classes[number] = known->second;
    }
  }

  void add_phases(const std::map<std::uint32_t, std::string>& phases, DecodeTables& tables) {
    for (const auto& [number, name] : phases) {
      if (number >= kMostNumbers) break;
      const auto [known, is_new] =
          phase_numbers_.emplace(name, static_cast<std::uint32_t>(run_.definitions.phases.size()));
      if (is_new) run_.definitions.phases.push_back(name);
      tables.phases.resize(number + 1, DecodeTables::kUnknown);
      tables.phases[number] = known->second;
    }
  }

  void add_opening(const ProcessDefinitions& own, std::size_t process) {
    DecodeTables& tables = run_.tables[process];
    Opening opening;
    for (const OpeningChannelRow& row : own.opening_channels) {
      if (row.communicator >= tables.communicators.size()) continue;
      const DecodeTables::CommunicatorPlan& plan = tables.communicators[row.communicator];
      if (!plan.per_process && row.peer >= plan.peers->size()) continue;
      const std::int32_t peer = plan.per_process ? tables.own_rank : (*plan.peers)[row.peer];
      opening.channels.push_back({plan.communicator, peer, row.tag, row.sent, row.received});
    }
    for (const OpeningSequenceRow& row : own.opening_sequences) {
      const bool whole_job = row.communicator == kWholeJob;
      if (!whole_job && row.communicator >= tables.communicators.size()) continue;
      opening.sequences.push_back(
          {whole_job ? kNobody : tables.communicators[row.communicator].communicator,
           row.operations});
    }
    for (const OpeningHeldRow& row : own.opening_held) {
      if (row.communicator >= tables.communicators.size()) continue;
      const DecodeTables::CommunicatorPlan& plan = tables.communicators[row.communicator];
      std::int32_t peer = row.peer == -1 ? kAnySource : kNobody;
      if (row.peer >= 0) {
        const auto rank = static_cast<std::size_t>(row.peer);
        if (!plan.per_process && rank >= plan.peers->size()) continue;
        peer = plan.per_process ? tables.own_rank : (*plan.peers)[rank];
      }
      opening.held.push_back(
          {plan.communicator, peer, row.tag, row.thread, row.state, row.message});
    }
    run_.definitions.processes[process].opening = std::move(opening);
    for (const auto& [thread, phases] : own.open_phases) {
      for (const std::uint32_t phase : phases) {
        if (phase < tables.phases.size() && tables.phases[phase] != DecodeTables::kUnknown)
          tables.open_phases[thread].push_back(tables.phases[phase]);
      }
    }
  }

  void add_clocks() {
    std::vector<ProcessClock> clocks;
    for (const ProcessDefinitions& process : processes_) {
      const Process& known = process.process;
      // Processes of unknown hosts must not be taken for neighbours on one host.
      const std::string host =
          known.host.empty() ? "unknown (rank " + std::to_string(known.rank) + ")" : known.host;
      clocks.push_back({host, known.clock.kind, process.moments});
    }
    run_.clock = bring_clocks_together(clocks);
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const double rate = run_.clock.to_reference_ns[i].rate();
      run_.tables[i].ns_per_tick = rate;
      Process& process = run_.definitions.processes[i];
      process.clock.ticks_per_ns = 1 / rate;
      if (!process.clock.own) process.clock.uncertainty_ns = run_.clock.uncertainty_ns[i];
      if (!run_.clock.problems[i].empty()) process.problems.push_back(run_.clock.problems[i]);
    }
  }

  const std::vector<ProcessDefinitions>& processes_;
  RunDefinitions run_;
  std::map<std::string, std::uint32_t> function_numbers_, phase_numbers_;
  std::map<std::pair<std::string, bool>, std::uint32_t> class_numbers_;
};

}  // namespace

RunDefinitions bring_together(const std::vector<ProcessDefinitions>& processes) {
  return Together(processes).run();
}

}  // namespace fathom::trace
