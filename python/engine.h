// SPDX-License-Identifier: BSD-3-Clause
// The engine for custom programs (analysis/engine/engine.h) as fathom._core.Engine, on which
// fathom.Engine is built.
#pragma once

#include <pybind11/pybind11.h>

namespace fathom::python {

void bind_engine(pybind11::module_& module);

}  // namespace fathom::python
