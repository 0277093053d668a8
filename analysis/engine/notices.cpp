// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/notices.h"

#include <algorithm>

#include "analysis/engine/call_wait.h"
#include "analysis/engine/joined_job.h"
#include "analysis/engine/parcels.h"

namespace fathom::analysis {

Notices::Notices(const JobFacts& facts, const std::vector<std::uint32_t>& own)
    : facts_(facts), channels_(facts.definitions.processes.size()) {
  for (const std::uint32_t process : own) channels_[process] = std::make_unique<Channels>();
}

void Notices::told(std::uint32_t process, const SentMessage& notice, Channels::Joined& joined) {
  const std::size_t from = joined.size();
  channels_[process]->send(notice.key, notice.end, joined);
  drop_unneeded(joined, from);
}

void Notices::heard(const HeardNotice& notice, Channels::Joined& joined) {
  const std::size_t from = joined.size();
  channels_[notice.end.process]->receive_now(notice.key, notice.end, joined);
  drop_unneeded(joined, from);
}

void Notices::loss(const SourceLoss& loss, Channels::Joined& joined) {
  const std::size_t from = joined.size();
  // Every process may have heard from the one that lost records, so its channels to all of them are cut.
  for (const auto& channels : channels_) {
    if (channels) channels->loss_at_source(loss.source, loss.time_ns, joined);
  }
  const std::uint32_t process = facts_.process_of(loss.source);
  if (process != kNobody && channels_[process]) channels_[process]->loss_here(loss.time_ns, joined);
  drop_unneeded(joined, from);
}

void Notices::drop_unneeded(Channels::Joined& joined, std::size_t from) const {
  const auto unneeded = [this](const trace::JoinedEnds& ends) {
    return facts_.surely_before(ends.received.process, ends.received.time_ns, ends.sent.process,
                                ends.sent.begin_ns);
  };
  joined.erase(
      std::remove_if(joined.begin() + static_cast<std::ptrdiff_t>(from), joined.end(), unneeded),
      joined.end());
}

namespace {

struct Delayed {
  std::uint32_t process = 0, step = 0;
  std::uint64_t until_ns = 0;
};

void delay(StepFile& steps, const Delayed& delayed) {
  Step& heard = steps.at(delayed.process, delayed.step);
  heard.end_ns = std::max(heard.end_ns, delayed.until_ns);
}

}  // namespace

void delay_notices(JoinedJob& job, const std::vector<AccessEnd>& access_ends) {
  StepFile& steps = job.steps();
  Parcels parcels(job.transport().size());
  for (const auto& [process, call] : access_ends) {
    CallWait seen(job, process, call);
    std::vector<Delayed> told;
    const Step& waited = steps.at(process, call);
    for (std::uint32_t number = call + 1; number < steps.size(process); ++number) {
      const Step& step = steps.at(process, number);
      if (step.time_ns > waited.end_ns) break;
      if (step.kind == StepKind::kCall || step.call != call) continue;
      seen.add(number, step);
      if (step.kind == StepKind::kSend && step.has(kNotice) && step.has(kJoined))
        told.push_back({step.partner, step.partner_step, 0});
    }
    const Wait wait = seen.wait();
    if (wait.ns == 0) continue;
    for (Delayed& delayed : told) {
      delayed.until_ns = waited.time_ns + wait.ns;
      if (job.is_own(delayed.process)) {
        delay(steps, delayed);
      } else {
        parcels.send(job.mapping()[delayed.process], 0, delayed);
      }
    }
  }
  for (const Transport::Bytes& bytes : job.transport().exchange(parcels.take())) {
    for (Received received(bytes); received.more();) {
      received.kind();
      delay(steps, received.take<Delayed>());
    }
  }
}

}  // namespace fathom::analysis
