// Wait states: which processes waited, in which call, for whom and how long, and who caused it in the end.
//
// Sources of the definitions: replay/call_wait.h, replay/collectives.h, replay/wait_steps.h.
#pragma once

#include "analysis/input.h"
#include "analysis/registry.h"
#include "analysis/replay/call_wait.h"

namespace fathom::analysis {

const char* name_of(WaitKind kind);  // "late-sender"

base::Result<Outcome> wait_states(const Input& input);

}  // namespace fathom::analysis
