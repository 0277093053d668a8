// SPDX-License-Identifier: BSD-3-Clause
// Eigenvalues of symmetric matrices, for lower bounds on the traffic between parts of a graph.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/jobs/rank_graph.h"

namespace fathom::simulator {

// Spectrum of the graph's Laplacian L, ascending: L_rr is the total of r, L_rs is minus what r and
// s exchange. Householder's reduction and QL with implicit shifts (G. Golub, C. Van Loan, Matrix
// Computations, ch. 8). Cost: 4/3 n^3 operations and 8 n^2 bytes.
std::vector<double> laplacian_spectrum(const RankGraph& graph);

// Lower bound on the traffic between parts of at most `sizes` ranks, over all divisions of the
// graph:
//
//     1/2 sum_j m_j λ_j
//
// where m are the sizes, descending, and λ the spectrum, ascending, preceded by one zero per place
// left over (W. Donath, A. Hoffman, Lower bounds for the partitioning of graphs, IBM J. Res. Dev.
// 17, 1973). Each eigenvalue counts less the error of its computation, n * epsilon * λ_max, so that a
// bound is zero rather than noise. The sum of `sizes` must be at least the number of ranks.
double cut_bound(const std::vector<double>& spectrum, std::vector<std::size_t> sizes);

}  // namespace fathom::simulator
