// SPDX-License-Identifier: BSD-3-Clause
// The aggregate model: what one job sent, by pair of ranks, class, communicator and phase, and where
// its time in MPI went.
//
// A message is counted when a receive matches it, with its true length and source; messages that
// were sent and never received are kept apart, in Coverage::unreceived. One-sided operations whose
// data do not travel as messages are counted as the program posted them, one count each. Ranks are
// world ranks 0..world_size-1; processes of other worlds (spawned, connected) have numbers from
// world_size up and one entry each in `ranks`, so that no two processes ever share a number. Sizes
// and byte counts have 64 bits; times are nanoseconds since the epoch or seconds, as their names
// say.
//
// Memory grows with the pairs that communicated or waited, never with world_size squared, and with
// the call sites times the ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/trace_loss.h"

namespace fathom::profile {

// The schema that writer.h writes and reader.h accepts; docs/profile.schema.json describes it.
inline constexpr char kSchema[] = "fathom-profile/1";

// The classes that are not MPI collectives. A collective's class is the name of the MPI function.
inline constexpr char kPointToPoint[] = "point-to-point";
inline constexpr char kOneSided[] = "one-sided";  // hidden: messages; else operations, as posted
inline constexpr char kIo[] = "io";
inline constexpr char kLibrary[] = "library";

inline constexpr std::int64_t kNone = -1;  // "no such communicator", "no such rank"

struct Application {
  std::string executable;
  std::vector<std::string> arguments;
  std::int64_t started_unix_ns = 0;
  double seconds = 0;  // from MPI_Init to MPI_Finalize, on the rank that took longest
};

struct MpiLibrary {
  std::string library;  // "Open MPI"
  std::string version;  // "4.1.4"
  std::string pml;      // the point-to-point messaging layer in use: "ob1", "ucx", "cm"
};

struct Rank {
  std::int64_t rank = 0;
  std::string host;
  std::int64_t pid = 0;
  double seconds = 0;
  // Set only for a process of another world: that world's name and the rank there.
  std::string world;
  std::int64_t rank_in_world = kNone;
  std::uint64_t peak_memory_bytes = 0;  // the most that was resident; 0: not known
  // How long its threads, together, could have run and waited for a processor; 0: not known.
  double processor_wait_seconds = 0;
  bool reported =
      true;  // false: left no counts (killed); only its peers' counts of its messages are known
};

// The name of a host for people; a process that left no definitions has an empty one.
inline std::string shown_host(const std::string& host) {
  return host.empty() ? "unknown host" : host;
}

struct Communicator {
  std::int64_t id = 0;
  std::string name;     // MPI_Comm_get_name, empty if none was given
  std::string made_by;  // "MPI_Comm_split"; "predefined"; the call inside which the library made it
  std::int64_t parent = kNone;
  bool internal = false;                  // made inside the MPI library, never seen by the program
  std::vector<std::int64_t> world_ranks;  // by communicator rank
  std::vector<std::int64_t> remote_world_ranks;  // the remote group of an intercommunicator
  std::uint64_t instances = 1;  // how many such communicators existed one after the other
};

// Counts of one (class, hidden, communicator, phase): parallel columns, one row for each pair that
// communicated. Several blocks may have the same key; each pair is then in only one of them.
struct Traffic {
  std::string class_name;
  bool hidden =
      false;  // sent by the MPI library on the program's behalf, not by a send of the program
  std::int64_t communicator = 0;
  std::string phase;  // empty outside every named phase
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> destination;
  std::vector<std::uint64_t> bytes;
  std::vector<std::uint64_t> messages;
};

// Message lengths of one class. Exact while a process meets few distinct sizes in that class; sizes
// first met later fall into bins [bin_low, 2 * bin_low), bin_low a power of two.
struct MessageSizes {
  std::string class_name;
  bool hidden = false;
  std::vector<std::uint64_t> size;      // bytes, ascending
  std::vector<std::uint64_t> messages;  // by size
  std::vector<std::uint64_t> bin_low;
  std::vector<std::uint64_t> bin_messages;
};

// A place in the program that calls MPI.
struct CallSite {
  std::int64_t id = 0;
  std::string module;        // path of the file that holds the code; empty: none did
  std::string build_id;      // of that file; empty if it has none
  std::uint64_t offset = 0;  // of the call, in the module's own address space
  // From the module's debug information; empty and 0 until somebody has looked it up.
  std::string function, file;
  std::int64_t line = 0;
};

// The program's calls of one function from one site, on one communicator and in one phase:
// parallel columns, one row for each rank that made any. A call inside another is part of that one.
struct CallTimes {
  std::string function;  // "MPI_Send"
  std::int64_t site = 0;
  std::int64_t communicator = kNone;  // kNone: the function takes none
  std::string phase;                  // empty outside every named phase
  std::vector<std::int64_t> rank;
  std::vector<std::uint64_t> calls;
  std::vector<std::uint64_t> total_ns, shortest_ns, longest_ns;
  // From the arguments: what is sent, read, written, or at most received; of a collective, what the
  // process contributes.
  std::vector<std::uint64_t> bytes;
  // How many of the calls have an estimated time (tests in polling loops); empty if none has.
  std::vector<std::uint64_t> estimated;
};

// How long the calls of one function from one site took, over all ranks: calls[i] of them took
// [low_ns[i], 2 * low_ns[i]).
struct CallDurations {
  std::string function;
  std::int64_t site = 0;
  std::vector<std::uint64_t> low_ns;  // powers of two, ascending; 1 includes shorter calls
  std::vector<std::uint64_t> calls;
};

// How the program's calls of one function from one site waited for other processes, in one way, on
// one communicator and in one phase: parallel columns, one row for each pair. Blocks with many
// pairs are split; each pair is then in only one of them.
struct CallWaits {
  std::string kind;      // "late-sender": a name of mpi/wait_kind.h
  std::string function;  // "MPI_Wait"
  std::int64_t site = 0;
  std::int64_t communicator = kNone;
  std::string phase;
  std::vector<std::int64_t> rank, awaited;  // who waited, for whom
  std::vector<std::uint64_t> waits;         // how many calls did
  std::vector<std::uint64_t> total_ns, longest_ns;
};

// What a critical path spent in the calls of one function from one site, on one communicator and in
// one phase, or outside MPI before them: parallel columns, one row for each rank.
struct PathPart {
  std::string function;
  std::int64_t site = 0;
  std::int64_t communicator = kNone;
  std::string phase;
  bool program = false;  // outside MPI, before the calls
  std::vector<std::int64_t> rank;
  std::vector<std::uint64_t> stretches, total_ns;
  // As in CallTimes; 0 outside MPI. A stretch that is partly on the path counts in part. Empty in a
  // profile that does not say.
  std::vector<std::uint64_t> calls, bytes;
};

// What the calls of one function on one communicator came to inside a window, on the thread of each
// rank that called MPI_Init: parallel columns.
struct WindowCalls {
  std::string function;
  std::int64_t communicator = kNone;
  std::vector<std::int64_t> rank;
  std::vector<std::uint64_t> calls, total_ns, waiting_ns, bytes;
};

// How long each rank was inside a window: parallel columns.
struct WindowRanks {
  std::vector<std::int64_t> rank;
  std::vector<std::uint64_t> total_ns;
};

// The critical path through a window of the run: which rank's doings its length consists of.
struct CriticalPath {
  std::string window;  // as the program names it; empty: the whole run
  std::uint64_t elapsed_ns = 0;
  std::uint64_t jumps = 0;     // how often it goes on to another rank
  std::uint64_t error_ns = 0;  // so much of it may be waiting, in calls that were left out
  std::vector<PathPart> parts;
  // For a window that the program names. What precedes is summed over all times it was opened.
  std::uint64_t openings = 1;
  WindowRanks ranks;
  std::vector<WindowCalls> calls;
};

struct Totals {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::string witness;  // what counted: "pml", "peruse", "receive requests"; empty: nothing did
};

struct PairCount {
  std::int64_t source = 0;
  std::int64_t destination = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
};

// A pair on which the two witnesses disagree, even counting messages still waiting at the receiver.
struct PairDifference {
  std::int64_t source = 0;
  std::int64_t destination = 0;
  std::uint64_t sent_bytes = 0, sent_messages = 0;
  std::uint64_t received_bytes = 0, received_messages = 0;
};

struct NotVisible {
  std::int64_t communicator = kNone;  // kNone: not tied to a communicator
  std::string function;               // "MPI_Bcast", "MPI_Put"
  std::string module;                 // "coll/sm", "osc/rdma"
  std::uint64_t calls = 0;            // how often it was called, over all ranks
  std::string reason;
};

struct StepDown {
  std::string source;  // the source that was given up: "peruse"
  std::string reason;  // one sentence
};

// What the waits leave out. For a run: the largest threshold of a process, and sums over processes.
struct WaitCoverage {
  std::uint64_t threshold_ns = 0;  // shorter waits
  std::uint64_t left_out = 0, left_out_ns = 0;
  // Waits of which the peer's part was no longer known.
  std::uint64_t unresolved = 0, unresolved_ns = 0;
};

struct Coverage {
  // "exact": both witnesses agree on every pair. "one-witness": only one side could be counted.
  // "differs": see differences. "incomplete": ranks are missing, counts were lost, or
  // messages were exchanged while nothing was counted.
  std::string verdict;
  Totals sent;
  Totals received;
  Totals unreceived;  // still waiting at their receivers: sent and never received
  std::vector<PairCount> unreceived_pairs;
  std::vector<PairDifference> differences;
  std::vector<NotVisible> not_visible;
  std::vector<StepDown> steps_down;
  std::uint64_t lost_messages = 0;    // uncounted because no memory was left
  std::uint64_t untimed_calls = 0;    // the same for calls
  std::optional<WaitCoverage> waits;  // nothing: nobody looked for waits
  std::string waits_unknown;          // why not; empty: not known either
  std::vector<TraceLoss> trace_lost;  // of the run's trace, where it has one
  std::string cut_short;              // why MPI_Finalize was not reached; empty: it was
  std::vector<std::string> notes;     // further sentences for the report
};

// An MPI_T performance variable that the user asked for, at MPI_Finalize.
struct PerformanceVariable {
  std::string name;
  std::string description;
  std::string bound_to;  // "communicator 0", or empty
  std::vector<std::int64_t> rank;
  std::vector<std::vector<double>> values;  // by position in `rank`; most variables have one value
};

// Everything except the parts that grow with the pairs that communicated, or with the ranks times
// the call sites.
struct Header {
  std::int64_t world_size = 0;
  Application application;
  MpiLibrary mpi;
  std::string
      source;  // the source that filled `traffic`: "peruse", "pml", "mpi_t"; importers name theirs
  std::vector<Rank> ranks;
  std::vector<Communicator> communicators;
  std::vector<PerformanceVariable> performance_variables;
  std::vector<CallSite> call_sites;
  std::vector<CallDurations> call_durations;
  Coverage coverage;
};

struct Profile : Header {
  std::vector<CallTimes> calls;    // empty if calls were not timed
  std::vector<CallWaits> waits;    // sorted by their members, in order
  std::vector<CriticalPath> path;  // by window; empty if not computed
  std::vector<Traffic> traffic;
  std::vector<MessageSizes> message_sizes;
};

}  // namespace fathom::profile
