// SPDX-License-Identifier: BSD-3-Clause
// Results of analyses as Python objects: figures and findings as dictionaries, tables as
// dictionaries of columns, which fathom/run.py turns into DataFrames.
#pragma once

#include <pybind11/pybind11.h>

#include "analysis/run.h"

namespace fathom::python {

pybind11::dict as_dict(
    analysis::Section&& section);  // {"figures": …, "tables": {name: {column: array}}}
pybind11::list as_list(const std::vector<analysis::Finding>& findings);

}  // namespace fathom::python
