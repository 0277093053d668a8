// SPDX-License-Identifier: BSD-3-Clause
// The meaning of MPI's functions. Only this folder knows functions by name.
//
// functions.table has a row for each function, from which the rows of meanings are generated, so
// that a new function is one new row. All other code (trace, analyses, exporters, importers) calls
// find() once per function of a run and then compares enumerators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "function_ids.h"  // enum class FunctionId: kIsend for MPI_Isend, and so on

namespace fathom::mpi {

// The kind of a function. Traces store these by name, so existing names must keep their meaning.
enum class Group : std::uint8_t {
  kOther,
  kSend,
  kReceive,
  kSendReceive,
  kCompletion,
  kProbe,
  kCollective,
  kOneSided,
  kIo,
  kCommunicator,
  kEnvironment,
};

// The operation of a collective, the same for its blocking, non-blocking and persistent forms. Up
// to kScatterv in the order of Open MPI's tags (ompi/mca/coll/base/coll_tags.h).
enum class Collective : std::uint8_t {
  kNone,
  kAllgather,
  kAllgatherv,
  kAllreduce,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kBarrier,
  kBcast,
  kExscan,
  kGather,
  kGatherv,
  kReduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kScatter,
  kScatterv,
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
};

// Which members of a collective pass data to which, and so who can wait for whom.
enum class Flow : std::uint8_t {
  kNone,  // not a collective, or one whose members need not wait for each other
  kBarrier,
  kAllToAll,  // every member waits for the last to enter
  kFromRoot,  // broadcast, scatter: every member waits for the root
  kToRoot,    // reduce, gather: the root waits for the last of the others
  kPrefix,    // scan: rank r waits for the last of the lower ranks
};

// Which of its requests a call completes.
enum class Completes : std::uint8_t {
  kNothing,
  kAll,   // MPI_Wait, MPI_Waitall, MPI_Test, MPI_Testall
  kSome,  // those that are complete first: MPI_Waitany, MPI_Waitsome, MPI_Testany, MPI_Testsome
};

// Where a collective call has its place: the n-th call there of one member and the n-th of each
// other member are one operation.
enum class Sequence : std::uint8_t {
  kNone,
  kCommunicator,
  kWindow,
  kFile,
  kNewCommunicator,  // the communicator that the call makes: MPI_Intercomm_create
  kJob,              // all processes of the world: MPI_Init, MPI_Finalize
};

// What else a call does to requests.
enum class Requests : std::uint8_t { kNone, kMakes, kMakesAndStarts, kStarts, kFrees };

// What a call does to a window. kAtomic: accumulates, with or without fetching.
enum class WindowAccess : std::uint8_t { kNone, kCreate, kFree, kPut, kGet, kAtomic };

// What a call does in an epoch of a window in which only the members of a group take part (MPI 3.1,
// section 11.5.2). Each target posts and waits, each origin starts and completes.
enum class Epoch : std::uint8_t {
  kNone,
  kPost,
  kStart,     // may wait for the targets' posts
  kComplete,  // waits for them if the start did not
  kWait,      // waits for the origins to complete; a test that succeeds, too
};

// What a call does while a window is locked (MPI 3.1, section 11.5.3), at the target that it names or
// at all of them. The library may put a lock off until something needs it, so each of these calls may
// wait for it.
enum class LockStep : std::uint8_t {
  kNone,
  kLock,    // MPI_Win_lock, MPI_Win_lock_all
  kAccess,  // needs the lock, but may leave it to a later call: a put, a local flush
  kFlush,   // has the lock when it returns, if there was an access
  kUnlock,
};

// Which way a call's bytes move between memory and a file.
enum class FileAccess : std::uint8_t { kNone, kRead, kWrite };

constexpr Flow flow_of(Collective collective) {
  switch (collective) {
    case Collective::kBarrier: return Flow::kBarrier;
    case Collective::kBcast:
    case Collective::kScatter:
    case Collective::kScatterv: return Flow::kFromRoot;
    case Collective::kReduce:
    case Collective::kGather:
    case Collective::kGatherv: return Flow::kToRoot;
    case Collective::kScan:
    case Collective::kExscan: return Flow::kPrefix;
    case Collective::kAllgather:
    case Collective::kAllgatherv:
    case Collective::kAllreduce:
    case Collective::kAlltoall:
    case Collective::kAlltoallv:
    case Collective::kAlltoallw:
    case Collective::kReduceScatter:
    case Collective::kReduceScatterBlock: return Flow::kAllToAll;
    // In neighbourhood collectives a member waits only for its neighbours. The trace has the
    // members but not the edges, which show in the messages.
    default: return Flow::kNone;
  }
}

constexpr bool is_neighborhood(Collective collective) {
  return collective >= Collective::kNeighborAllgather;
}

// Whether a member that waits for another one (Flow) cannot do without its data, if that one sends any.
// In the operations left out, a count of 0 may say that two members exchange nothing.
constexpr bool needs_data_of_others(Collective collective) {
  return collective != Collective::kNone && collective != Collective::kScatterv &&
         collective != Collective::kAlltoallv && collective != Collective::kAlltoallw &&
         collective != Collective::kReduceScatter && !is_neighborhood(collective);
}

// Whether the root sends each member its own part (scatter), or receives one from each (gather).
constexpr bool moves_parts(Collective collective) {
  return collective == Collective::kScatter || collective == Collective::kScatterv ||
         collective == Collective::kGather || collective == Collective::kGatherv;
}

struct Meaning {
  Group group = Group::kOther;
  Collective collective = Collective::kNone;
  Flow flow = Flow::kNone;  // all in a sequence that are not a Collective: kAllToAll
  Completes completes = Completes::kNothing;
  Completes sees = Completes::kNothing;  // says to be complete: MPI_Request_get_status
  Requests requests = Requests::kNone;
  WindowAccess window = WindowAccess::kNone;
  FileAccess file = FileAccess::kNone;
  Epoch epoch = Epoch::kNone;
  LockStep lock = LockStep::kNone;
  Sequence sequence = Sequence::kNone;
  bool polls = false;          // says whether something has happened: MPI_Test, MPI_Iprobe
  bool constructs = false;     // makes or frees a communicator
  bool frees_object = false;   // a window or file
  bool takes_message = false;  // a probe that hands out the message itself: MPI_Mprobe
  bool immediate = false;    // makes, starts or frees a request, and so waits for no other process
  bool synchronous = false;  // a send that waits for its receive whatever its length
  bool cartesian = false;    // makes a communicator with a Cartesian topology
  bool begins_job = false;   // MPI_Init, MPI_Init_thread
  bool ends_job = false;     // MPI_Finalize

