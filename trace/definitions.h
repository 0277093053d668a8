// SPDX-License-Identifier: BSD-3-Clause
// The meaning of the numbers in events, for a whole run, and what is known of each process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mpi/meaning.h"
#include "profile/profile.h"
#include "trace/format/format.h"
#include "trace/format/opening.h"

namespace fathom::trace {

using mpi::Group;

struct Function {
  std::string name;  // "MPI_Isend"
  Group group = Group::kOther;
  std::vector<Attribute> enter, leave;
};

struct CodeSegment {  // one mapped piece of a process's code, to resolve addresses
  std::uint64_t base = 0, size = 0, offset = 0;
  std::string build_id, path;
};

// What a call site is, where no mapped file says it: of an imported trace.
struct NamedSite {
  std::string function, file;  // empty if not known; of a stripped program `file` is "app+0x1234"
  int line = 0;
};

struct ClockSummary {
  std::string kind;  // "tsc", "monotonic"
  double ticks_per_ns = 1;
  std::uint64_t uncertainty_ns = 0;  // between this host and the reference; 0 on the same host
  // Of an import: the clock is not that of the other processes on this host, and its times were
  // shifted to agree with messages and collectives. Their uncertainty then counts on one host too.
  bool own = false;
  bool bounded = true;  // false: nothing says how far its times may be off
};

// What a process had done before the first record of its flight recorder: how many messages it had
// sent and received on each channel, how many operations of each communicator it had entered, and which
// messages probes had taken for it to receive (OpeningHeldRow).
struct Opening {
  struct Channel {
    std::int32_t communicator = 0, peer = 0, tag = 0;  // peer: world rank
    std::uint64_t sent = 0, received = 0;
  };
  struct Sequence {
    std::int32_t communicator = 0;  // negative: the whole job
    std::uint64_t operations = 0;
  };
  struct Held {
    std::int32_t communicator = 0, peer = 0, tag = 0;  // as in events
    std::uint32_t thread = 0;                          // of an open call
    HeldState state = HeldState::kHeld;
    std::uint64_t message = 0;
  };
  std::vector<Channel> channels;
  std::vector<Sequence> sequences;
  std::vector<Held> held;  // in the order in which they were taken
};

struct Process {
  std::int64_t rank = 0;
  std::string host;
  std::int64_t pid = 0;
  std::string affinity;  // list of processors, as in /sys
  std::int32_t socket = -1, numa_node = -1;
  std::vector<std::string> threads;  // by number
  std::vector<CodeSegment> code;
  std::map<std::uint64_t, NamedSite> sites;  // by address
  ClockSummary clock;
  std::uint64_t records = 0;  // in whole frames and chunks
  std::uint64_t lost_records = 0;
  // For a flight recorder: how many records it dropped before the first one. Absent: the trace was
  // recorded from the start.
  std::optional<std::uint64_t> dropped_records;
  // Absent: nothing was dropped, or what was is not known exactly, and the trace begins with kLost.
  std::optional<Opening> opening;
  std::uint64_t first_ns = 0, last_ns = 0;
  std::uint64_t file_bytes = 0;
  bool complete = false;              // the index is there: the process reached MPI_Finalize
  std::vector<std::string> problems;  // sentences: what is damaged or missing, and where
};

struct Definitions {
  std::int64_t world_size = 0;
  profile::Application application;
  std::vector<Function> functions;
  std::vector<profile::Communicator> communicators;  // by number
  std::vector<std::string> classes;                  // of messages: as in the profile
  std::vector<bool> class_hidden;
  std::vector<std::string> phases;
  std::vector<Process> processes;                 // by position; ranks may be missing
  std::uint64_t epoch_unix_ns = 0;                // the moment of time_ns 0
  std::string level;                              // "calls", "transfers"
  std::vector<std::string> chosen_communicators;  // patterns: only these were recorded; empty: all
  std::vector<std::string>
      selection;       // what else was selected: "functions MPI_Send,MPI_I*", "ranks 0-3",
                       // "sample 10", "from 0.5 s" (a slice); empty: all
  std::string source;  // "peruse", "pml"; imported traces name other tools
};

}  // namespace fathom::trace
