// SPDX-License-Identifier: BSD-3-Clause
// Error values: how every folder outside the user's process reports failure.
//
// Result<T> holds a T or an Error. No exception crosses a folder's edge, and no library prints or
// exits. An Error is one sentence for a person: what went wrong, where (file, byte, line, rank),
// and what to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace fathom::base {

struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Requires ok().
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Requires !ok().
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace fathom::base
