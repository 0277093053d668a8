// SPDX-License-Identifier: BSD-3-Clause
// The engine for programs of one's own (analysis/engine/engine.h) as _fathom.Engine; fathom.Engine
// is made of it.
#pragma once

#include <pybind11/pybind11.h>

namespace fathom::python {

void bind_engine(pybind11::module_& module);

}  // namespace fathom::python
