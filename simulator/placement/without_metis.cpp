// SPDX-License-Identifier: BSD-3-Clause
// Recursive bisection where Fathom was built without METIS.
#include "simulator/placement/recursive_bisection.h"

namespace fathom::simulator {
namespace {

const base::Error kNoMetis{
    "this Fathom was built without METIS, which recursive bisection needs; meson configure build "
    "-Dmetis=enabled adds it"};

}  // namespace

bool has_bisection() { return false; }

base::Result<Placement> place_bisection(const PlacementRequest&) { return kNoMetis; }

base::Result<Places> bisected(const PlaceCosts&, const BisectionStyle&, std::uint64_t) {
  return kNoMetis;
}

}  // namespace fathom::simulator
