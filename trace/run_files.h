// SPDX-License-Identifier: BSD-3-Clause
// The files of a run's trace, before events are read: which process each belongs to, and what it
// holds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "trace/format/frames.h"
#include "trace/process_definitions.h"
#include "trace/thread_stream.h"

namespace fathom::trace {

// One process: its .trace file, its .live file, or both.
struct ProcessTrace {
  std::uint32_t job = 0, rank = 0;
  std::optional<base::MappedFile> trace, live;
  std::map<std::uint32_t, std::vector<Piece>> threads;  // by number; by sequence, without repeats
  ProcessDefinitions definitions;  // with problems, records, complete, file_bytes

  ProcessFiles files() const { return {trace ? &*trace : nullptr, live ? &*live : nullptr}; }
};

// The processes of one job, sorted by rank. `folder` is RUN or RUN/trace. An Error if nothing there
// can be read.
base::Result<std::vector<ProcessTrace>> open_run(const std::string& folder);

}  // namespace fathom::trace
