// SPDX-License-Identifier: BSD-3-Clause
// Converts errors to Python's fathom.Error.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/result.h"

namespace fathom::python {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T value_or_throw(base::Result<T>&& result) {
  if (!result) throw Failure(result.error().message);
  return std::move(*result);
}

}  // namespace fathom::python
