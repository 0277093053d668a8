// SPDX-License-Identifier: BSD-3-Clause
// What a running job does at one moment, as samples of its processes tell it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fathom::live {

inline constexpr std::int32_t kAnyone = -1;   // MPI_ANY_SOURCE, MPI_ANY_TAG
inline constexpr std::int32_t kNobody = -2;   // MPI_PROC_NULL, or the call has none
inline constexpr std::int32_t kUnknown = -3;  // not seen, such as behind a lost sample

// `id` is the same in all members and unique in the job; members are world ranks by their rank there.
struct Communicator {
  std::uint64_t id = 0;
  std::string name;  // "MPI_COMM_WORLD", the program's own name, or one made from its members
  std::vector<std::int32_t> members;
  std::vector<std::int32_t> remote;  // of an intercommunicator; else empty
};

enum class RequestKind : std::uint8_t { kSend, kSynchronousSend, kReceive, kCollective, kOther };

// What a thread waits for: its blocking call's own transfer, or an incomplete request of a wait or test.
struct Pending {
  RequestKind kind = RequestKind::kOther;
  std::int32_t peer = kUnknown;  // world rank
  std::int32_t tag = kUnknown;
  std::uint64_t communicator = 0;
  std::uint64_t bytes = 0;
};

// A thread that calls MPI. Times are seconds before the sample was taken.
struct ThreadState {
  std::uint32_t thread = 0;  // in the order of their first call
  std::string function;      // "MPI_Recv"; empty: the program computes
  std::string place;         // "halo.c:88" of the call (or of the last call), else module+offset
  double since_s = 0;        // how long it has been in this call, or has computed
  std::uint64_t calls = 0;   // calls begun so far, so that two samples tell whether it moves
  std::uint64_t communicator = 0;  // 0: the call has none
  std::uint64_t bytes = 0;
  std::int32_t root = kNobody;   // world rank, of a rooted collective
  std::uint64_t collective = 0;  // how many-eth collective on that communicator, from 1; 0: is none
  bool waits_for_all = false;    // of several requests, all (Waitall) or any one (Waitany)
  // As many as are known, at most kMostPending. If the thread computes: what it has tested or probed for
  // in vain since its last call that could wait, and since a test or probe found something.
  std::vector<Pending> pending;
  std::uint64_t pending_left_out = 0;
};
inline constexpr std::size_t kMostPending = 32;

// The program's point-to-point messages with one peer on one communicator with one tag, as this process counts them.
struct ChannelCount {
  std::int32_t peer = kUnknown;  // world rank
  std::uint64_t communicator = 0;
  std::int32_t tag = kUnknown;
  std::uint64_t sent = 0, sent_bytes = 0;
  std::uint64_t received = 0, received_bytes = 0;
};

// How many collectives this process has begun on a communicator. Where a reader knows this, a verdict can tell who has
// left a broadcast from who has not come to it.
struct CollectiveCount {
  std::uint64_t communicator = 0;
  std::uint64_t begun = 0;
};

enum class ProcessState : std::uint8_t {
  kStarting,
  kRunning,
  kFinalizing,
  kEnded,
  kGone,
  kStopped
};

// Whether the queues of a process could be read.
enum class QueueAccess : std::uint8_t {
  kUnknown,  // Open MPI uses another PML than ob1, or Fathom does not know where this release has them
  kRead,
  kNotPermitted  // by the system of the reader (kernel.yama.ptrace_scope, a container)
};

struct RankState {
  std::int32_t rank = 0;
  std::string host;
  std::int64_t pid = 0;
  ProcessState state =
      ProcessState::kStarting;  // kGone: died before MPI_Finalize; kStopped: SIGSTOP or a debugger
  double sample_age_s = 0;      // how old this rank's numbers are
  std::uint64_t samples_lost = 0;
  double mpi_s = 0;        // time inside the program's MPI calls so far, all threads
  double waiting_s = 0;    // as far as known while it runs: the present call's time counts
  double elapsed_s = 0;    // since MPI_Init ended
  double processor_s = 0;  // processor time used so far (tells a slow rank from a stopped one)
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;  // all classes
  // Messages that have arrived and that no receive matches, and receives that no message matches, those
  // inside collectives too. Nothing if it is not known.
  std::optional<std::uint64_t> unexpected, posted;
  QueueAccess queues = QueueAccess::kUnknown;
  std::vector<ThreadState> threads;
  std::vector<ChannelCount> channels;
  std::vector<CollectiveCount> collectives;  // as far as known
  std::uint64_t channels_left_out = 0;       // messages on channels that found no place in the page
};

// Traffic of one pair in one class, counted where it is sent and where it is received.
struct PairState {
  std::int32_t from = 0, to = 0;
  std::string kind;  // as in profile.json: "p2p", "collective", ...
  std::uint64_t sent = 0, sent_bytes = 0;
  std::uint64_t received = 0, received_bytes = 0;
};

struct JobState {
  std::string run;  // run directory
  std::string program;
  double taken_at_s = 0;  // Unix time
  std::int32_t world_size = 0;
  std::vector<Communicator> communicators;
  std::vector<RankState> ranks;  // those that were seen, by rank
  std::vector<PairState> pairs;
  std::vector<std::string> hosts_late;  // hosts whose last sample is older than two seconds
};

}  // namespace fathom::live