  bool in_sequence() const { return sequence == Sequence::kCommunicator; }
  // Whether the first of its requests that is complete is enough.
  bool waits_for_first() const { return completes == Completes::kSome || sees == Completes::kSome; }
  bool tests() const { return polls && completes != Completes::kNothing; }
  bool nonblocking() const { return requests == Requests::kMakesAndStarts; }
  bool persistent() const { return requests == Requests::kMakes; }
};

// The meaning of a function such as "MPI_Isend", in upper or lower case; "MPIX_Bcast_init" means
// "MPI_Bcast_init". Names that are not MPI functions have the default meaning.
const Meaning& meaning_of(std::string_view function);
const Meaning& meaning_of(FunctionId function);

// "MPI_Isend".
std::string_view name_of(FunctionId function);

// "MPI_Isend" -> kIsend; nothing for names that are not MPI functions.
std::optional<FunctionId> find(std::string_view function);

// Whether MPI reserves the name (MPI 3.1, section 2.6.2): true for functions of any release, even
// those without a row here.
constexpr bool is_in_namespace(std::string_view name) { return name.starts_with("MPI_"); }

// The blocking collective whose messages carry this tag inside Open MPI; kNone if there is none.
constexpr Collective collective_of_tag(std::int32_t tag) {
  constexpr std::int32_t kFirst = -10, kLast = -26;  // allgather, scatterv
  return tag <= kFirst && tag >= kLast ? static_cast<Collective>(1 + kFirst - tag)
                                       : Collective::kNone;
}

// "MPI_Bcast"; empty for kNone.
std::string_view name_of(Collective collective);

}  // namespace fathom::mpi
