// SPDX-License-Identifier: BSD-3-Clause
// Orders of the rows and columns of a matrix, in which what belongs together lies together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::view {

struct MatrixCell {
  std::uint32_t source = 0, destination = 0;
  std::uint64_t value = 0;
};

// Each returns the item at each position.

// Neighbours close to the diagonal: reverse Cuthill-McKee (E. Cuthill, J. McKee: Reducing the bandwidth of sparse
// symmetric matrices, ACM National Conference 1969), on the cells in both directions.
std::vector<std::uint32_t> pattern_order(std::uint32_t size, const std::vector<MatrixCell>& cells);

// Groups with much traffic inside together: single-linkage clustering, that is Kruskal's algorithm from the
// heaviest pair on, with each merged group's members kept side by side.
std::vector<std::uint32_t> cluster_order(std::uint32_t size, std::vector<MatrixCell> cells);

// Those on one host side by side, hosts in the order of their first rank.
std::vector<std::uint32_t> host_order(const std::vector<std::string>& hosts);

}  // namespace fathom::view
