// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of symmetric matrices, for lower bounds on what must pass between parts of a graph.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/jobs/rank_graph.h"

namespace fathom::simulator {

// Of the graph's Laplacian L (L_rr the total of r, L_rs minus what r and s exchange), ascending.
// Householder's reduction and QL with implicit shifts (G. Golub, C. Van Loan, Matrix Computations,
// ch. 8). Cost: 4/3 n^3 operations and 8 n^2 bytes.
std::vector<double> laplacian_spectrum(const RankGraph& graph);

// What must pass between parts of at most `sizes` ranks, over all ways of dividing the graph: at
// least 1/2 sum_j m_j λ_j with m the sizes, descending, and λ the spectrum, ascending, as many
// zeros before it as there are places left over (W. Donath, A. Hoffman, Lower bounds for the
// partitioning of graphs, IBM J. Res. Dev. 17, 1973). `sizes` add up to no less than the number of
// ranks.
double cut_bound(const std::vector<double>& spectrum, std::vector<std::size_t> sizes);

}  // namespace fathom::simulator
