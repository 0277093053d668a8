// SPDX-License-Identifier: BSD-3-Clause
#include "python/joined_columns.h"

namespace fathom::python {

using analysis::Step;
using analysis::StepKind;

namespace {

void add(const analysis::JoinedJob& job, std::uint32_t process, std::uint32_t number,
         MessageColumns& columns) {
  const Step& step = job.steps().at(process, number);
  const auto rank_of = [&](std::uint32_t position) {
    return static_cast<std::int32_t>(job.definitions().processes[position].rank);
  };
  columns.sender.push_back(rank_of(step.partner));
  columns.receiver.push_back(rank_of(process));
  columns.tag.push_back(static_cast<std::int32_t>(step.number));
  columns.communicator.push_back(step.communicator);
  columns.send_entered_ns.push_back(static_cast<std::int64_t>(step.end_ns));
  columns.received_ns.push_back(static_cast<std::int64_t>(step.time_ns));
  const bool posted = step.posted != analysis::kNobody;
  columns.receive_posted_ns.push_back(
      posted ? static_cast<std::int64_t>(job.steps().at(process, step.posted).time_ns) : -1);
  columns.bytes.push_back(static_cast<std::int64_t>(step.bytes));
  columns.sender_step.push_back(step.partner_step);
  columns.receiver_step.push_back(number);
  columns.hidden.push_back(step.has(analysis::kHidden));
}

}  // namespace

MessageColumns messages_of(const analysis::JoinedJob& job) {
  MessageColumns columns;
  for (const std::uint32_t process : job.own()) {
    for (std::uint32_t number = 0; number < job.steps().size(process); ++number) {
      const Step& step = job.steps().at(process, number);
      if (step.kind == StepKind::kReceive && step.has(analysis::kJoined) &&
          !step.has(analysis::kNotice))
        add(job, process, number, columns);
    }
    job.steps().touched(job.steps().size(process));
  }
  return columns;
}

MomentColumns next_moments(analysis::CausalOrder& order, std::uint32_t wanted, std::size_t most) {
  MomentColumns columns;
  for (analysis::Visit visit; columns.step.size() < most && order.next(visit);) {
    if ((wanted >> static_cast<unsigned>(visit.moment) & 1u) == 0) continue;
    columns.moment.push_back(static_cast<std::uint8_t>(visit.moment));
    columns.process.push_back(visit.process);
    columns.step.push_back(visit.step);
    columns.time_ns.push_back(static_cast<std::int64_t>(visit.time_ns));
  }
  return columns;
}

}  // namespace fathom::python
