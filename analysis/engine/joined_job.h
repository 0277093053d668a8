// SPDX-License-Identifier: BSD-3-Clause
// The first pass over a trace: the steps of every process, with messages and collectives joined.
//
// The pass reads all processes one window of time after the other, so that few messages are in
// flight at once. Within a window, processes are read in any order, because the result does not
// depend on it (channels.h, collectives.h). With several analysis processes, each records the
// processes it owns and sends the rest to their owners, one batch per window; this exchange overlaps
// with the work on the next window.
//
// Recorded times are not changed here. Code that uses them makes them consistent: a wait for a
// message ends when the message arrives, whatever the other clock says. ProcessSummary
// counts the messages and collectives whose clocks contradict causality.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/engine/distribution.h"
#include "analysis/engine/job_facts.h"
#include "analysis/engine/step_file.h"
#include "analysis/engine/step_recorder.h"
#include "analysis/engine/transport.h"
#include "base/result.h"
#include "trace/reader.h"

namespace fathom::analysis {

// Receives the events themselves during the pass, for analyses that need no joining.
class EventConsumer {
 public:
  virtual ~EventConsumer() = default;
  // The next events of a process, in order of time. Batches of different processes alternate.
  virtual void events(std::uint32_t process, std::span<const trace::Event> events) = 0;
  virtual void end(std::uint32_t /*process*/) {}
};

struct JoinOptions {
  bool hidden_messages = false;
  bool steps = true;  // false: only feed the consumers
  std::vector<EventConsumer*> consumers;
  MappingStrategy mapping = neighbours_together;
};

struct ProcessSummary {
  std::uint64_t events = 0;
  std::uint64_t losses = 0;        // how often records were lost or recording paused
  std::uint64_t lost_records = 0;  // those whose number is known
  std::uint64_t unmatched_receives = 0;
  std::uint64_t unmatched_from = 0;        // sends to this process without a receive
  std::uint64_t worst_clock_error_ns = 0;  // the largest of the following
  std::uint64_t clock_errors = 0;          // messages that arrived before they were sent
  std::uint64_t early_collectives = 0;     // left before those entered whose data it needed
  // Calls at windows and files that were made before its trace began, and persistent collectives.
  std::uint64_t of_unknown_objects = 0;
};

// Joined totals over all processes, the same at every analysis process.
struct JoinSummary {
  std::vector<ProcessSummary> processes;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;         // joined ones
  std::uint64_t collectives = 0;      // parts of joined collectives
  std::uint64_t sends_to_nobody = 0;  // to ranks that left no trace
  std::uint64_t left_out_parts = 0;   // parts of collectives that lack a member
  // By own process: damage found in its trace.
  std::map<std::uint32_t, std::vector<std::string>> problems;
};

// Steps [begin, end) of a process that hold all about its calls which touch a window of time. Those that end
// by `known_until_ns` are complete in it.
struct StepRange {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t known_until_ns = 0;
};

class JoinedJob {
 public:
  // Both must outlive this.
  JoinedJob(const trace::Trace& trace, Transport& transport);

  const trace::Trace& trace() const { return trace_; }
  const trace::Definitions& definitions() const { return trace_.definitions(); }
  const JobFacts& facts() const { return facts_; }
  Transport& transport() const { return transport_; }

  const Mapping& mapping() const { return mapping_; }
  bool is_own(std::uint32_t process) const { return mapping_[process] == transport_.rank(); }
  const std::vector<std::uint32_t>& own() const { return own_; }  // ascending

  StepFile& steps() const { return *steps_; }  // of own processes
  std::uint64_t site_address(std::uint32_t process, const Step& call) const {
    return site_address(process, call.partner_step);
  }
  // The same by the number that a step has; kNobody: 0.
  std::uint64_t site_address(std::uint32_t process, std::uint32_t number) const {
    return number == kNobody ? 0 : sites_[process][number];
  }

  // All call sites of a process, as addresses; empty for those of others.
  const std::vector<std::uint64_t>& site_addresses(std::uint32_t process) const {
    return sites_[process];
  }

  // Needs an own process. If it has several threads, all of its steps: what is open on each is not known.
  StepRange steps_in(std::uint32_t process, std::uint64_t from_ns, std::uint64_t to_ns) const;

  const JoinSummary& summary() const { return summary_; }
  // How often records of any process were lost or recording paused.
  std::uint64_t gaps() const;

  // Uncertainty of time differences between two processes: the measured uncertainty of their hosts'
  // clocks or, if larger, the worst contradiction that messages and collectives show; 0 on one host.
  std::uint64_t uncertainty_ns(std::uint32_t a, std::uint32_t b) const;

 private:
  friend class Joiner;
  friend class JoinedParts;  // of join_in_threads()

  const trace::Trace& trace_;
  Transport& transport_;
  JobFacts facts_;
  Mapping mapping_;
  std::vector<std::uint32_t> own_;
  std::vector<std::uint32_t> hosts_;  // by process: number of its host
  std::unique_ptr<StepFile> steps_;
  std::vector<std::vector<std::uint64_t>> sites_;  // by process; empty for those of others
  JoinSummary summary_;
};

// Every analysis process returns an Error if one of them has no room for the steps, or if the mapping
// leaves out a process or differs between analysis processes.
base::Result<std::unique_ptr<JoinedJob>> join_job(const trace::Trace& trace, Transport& transport,
                                                  const JoinOptions& options);

// The same for an analysis that is alone, joined by several threads of it at once, which share the processes.
// Whatever their number, the job is the same. `transport`: a SingleProcess. No consumers.
base::Result<std::unique_ptr<JoinedJob>> join_in_threads(const trace::Trace& trace,
                                                         Transport& transport,
                                                         const JoinOptions& options,
                                                         std::size_t threads);

// How many of this machine's processors are worth using for it. 0 or 1: one.
std::size_t joining_threads(const trace::Trace& trace);

}  // namespace fathom::analysis
