// SPDX-License-Identifier: BSD-3-Clause
// How importers describe an MPI function if another tool's trace gives only its name.
#pragma once

#include <string_view>

#include "trace/definitions.h"

namespace fathom::importers {

// The function with the attributes that importers can fill in. For a name that is not an MPI
// function: mpi::Group::kOther, no attributes.
trace::Function imported_function(std::string_view name);

}  // namespace fathom::importers
