// SPDX-License-Identifier: BSD-3-Clause
// Two samples of a job, made easy to ask: who is where, what has moved, which messages nobody has received.
// Holds references to both samples, which must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "live/job_state.h"

namespace fathom::live {

// Messages of one channel that were sent and not received, by the counts of both processes.
struct UnmatchedMessages {
  std::int32_t from = 0, to = 0;
  std::uint64_t communicator = 0;
  std::int32_t tag = 0;
  std::uint64_t count = 0;
};

class JobView {
 public:
  JobView(const JobState& now, const JobState& earlier);

  const JobState& now() const { return now_; }
  std::int32_t world_size() const { return world_size_; }

  // nullptr if the rank was not seen. `rank` may be any number.
  const RankState* rank(std::int32_t rank) const;
  const RankState* rank_before(std::int32_t rank) const;
  const Communicator* communicator(std::uint64_t id) const;
  std::string name_of_communicator(std::uint64_t id) const;

  // Whether too little is known of the rank to say that it cannot go on.
  bool unseen(std::int32_t rank) const;
  bool ended(std::int32_t rank) const;  // gone, or after MPI_Finalize
  // Whether its MPI library can act: some thread is in a call. Transfers that need several messages
  // (rendezvous, collectives) go on only then.
  bool in_mpi(std::int32_t rank) const;
  // Whether the thread has begun or ended a call between the samples.
  bool moved(const RankState& rank, const ThreadState& thread) const;
  // Whether it has begun calls between the samples.
  bool goes_on_calling(const RankState& rank, const ThreadState& thread) const;
  // Calls that the thread has begun between the samples, for each second of its process's processor time. Unlike shares of
  // time it does not depend on how many others share the processor.
  double call_rate(const RankState& rank, const ThreadState& thread) const;
  // Seconds between the samples of a rank; 0 if there is one only.
  double interval_s(const RankState& rank) const;
  // Seconds of processor time per second, outside of MPI; negative if not known.
  double computing_share(const RankState& rank) const;
  // Whether a message was sent or received between the samples.
  bool communicated(const RankState& rank) const;
  // Whether a process that is outside of MPI in both samples spends its time in calls such as MPI_Test.
  bool polls(const RankState& rank) const;

  // How many collectives the rank has begun on the communicator, at least.
  std::uint64_t collectives_begun(std::int32_t rank, std::uint64_t communicator) const;

  // Messages on their way or in the queue of unexpected messages. kAnyone stands for every tag.
  std::uint64_t unmatched(std::int32_t from, std::int32_t to, std::uint64_t communicator,
                          std::int32_t tag) const;
  // Messages that `from` has sent there, and those that `to` has received.
  struct Count {
    std::uint64_t sent = 0, received = 0;
  };
  Count counted(std::int32_t from, std::int32_t to, std::uint64_t communicator,
                std::int32_t tag) const;
  // All of `from`, in the order of receiver, communicator and tag; without those whose receiver has not
  // counted all of its channels.
  std::vector<UnmatchedMessages> unmatched_from(std::int32_t from) const;

 private:
  // Numbers of a rank's channels, in the order of peer, communicator and tag.
  using Order = std::vector<std::uint32_t>;
  const Order& ordered(const RankState& rank) const;
  // f(channel) for each of these channels; any tag: kAnyone.
  template <typename F>
  void for_each(std::int32_t rank, std::int32_t peer, std::uint64_t communicator, std::int32_t tag,
                F f) const;

  void repair_world();
  void count_collectives(const JobState& state);

  const JobState& now_;
  std::int32_t world_size_ = 0;
  std::unordered_map<std::int32_t, const RankState*> ranks_, ranks_before_;
  std::unordered_map<std::uint64_t, const Communicator*> communicators_;
  Communicator world_;  // with the members that were not seen
  std::map<std::pair<std::int32_t, std::uint64_t>, std::uint64_t> collectives_;
  // Made when first asked for: of a large job, few channels are.
  mutable std::unordered_map<std::int32_t, Order> orders_;
};

}  // namespace fathom::live
