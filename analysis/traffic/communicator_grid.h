// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are the rows or the columns of a grid of ranks.
//
// MPI_Comm_split and MPI_Cart_sub divide a communicator into parts of the same size. Number the
// ranks of all parts together as their parent does. If part i holds the numbers i * k to
// i * k + k - 1, the parts are the rows of a grid of g x k ranks, g parts of k ranks each; if it
// holds i, i + g, i + 2 g and so on, they are the columns of a grid of k x g ranks. Parents divided
// both ways, such as for SUMMA (R. van de Geijn and J. Watts, Concurrency: Practice and Experience
// 9, 1997) or for the transposes of a pencil-decomposed Fourier transform, give two such lists.
//
// Cost: the members of all communicators, sorted.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace fathom::analysis {

enum class GridLines { kRows, kColumns };

struct CommunicatorGrid {
  GridLines lines = GridLines::kRows;
  std::int64_t rows = 0, columns = 0;       // of the grid, both at least 2
  std::vector<std::int64_t> communicators;  // ids, in the order of the lines
  std::vector<std::int64_t> ranks;          // world ranks in the grid's order
};

// Those that are rows first. Internal communicators and those with a remote group are left out.
std::vector<CommunicatorGrid> communicator_grids(const profile::Profile& profile);

}  // namespace fathom::analysis
