// SPDX-License-Identifier: BSD-3-Clause
// Relates the clocks of a job's hosts: each process measures its CLOCK_MONOTONIC against rank 0's.
//
// Works down a tree (knomial_tree.h) from rank 0: a process exchanges kExchanges messages with the one
// above it and keeps the quickest (Cristian 1989; NTP's offset and delay, RFC 5905 section 8):
//   offset = ((t2 - t1) + (t3 - t4)) / 2, in error by at most delay / 2,
//   delay  = (t4 - t1) - (t3 - t2).
// Offsets and errors add up down the tree. On a single host all processes share the clock and
// nothing is sent.
//
// Measured after MPI_Init, before MPI_Finalize's end, and about every ten seconds in between,
// directly after a blocking collective of the program on MPI_COMM_WORLD. All processes count these
// collectives in the same way; with each measurement, rank 0 decides after how many more of them
// the next one comes.
//
// Every wait ends after five seconds; a neighbour that did not answer (it runs without Fathom) is
// not asked again. Threading: one measurement at a time, on the thread inside the MPI call.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/openmpi/gather.h"
#include "trace/format/format.h"

namespace fathom::profiler {

class ClockSync {
 public:
  // needed() stays false if all processes run on this host, as reported by the launcher.
  void open(Gather& gather, int rank, int size);
  bool needed() const { return needed_; }

  // Takes part in one measurement. False if it gave this process no offset.
  bool measure();
  // Adds the latest measurement to a row whose monotonic_ns was read just now.
  void complete(trace::ClockRow& row) const;

  // A collective on MPI_COMM_WORLD has ended; true if it is time to measure.
  bool is_due() { return ++collectives_ == next_; }

 private:
  struct Answer {  // from the process above
    std::uint64_t number, received_ns, sent_ns;
    std::int64_t offset_ns;
    std::uint64_t uncertainty_ns, next;
  };
  bool ask_above();
  void answer_below();
  void plan_next();

  Gather* gather_ = nullptr;
  bool needed_ = false;
  int above_ = -1;
  std::vector<int> below_;
  bool known_ = false;
  std::int64_t offset_ns_ = 0;  // rank 0's clock minus this one
  std::uint64_t uncertainty_ns_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t collectives_ = 0, next_ = 16;
  std::uint64_t measured_at_ns_ = 0, measured_at_collectives_ = 0;
};

}  // namespace fathom::profiler
