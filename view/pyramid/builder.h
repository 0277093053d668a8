// SPDX-License-Identifier: BSD-3-Clause
// Builds the two layers of a run's pyramid.
//
// The first needs each process alone: what calls took, and the messages. The second needs the joined trace:
// waits, and the critical path. So a picture is there before the trace has been joined. All processors work on
// either, a process at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/engine/joined_job.h"
#include "base/result.h"
#include "mpi/meaning.h"
#include "trace/reader.h"
#include "view/pyramid/geometry.h"

namespace fathom::view {

// Columns of the first layer. Times are of the first thread; messages and bytes of all, hidden ones included.
enum CallColumn : std::uint32_t {
  kFunction,  // where it was longest, plus 1; 0: in no call
  kFunctionNs,
  kMpiNs,  // in outermost calls
  kPhase,  // the phase that was longest the innermost one, plus 1; 0: none
  kMessages,
  kBytesIn,
  kBytesOut,
  kCallColumns
};

// Columns of the second layer.
enum WaitColumn : std::uint32_t {
  kWaitFor,  // the process that it waited for longest, plus 1; 0: it did not wait
  kWaitNs,   // for all
  kPathNs,   // on the critical path
  kWaitColumns
};

// A stretch of one process's time: a named phase, in the first layer's tail, or a part of the critical path, in the
// second's, in order of time.
struct Stretch {
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint32_t process = 0;
  std::uint32_t number = 0;  // of the phase; of the function, ~0: outside MPI
};
inline constexpr std::size_t kMostStretches = 1 << 20;  // the rest is left out

// As a tail: u64 count, then packed columns.
std::string pack_stretches(const std::vector<Stretch>& stretches);
std::vector<Stretch> unpack_stretches(std::string_view tail);

// The whole run in kBins bins (or fewer): ns of outermost calls of all first threads, by group of functions.
inline constexpr std::size_t kStripGroups = static_cast<std::size_t>(mpi::Group::kEnvironment) + 1;
using GroupStrip = std::vector<std::vector<std::uint64_t>>;

// The first layer's tail.
struct CallTail {
  GroupStrip strip;
  std::vector<Stretch> phases;
};
CallTail unpack_call_tail(std::string_view tail, std::size_t bins);

struct BuildState {
  std::atomic<bool> stop = false;
  std::atomic<std::uint32_t> done = 0;  // processes of the present layer
  std::mutex writing;                   // held while a file is begun and not complete
};

// `threads` read at once. An Error if the file cannot be written, or the build was stopped.
base::Status build_call_layer(const trace::Trace& trace, const Geometry& geometry,
                              std::uint64_t identity, const std::string& path, unsigned threads,
                              BuildState& state);

// Holds the joined trace: nobody else may use it meanwhile.
base::Status build_wait_layer(analysis::JoinedJob& job, const Geometry& geometry,
                              std::uint64_t identity, const std::string& path, unsigned threads,
                              BuildState& state);

}  // namespace fathom::view
