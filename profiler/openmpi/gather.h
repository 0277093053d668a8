// SPDX-License-Identifier: BSD-3-Clause
// Brings the rows of all processes to rank 0, up a binomial tree of plain PML messages.
//
// It uses reserved tags on MPI_COMM_WORLD (-3 and below, which no collective and no wildcard
// receive matches) and the PML's original entries, so it needs no communicator and counts nothing.
// Only processes that run with Fathom take part: at MPI_Init each announces itself to its
// neighbours in the tree, and one that hears nothing from above keeps its subtree's rows for a
// file. A job that is only partly preloaded therefore ends as it would have without Fathom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fathom::profiler {

class Gather {
 public:
  // After MPI_Init, once counting can start. Never blocks.
  void announce(void* world, int rank, int size);

  // At MPI_Finalize: waits until all neighbours that announced themselves have arrived, while
  // making progress on what the program left unfinished.
  void synchronise();

  // Appends the rows of the processes below to `rows` and sends them up. True if `rows` stays here:
  // on rank 0, and where the process above runs without Fathom.
  bool collect(std::vector<char>& rows);

  // The tree, and messages along it with tags reserved for Fathom.
  int parent() const { return parent_; }
  const std::vector<int>& children() const { return children_; }
  bool has_arrived(int peer, int tag);
  void send(int peer, int tag, const void* data, std::size_t size);
  void receive(int peer, int tag, void* data, std::size_t size);

 private:
  std::vector<int> present_neighbours();
  static bool make_room(std::vector<char>& rows, std::uint64_t size) noexcept;
  void tell(int peer, int tag);

  void* world_ = nullptr;
  void* byte_type_ = nullptr;
  int rank_ = 0;
  int parent_ = -1;
  std::vector<int> children_;
};

}  // namespace fathom::profiler
