// SPDX-License-Identifier: BSD-3-Clause
// All-to-all, SUMMA and the transposes of pencils in the rows and columns of a grid of ranks.
//
// On communicators for rows and columns (communicator_grid.h), what the class means counts, not the
// messages that the library makes of it: all-to-alls, or broadcasts whose roots take turns. Sends of
// the program count if all pairs of every communicator have them.
//
// Sends on one communicator of a grid of R x C ranks look the same whichever of the three they are:
// all pairs of a row and of a column. They differ in how much there is, for a pair in a row (bytes
// b_r in m_r messages) and in a column (b_c, m_c):
//
//   transposes  each deals out all data of a rank, so C b_r = R b_c, and m_r = m_c
//   SUMMA       each step broadcasts in all rows and all columns, so C m_r = R m_c
//
// (The transposes: N. Li and S. Laizet, 2DECOMP&FFT, Cray User Group 2010. SUMMA: R. van de Geijn and
// J. Watts, Concurrency: Practice and Experience 9, 1997.) With R = C the counts are the same; then
// the kind is all-to-all, and `alternative` names the others.
#pragma once

#include <string>
#include <utility>

#include "analysis/traffic/class_traffic.h"
#include "analysis/traffic/communicator_grid.h"

namespace fathom::analysis {

// Of an ordered pair of different ranks, on average.
struct PairVolume {
  double bytes = 0, messages = 0;
};

struct GridKind {
  std::string kind;         // all-to-all, pencil-transpose, summa
  std::string alternative;  // empty: none
};

// Traffic between all pairs of each row and of each column of a grid. `sends`: the program's own.
GridKind kind_of_grid(std::int64_t rows, std::int64_t columns, PairVolume in_row,
                      PairVolume in_column, bool sends);

// Whether each of these ranks is the root of about as much of a broadcast as the others.
bool roots_take_turns(const ClassTraffic& broadcasts);

// The fraction of the ordered pairs of `ranks` ranks that communicate, without those that have less
// than an eighth of the mean.
double pairs_present(const ClassTraffic& traffic, std::int64_t ranks);

}  // namespace fathom::analysis
