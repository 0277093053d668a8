// SPDX-License-Identifier: BSD-3-Clause
// The first pass over a trace: the steps of every process, with messages and collectives joined.
//
// Processes are gone through in windows of time, so that what is under way stays little; within a
// window each goes on by itself, for the result does not depend on the order (channels.h,
// collectives.h). With several analysis processes each makes the steps of its own ones, and what
// concerns others goes to them in batches, one exchange a window, which overlaps with the work on
// the next.
//
// Times are left as they are, and made consistent where they are used: a wait for a message ends
// when the message arrives, whatever the other clock says. How much clocks contradict causality is
// in clock_errors.
#pragma once

#include <cstdint>
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

// Wants the events themselves on the way: what needs no joining.
class EventConsumer {
 public:
  virtual ~EventConsumer() = default;
  // The next events of a process in order of time; all calls of one process come in order.
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
  std::uint64_t losses = 0;        // times that records were lost or recording paused
  std::uint64_t lost_records = 0;  // as far as their number is known
  std::uint64_t unmatched_receives = 0;
  std::uint64_t unmatched_from = 0;        // sends to this process without a receive
  std::uint64_t worst_clock_error_ns = 0;  // how much before it was sent a message arrived here
  std::uint64_t clock_errors = 0;          // messages that did
};

// Joined totals over all processes, the same at every analysis process.
struct JoinSummary {
  std::vector<ProcessSummary> processes;
  std::uint64_t events = 0, messages = 0,
                collectives = 0;      // joined messages; parts of joined collectives
  std::uint64_t sends_to_nobody = 0;  // to ranks that left no trace
  std::uint64_t left_out_parts = 0;   // of collectives without all members
  std::vector<std::string> problems;  // of own processes: damage met on the way
};

class JoinedJob {
 public:
  // Both outlive this.
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
    return call.partner_step == kNobody ? 0 : sites_[process][call.partner_step];
  }

  const JoinSummary& summary() const { return summary_; }

  // Uncertainty of the time between two processes: that of their hosts' clocks as measured, or by
  // how much messages contradict it; 0 on one host.
  std::uint64_t uncertainty_ns(std::uint32_t a, std::uint32_t b) const;

 private:
  friend class Joiner;

  const trace::Trace& trace_;
  Transport& transport_;
  JobFacts facts_;
  Mapping mapping_;
  std::vector<std::uint32_t> own_;
  std::vector<std::uint32_t> hosts_;  // by process: number of its host
  std::unique_ptr<StepFile> steps_;
  std::vector<std::vector<std::uint64_t>> sites_;  // by process, of own ones
  JoinSummary summary_;
};

// An error where there is no room for the steps, or the mapping leaves out a process or is not the
// same at every analysis process; at all of them.
base::Result<std::unique_ptr<JoinedJob>> join_job(const trace::Trace& trace, Transport& transport,
                                                  const JoinOptions& options);

}  // namespace fathom::analysis
