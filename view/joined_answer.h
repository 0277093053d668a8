// SPDX-License-Identifier: BSD-3-Clause
// What answers from the joined trace have in common.
#pragma once

#include <mutex>

#include "analysis/engine/joined_job.h"
#include "view/session.h"

namespace fathom::view {

// The joined trace, held while this lives, and what of it is asked for; or the answer that says why not. The
// scope ends with the trace at the latest.
struct Joined {
  ViewedRun* run = nullptr;
  std::unique_lock<std::timed_mutex> lock;
  const analysis::JoinedJob* job = nullptr;
  analysis::Scope scope;
  Reply otherwise;
};

Joined joined_for(Session& session, const Query& query);

}  // namespace fathom::view
