// SPDX-License-Identifier: BSD-3-Clause
// The messages of each collective algorithm, in the order in which each process sends them
// (collective_algorithms.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/meaning.h"

namespace fathom::analysis {

struct Hop {
  std::uint32_t source = 0, destination = 0;
  std::uint32_t round = 0;  // larger than the rounds it depends on
  double weight = 0;        // fraction of the bytes; 0: unspecified
};

class MessagePattern {
 public:
  MessagePattern(std::uint32_t size, std::uint32_t root) : size(size), root(root), round_(size) {}

  const std::uint32_t size, root;
  const std::vector<Hop>& hops() const { return hops_; }
  std::uint32_t rounds() const { return rounds_; }

  // One message, sent once the source has received everything sent to it so far.
  void hop(std::uint32_t source, std::uint32_t destination, double weight = 0) {
    hops_.push_back({source, destination, round_[source], weight});
    arrive(destination, round_[source] + 1);
  }
  // Messages that start at the same time: all of them before any arrives.
  void together(const std::vector<Hop>& all) {
    const std::vector<std::uint32_t> before = round_;
    for (const Hop& one : all) {
      hops_.push_back({one.source, one.destination, before[one.source], one.weight});
      arrive(one.destination, before[one.source] + 1);
    }
  }
  // The rank that has this number, counted from the root.
  std::uint32_t from_root(std::uint32_t rank) const {
    if (swaps_root_) return rank == 0 ? root : rank == root ? 0 : rank;
    return (rank + root) % size;
  }
  // Swaps only the root and rank 0: libnbc's way to count from the root.
  void swap_root() { swaps_root_ = true; }

 private:
  void arrive(std::uint32_t rank, std::uint32_t round) {
    if (round > round_[rank]) round_[rank] = round;
    if (round > rounds_) rounds_ = round;
  }

  bool swaps_root_ = false;
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> round_;  // by process: the next round in which it can send
  std::uint32_t rounds_ = 0;
};

struct AlgorithmRow {
  const char* name;
  void (*make)(MessagePattern& pattern);
  bool segments = false;    // may be segmented: every pair has the same multiple
  std::uint32_t sizes = 0;  // 2: only for two processes; 0: any number
  bool variant = false;     // parameters other than Open MPI's defaults: only if nothing else fits
};

// The known algorithms of a blocking or non-blocking collective; empty if none are known.
std::span<const AlgorithmRow> algorithms_of(const mpi::Meaning& operation);

}  // namespace fathom::analysis
