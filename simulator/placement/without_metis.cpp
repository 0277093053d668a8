// SPDX-License-Identifier: BSD-3-Clause
// Recursive bisection where Fathom was built without METIS.
#include "simulator/placement/recursive_bisection.h"

namespace fathom::simulator {

bool has_bisection() { return false; }

base::Result<Placement> place_bisection(const PlacementRequest&) {
  return base::Error{
      "this Fathom was built without METIS, which recursive bisection needs; meson configure build "
      "-Dmetis=enabled adds it"};
}

}  // namespace fathom::simulator
