// SPDX-License-Identifier: BSD-3-Clause
// Which threads wait for which ranks, and which of them nobody that runs can release.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "live/verdict/job_view.h"

namespace fathom::live {

enum class Activity : std::uint8_t {
  kComputes,  // outside of MPI
  kMoves,     // in a call that it has just entered, or that does not wait
  kWaits,
  kUnknown,  // waits for something that samples do not tell
};

enum class NeedKind : std::uint8_t { kMessage, kReceiver, kMembers };

// What one request of a thread, or its collective, needs: one rank or all ranks of a group.
struct Need {
  NeedKind kind = NeedKind::kMessage;
  const Pending* pending = nullptr;  // null: a collective
  bool met = false;                  // it is there: the library has only to go on
  bool begun = false;  // not there yet, but begun: it goes on when the rank of the group calls MPI
  bool any = false;    // one of the group is enough
  bool unsure =
      false;  // of several requests, this one may be complete; or who is missing is not known
  std::size_t group = 0;
};

struct Node {
  const RankState* process = nullptr;
  const ThreadState* thread = nullptr;  // null: the process has made no call yet
  Activity activity = Activity::kComputes;
  bool polls = false;  // it asks again and again (MPI_Test), which may be all that it does
  // It needs all of `needs`, or any one. If it needs all, those that are unsure count only if all of them fail, because
  // at least one request of a call that waits is incomplete.
  bool all = true;
  std::vector<Need> needs;
  bool released = false;  // some order of events lets it go on

  bool waits() const { return activity == Activity::kWaits; }
  bool stuck() const { return waits() && !released; }
  bool has_all() const;  // of what it needs; the library, or the network, keeps it
};

class WaitGraph {
 public:
  explicit WaitGraph(const JobView& view);

  const JobView& view() const { return view_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<std::int32_t>& group(std::size_t number) const { return groups_[number]; }
  // Whether the rank can never again do what another one waits for: gone, stopped, finalizing, or all of
  // its threads are stuck.
  bool blocked(std::int32_t rank) const { return !released_[static_cast<std::size_t>(rank)]; }
  bool terminal(std::int32_t rank) const { return terminal_[static_cast<std::size_t>(rank)] != 0; }
  std::size_t groups() const { return groups_.size(); }
  std::vector<const Node*> nodes_of(std::int32_t rank) const;

  // A set of ranks that wait for each other and for nobody else, or a single one that is terminal.
  struct Core {
    std::vector<std::int32_t> ranks;  // ascending
    std::vector<std::int32_t>
        victims;  // ascending: those that need a rank of the core, however indirectly
  };
  // The cores of what cannot go on, the one with most victims first.
  std::vector<Core> cores() const;

  // The same for what will go on, once one of its needs is met: ranks that run, with those that wait for them.
  std::vector<Core> roots() const;

 private:
  void add_process(const RankState& process);
  void add_needs(Node& node);
  void add_polling(Node& node);
  void need_collective(Node& node);
  void need_unnumbered(Node& node, std::uint64_t communicator);
  void doubt(Node& node) const;
  void need_finalizing(Node& node);
  Need need_of(const Node& node, const Pending& pending);
  bool was_received(std::int32_t sender, const Pending& sent) const;
  bool is_taken(std::int32_t receiver, std::int32_t sender, const Pending& pending) const;
  std::size_t single(std::int32_t rank);
  std::size_t missing(std::uint64_t communicator, std::uint64_t ordinal);
  std::size_t outside(std::uint64_t communicator);
  void seek_message(Need& need, std::int32_t receiver);
  bool valid(std::int32_t rank) const { return rank >= 0 && rank < view_.world_size(); }
  void release();
  bool can_be_met(const Need& need) const;
  std::vector<std::vector<std::uint32_t>> edges(bool stuck) const;

  const JobView& view_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::size_t>> nodes_of_rank_;
  std::vector<std::vector<std::int32_t>> groups_;
  std::map<std::int32_t, std::size_t> singles_;
  std::map<std::uint64_t, std::size_t> anyone_, outside_, unnumbered_;  // by communicator
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> missing_;
  std::vector<char> released_, terminal_;
};

}  // namespace fathom::live
