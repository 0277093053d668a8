// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/time/counted_events.h"

#include "analysis/engine/lazy_job.h"

namespace fathom::analysis {

CountedEvents counted_events(const Input& input) {
  return {*input.trace, input.job->transport(), input.scope, input.job->programs()};
}

base::Status pass_over(const CountedEvents& events, EventConsumer& consumer) {
  JoinOptions options;
  options.steps = false;
  options.consumers = {&consumer};
  const auto job = join_job(events.trace, events.transport, options);
  if (!job) return job.error();
  return base::Done{};
}

}  // namespace fathom::analysis
