// SPDX-License-Identifier: BSD-3-Clause
// Binary answers: little-endian numbers one after the other, as typed arrays of a page read them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::view {

// The machines that Fathom runs on are little-endian (view/pyramid/layer.cpp checks it).
template <typename Number>
void put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename Number>
void put_all(std::string& bytes, const std::vector<Number>& numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

// Times and sizes as a page's numbers: exact below 2^53.
inline void put_real(std::string& bytes, std::uint64_t number) {
  put(bytes, static_cast<double>(number));
}

}  // namespace fathom::view
