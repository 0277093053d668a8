// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/job_end.h"

#include <algorithm>

#include "analysis/engine/parcels.h"

namespace fathom::analysis {
namespace {

struct Entry {
  std::uint32_t process = 0;
  bool finalized = false;
  std::uint64_t entered_ns = 0;
};

Entry entry_of(const JoinedJob& job, std::uint32_t process) {
  const StepFile& steps = job.steps();
  for (std::uint32_t number = steps.size(process); number-- > 0;) {
    const Step& step = steps.at(process, number);
    if (step.kind != StepKind::kCall || step.has(kNested)) continue;
    return {process, job.facts().functions[step.number].ends_job, step.time_ns};
  }
  return {process, false, 0};
}

}  // namespace

JobEnd job_end(JoinedJob& job) {
  const auto& processes = job.definitions().processes;
  Parcels parcels(job.transport().size());
  for (const std::uint32_t process : job.own()) {
    for (std::size_t to = 0; to < job.transport().size(); ++to)
      parcels.send(to, 0, entry_of(job, process));
  }
  JobEnd end;
  end.arrived_ns.resize(processes.size());
  bool all_finalized = true;
  for (const Transport::Bytes& bytes : job.transport().exchange(parcels.take())) {
    for (Received received(bytes); received.more();) {
      received.kind();
      const auto entry = received.take<Entry>();
      end.arrived_ns[entry.process] = entry.entered_ns;
      all_finalized = all_finalized && entry.finalized;
    }
  }
  if (!all_finalized) {
    for (std::size_t i = 0; i < processes.size(); ++i) end.arrived_ns[i] = processes[i].last_ns;
  }
  if (processes.empty()) return end;
  const auto last = std::max_element(end.arrived_ns.begin(), end.arrived_ns.end());
  end.process = static_cast<std::uint32_t>(last - end.arrived_ns.begin());
  end.time_ns = processes[end.process].last_ns;
  return end;
}

}  // namespace fathom::analysis
