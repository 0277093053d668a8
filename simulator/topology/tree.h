// SPDX-License-Identifier: BSD-3-Clause
// Fat trees: extended generalized fat trees, and two special cases with names of their own.
//
// XGFT(h; m_1,…,m_h; w_1,…,w_h) (Öhring, Ibel, Das, Kumar: On generalized fat trees, 1995) has
// levels 0 (hosts) to h. A node of level l has digits (a_h,…,a_1), with a_i below w_i for i <= l
// and below m_i for i > l. A node of level l and one of level l+1 are linked exactly if their
// digits agree everywhere except at position l+1. So a node of level l has w_(l+1) parents and m_l
// children, and two hosts whose highest differing digit is at position L have w_1 · … · w_L
// shortest paths. The nodes of a level are numbered by their digits, a_1 running fastest: switch 5
// of level 2 is s2.5.
//
// Level 0 of taper: links between switch levels 1 and 2; level 1: between 2 and 3; …
#pragma once

#include "simulator/topology/topology.h"

namespace fathom::simulator {

base::Result<Network> make_xgft(TopologyParameters& parameters);       // m, w: lists
base::Result<Network> make_kary_tree(TopologyParameters& parameters);  // k, n: XGFT(n; k,…; 1,k,…)
base::Result<Network> make_leaf_spine(
    TopologyParameters& parameters);  // leaves, spines, hosts (each)

}  // namespace fathom::simulator
