// What a function of MPI is, by its name: for traces of other tools, which know only that.
#pragma once

#include <string_view>

#include "trace/definitions.h"

namespace fathom::trace {

// With the attributes that importers can find out. A name that is not known: Group::kOther, no attributes.
Function function_by_name(std::string_view name);

}  // namespace fathom::trace
