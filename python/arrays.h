// SPDX-License-Identifier: BSD-3-Clause
// C++ columns as NumPy arrays without copying: the array owns the vector.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <utility>
#include <vector>

namespace fathom::python {

template <typename T>
pybind11::array_t<T> as_array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  const pybind11::capsule owner(kept,
                                [](void* memory) { delete static_cast<std::vector<T>*>(memory); });
  return pybind11::array_t<T>(static_cast<pybind11::ssize_t>(kept->size()), kept->data(), owner);
}

}  // namespace fathom::python
