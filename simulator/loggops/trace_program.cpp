// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/loggops/trace_program.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "profile/pair_sums.h"
#include "simulator/loggops/goal_reader.h"
#include "trace/join/operations.h"
#include "trace/reader.h"

namespace fathom::simulator {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Place;

// Adds one rank's operations. Label n is operation n - 1.
class ProgramSink : public trace::OperationSink {
 public:
  ProgramSink(Program& program, std::uint32_t rank) : program_(program), rank_(rank) {}

  Label compute(const Place& place, std::uint64_t ns) override {
    return program_.compute(rank_, static_cast<double>(ns), processor(place)) + Label{1};
  }

  Label transfer(const Place& place, const Event& event) override {
    const auto peer = static_cast<std::uint32_t>(event.peer);
    const auto bytes = static_cast<double>(event.bytes);
    const std::int32_t tag = event.tag < 0 ? event.tag - 1 : event.tag;  // -1 would mean any tag
    const auto communicator = static_cast<std::uint32_t>(event.communicator);
    const OperationId operation =
        event.kind == EventKind::kMessageSent
            ? program_.send(rank_, peer, bytes, tag, communicator, processor(place))
            : program_.receive(rank_, peer, bytes, tag, communicator, processor(place));
    return operation + Label{1};
  }

  void require(Label label, Label earlier) override {
    program_.require(static_cast<OperationId>(label - 1), static_cast<OperationId>(earlier - 1),
                     When::kEnded);
  }

  void require_started(Label label, Label earlier) override {
    program_.require(static_cast<OperationId>(label - 1), static_cast<OperationId>(earlier - 1),
                     When::kStarted);
  }

 private:
  static std::uint8_t processor(const Place& place) {
    return static_cast<std::uint8_t>(std::min<std::uint32_t>(place.thread, 255));
  }

  Program& program_;
  std::uint32_t rank_;
};

base::Result<std::uint32_t> rank_count(const trace::Definitions& all, const std::string& run) {
  std::int64_t ranks = 0;
  for (const trace::Process& process : all.processes) {
    ranks = std::max<std::int64_t>(ranks, process.rank + 1);
  }
  if (ranks > 0 && ranks <= kMostRanks) return static_cast<std::uint32_t>(ranks);
  if (ranks <= 0) return base::Error{run + ": the trace has no process"};
  return base::Error{run + ": the trace has a rank " + std::to_string(ranks - 1) + "; at most " +
                     std::to_string(kMostRanks) + " ranks can be simulated"};
}

base::Result<TracedProgram> from_trace(const std::string& run) {
  const auto trace = trace::Trace::open(run);
  if (!trace) return trace.error();
  const trace::Definitions& all = trace->definitions();
  const auto ranks = rank_count(all, run);
  if (!ranks) return ranks.error();
  TracedProgram result{Program(*ranks), {}};
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    ProgramSink sink(result.program, static_cast<std::uint32_t>(all.processes[process].rank));
    trace::OperationVisitor visitor(sink, all, [&](const trace::Message& message) {
      return static_cast<std::uint64_t>(message.event.peer) < *ranks;
    });
    const trace::WalkSummary walked = trace::walk_process(*trace, process, visitor);
    result.notes.insert(result.notes.end(), walked.problems.begin(), walked.problems.end());
  }
  return result;
}

}  // namespace

base::Result<TracedProgram> load_program(const std::string& run) {
  if (std::filesystem::path(run).extension() != ".goal") return from_trace(run);
  auto program = read_goal_file(run);
  if (!program) return program.error();
  return TracedProgram{std::move(*program), {}};
}

Job job_from_program(const Program& program, std::string name) {
  profile::PairSums sums;
  for (OperationId id = 0; id < program.size(); ++id) {
    const Operation& operation = program[id];
    if (operation.kind != OperationKind::kSend) continue;
    const std::uint32_t to = program.channels()[operation.channel].rank;
    sums.add(
        profile::PairCount{operation.rank, to, static_cast<std::uint64_t>(operation.amount), 1});
  }
  return {std::move(name), program.rank_count(), sums.take()};
}

}  // namespace fathom::simulator
