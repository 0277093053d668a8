// SPDX-License-Identifier: BSD-3-Clause
// The figures over time behind the operations of fathom.Run, as columns. The functions of
// analysis/time compute them, so that Python and `fathom analyze` cannot differ.
#pragma once

#include <pybind11/pybind11.h>

#include "python/run.h"

namespace fathom::python {

void bind_operations(pybind11::class_<Run>& run);

}  // namespace fathom::python
