// SPDX-License-Identifier: BSD-3-Clause
// How importers describe a function of MPI of which another tool's trace holds the name alone.
#pragma once

#include <string_view>

#include "trace/definitions.h"

namespace fathom::importers {

// With the attributes that importers can fill in. A name that is no function of MPI:
// mpi::Group::kOther, no attributes.
trace::Function imported_function(std::string_view name);

}  // namespace fathom::importers
