// SPDX-License-Identifier: BSD-3-Clause
// A JobState as JSON (schema "fathom-live/1", docs/live.md), written and read: what `fathom top
// --json` prints, `fathom top FILE.json` shows again.
//
// A peer, tag or root is a number, "any" (kAnyone) or "none" (kNobody), and left out if unknown.
// Members of a later version are ignored; missing ones keep the values of a new JobState.
#pragma once

#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "base/result.h"
#include "live/job_state.h"

namespace fathom::live {

inline constexpr char kLiveSchema[] = "fathom-live/1";

// The members of the state, into an object that is open, so that others can follow.
void write_members(const JobState& state, base::JsonWriter& json);

std::string json_of(const JobState& state);

// The Error is one sentence: there is no such file, it is not JSON, not of this schema, or a value
// is out of its range.
base::Result<JobState> read_job_state(const std::string& path);

// The same of a text; `name` stands for it in errors.
base::Result<JobState> parse_job_state(std::string_view text, const std::string& name);

}  // namespace fathom::live
