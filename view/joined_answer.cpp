// SPDX-License-Identifier: BSD-3-Clause
#include "view/joined_answer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/scope/trace_span.h"
#include "view/pyramid/pyramid.h"

namespace fathom::view {

Joined joined_for(Session& session, const Query& query) {
  Joined joined;
  const auto decline = [&joined](Reply reply) {
    joined.otherwise = std::move(reply);
    return std::move(joined);
  };
  const auto run = run_of(session, query);
  if (!run) return decline(refuse(404, run.error().message));
  const auto scope = query.scope(session.tools);
  if (!scope) return decline(refuse(400, scope.error().message));
  const auto loaded = (*run)->loaded();
  if (!loaded) return decline(refuse(422, loaded.error().message));
  Pyramid* pyramid = (*run)->pyramid();
  if (pyramid == nullptr)
    return decline(refuse(422, "single calls need a trace; record one with fathom run --trace"));
  if (const std::string problem = pyramid->problem(); !problem.empty())
    return decline(refuse(422, problem));
  if (!pyramid->is_joined())
    return decline(not_ready("the joined trace", pyramid->progress().share));
  joined.lock = (*run)->lock_joined();
  if (!joined.lock.owns_lock()) return decline(busy());
  const auto job = (*loaded)->job->joined();
  if (!job) return decline(refuse(422, job.error().message));
  joined.run = *run;
  joined.job = *job;
  joined.scope = *scope;
  const analysis::TraceSpan span = analysis::recorded_span((*job)->definitions());
  joined.scope.to_ns = std::min(joined.scope.to_ns, span.to_ns + 1);
  return joined;
}

}  // namespace fathom::view
