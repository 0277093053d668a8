// How importers describe a function of MPI of which another tool's trace holds the name alone.
#pragma once

#include <string_view>

#include "trace/definitions.h"

namespace fathom::trace {

// With the attributes that importers can fill in. A name that is no function of MPI: Group::kOther, no
// attributes.
Function imported_function(std::string_view name);

}  // namespace fathom::trace
