// SPDX-License-Identifier: BSD-3-Clause
// The messages that collective algorithms make, in the order in which each process sends
// (collective_algorithms.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/meaning.h"

namespace fathom::analysis {

struct Hop {
  std::uint32_t source = 0, destination = 0;
  std::uint32_t round = 0;  // all that it depends on have smaller ones
  double weight = 0;        // part of the bytes; 0: not told
};

class MessagePattern {
 public:
  MessagePattern(std::uint32_t size, std::uint32_t root) : size(size), root(root), round_(size) {}

  const std::uint32_t size, root;
  const std::vector<Hop>& hops() const { return hops_; }
  std::uint32_t rounds() const { return rounds_; }

  // One message, sent when the source has all that it was to receive so far.
  void hop(std::uint32_t source, std::uint32_t destination, double weight = 0) {
    hops_.push_back({source, destination, round_[source], weight});
    arrive(destination, round_[source] + 1);
  }
  // Messages that start together: all of them before any arrives.
  void together(const std::vector<Hop>& all) {
    const std::vector<std::uint32_t> before = round_;
    for (const Hop& one : all) {
      hops_.push_back({one.source, one.destination, before[one.source], one.weight});
      arrive(one.destination, before[one.source] + 1);
    }
  }
  // Counted from the root.
  std::uint32_t from_root(std::uint32_t rank) const {
    if (swaps_root_) return rank == 0 ? root : rank == root ? 0 : rank;
    return (rank + root) % size;
  }
  // The root and the first change places, and nobody else does: libnbc's way to count from the
  // root.
  void swap_root() { swaps_root_ = true; }

 private:
  void arrive(std::uint32_t rank, std::uint32_t round) {
    if (round > round_[rank]) round_[rank] = round;
    if (round > rounds_) rounds_ = round;
  }

  bool swaps_root_ = false;
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> round_;  // by process: the next that it can send in
  std::uint32_t rounds_ = 0;
};

struct AlgorithmRow {
  const char* name;
  void (*make)(MessagePattern& pattern);
  bool segments = false;    // may be cut: every pair has the same multiple
  std::uint32_t sizes = 0;  // 2: of two processes alone; 0: of any number
  bool variant =
      false;  // with parameters that are not Open MPI's defaults: only if nothing else fits
};

// The known algorithms of a blocking or non-blocking collective; empty: none are known.
std::span<const AlgorithmRow> algorithms_of(const mpi::Meaning& operation);

}  // namespace fathom::analysis
