// SPDX-License-Identifier: BSD-3-Clause
// Slim Fly (Besta, Hoefler: Slim Fly: a cost effective low-diameter network topology, SC 2014): the
// McKay-Miller-Širáň graph of a prime power q, 2q² switches of degree (3q - δ) / 2 at diameter 2,
// where q = 4w + δ with δ = 1, 0 or -1 (q = 2 alone is of none of these forms).
//
// With ξ a primitive element of the field of q elements (finite_field.h), and its arithmetic:
//   δ = 0:   X = {1, ξ², …, ξ^(q-2)},                             X' = {ξ, ξ³, …, ξ^(q-1)}
//   δ = 1:   X = {1, ξ², …, ξ^(q-3)},                             X' = {ξ, ξ³, …, ξ^(q-2)}
//   δ = -1:  X = {1, ξ², …, ξ^(2w-2), ξ^(2w-1), ξ^(2w+1), …, ξ^(4w-3)},   X' = ξ X
// switches (0,x,y) and (0,x,y') are linked if y - y' is in X, (1,m,c) and (1,m,c') if c - c' is in
// X', (0,x,y) and (1,m,c) if y = m x + c. Switch s1.m.c is (1,m,c). Level 0 of taper: links within
// a subgroup (same first two numbers); level 1: all others.
#pragma once

#include "simulator/topology/topology.h"

namespace fathom::simulator {

// Keys: q; hosts per switch (half its degree, rounded up).
base::Result<Network> make_slim_fly(TopologyParameters& parameters);

}  // namespace fathom::simulator
