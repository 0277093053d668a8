// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/ideal_network.h"

#include <algorithm>

#include "analysis/engine/causal_walk.h"

namespace fathom::analysis {
namespace {

class IdealNetwork {
 public:
  struct Payload {
    std::uint64_t time_ns = 0;
  };

  explicit IdealNetwork(const JoinedJob& job) : job_(job), lanes_(job.mapping().size()) {
    for (const std::uint32_t process : job.own()) {
      Lane& lane = lanes_[process];
      lane.left_ns = lane.ideal_ns = lane.time.begin_ns =
          job.definitions().processes[process].first_ns;
      lane.time.process = process;
    }
    for (const mpi::Meaning& meaning : job.facts().functions) {
      kinds_.push_back(meaning.begins_job ? Kind::kInit
                       : meaning.ends_job ? Kind::kFinalize
                                          : Kind::kOther);
    }
  }

  void step(std::uint32_t process, std::uint32_t, const Step& step) {
    Lane& lane = lanes_[process];
    if (step.kind != StepKind::kCall || step.thread != 0 || step.has(kNested) || lane.ended) return;
    const Kind kind = kinds_[step.number];
    if (kind == Kind::kInit) {
      // The efficiencies begin when MPI_Init is left, so what was counted before is discarded.
      lane.time.begin_ns = lane.ideal_ns = step.end_ns;
      lane.time.useful_ns = 0;
    } else {
      compute_until(lane, step.time_ns);
      if (kind == Kind::kFinalize) end(lane, step.time_ns);
    }
    lane.left_ns = std::max(lane.left_ns, step.end_ns);
  }
  Payload give(std::uint32_t process, const Step&) { return {lanes_[process].ideal_ns}; }
  void take(std::uint32_t process, const Step& part, const Payload& payload) {
    Lane& lane = lanes_[process];
    if (part.kind == StepKind::kCollective && part.communicator == job_.facts().job()) return;
    if (!lane.ended) lane.ideal_ns = std::max(lane.ideal_ns, payload.time_ns);
  }
  static void merge(Payload& into, const Payload& other) {
    into.time_ns = std::max(into.time_ns, other.time_ns);
  }

  std::vector<IdealTime> times() {
    std::vector<IdealTime> times;
    for (const std::uint32_t process : job_.own()) {
      Lane& lane = lanes_[process];
      const std::uint64_t last_ns = job_.definitions().processes[process].last_ns;
      if (!lane.ended) {
        compute_until(lane, last_ns);
        end(lane, std::max(last_ns, lane.left_ns));
      }
      times.push_back(lane.time);
    }
    return times;
  }

 private:
  enum class Kind : std::uint8_t { kOther, kInit, kFinalize };
  struct Lane {
    IdealTime time;
    std::uint64_t left_ns = 0;   // in the run: the end of the last call
    std::uint64_t ideal_ns = 0;  // current time on the ideal network
    bool ended = false;
  };

  static void compute_until(Lane& lane, std::uint64_t time_ns) {
    const std::uint64_t ns = time_ns > lane.left_ns ? time_ns - lane.left_ns : 0;
    lane.ideal_ns += ns;
    lane.time.useful_ns += ns;
  }
  static void end(Lane& lane, std::uint64_t time_ns) {
    lane.time.end_ns = time_ns;
    lane.time.ideal_end_ns = lane.ideal_ns;
    lane.ended = true;
  }

  const JoinedJob& job_;
  std::vector<Lane> lanes_;  // by process
  std::vector<Kind> kinds_;  // by function
};

}  // namespace

IdealRun ideal_run(JoinedJob& job) {
  IdealNetwork network(job);
  IdealRun run;
  run.released = walk_causally(job, network, Direction::kForward);
  run.processes = gathered(job.transport(), network.times());
  std::sort(run.processes.begin(), run.processes.end(),
            [](const IdealTime& a, const IdealTime& b) { return a.process < b.process; });
  return run;
}

}  // namespace fathom::analysis
