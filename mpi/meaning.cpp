// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/meaning.h"

#include <algorithm>
#include <array>
#include <span>

#include "mpi/function_rows.h"

namespace fathom::mpi {
namespace {

constexpr std::size_t kLongestName = 64;  // longer than the name of any MPI function

const FunctionRow* row_of(std::string_view function) {
  // On the stack, so that a look-up allocates nothing.
  std::array<char, kLongestName> buffer;
  if (function.size() > buffer.size()) return nullptr;
  std::transform(function.begin(), function.end(), buffer.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  std::string_view key(buffer.data(), function.size());
  if (key.starts_with("mpix_")) {
    key.remove_prefix(5);
  } else if (key.starts_with("mpi_")) {
    key.remove_prefix(4);
  } else {
    return nullptr;
  }
  const std::span rows(kFunctionRows, kFunctionRowCount);
  const auto found = std::ranges::lower_bound(rows, key, {}, &FunctionRow::key);
  return found != rows.end() && found->key == key ? &*found : nullptr;
}

}  // namespace

const Meaning& meaning_of(std::string_view function) {
  static constexpr Meaning kNoFunction;
  const FunctionRow* row = row_of(function);
  return row != nullptr ? row->meaning : kNoFunction;
}

const Meaning& meaning_of(FunctionId function) {
  return kFunctionRows[static_cast<std::size_t>(function)].meaning;
}

std::optional<FunctionId> find(std::string_view function) {
  const FunctionRow* row = row_of(function);
  return row != nullptr ? std::optional(row->id) : std::nullopt;
}

std::string_view name_of(FunctionId function) {
  return kFunctionRows[static_cast<std::size_t>(function)].name;
}

std::string_view name_of(Collective collective) {
  if (collective == Collective::kNone) return {};
  for (const FunctionRow& row : std::span(kFunctionRows, kFunctionRowCount)) {
    const Meaning& meaning = row.meaning;
    if (meaning.collective == collective && meaning.requests == Requests::kNone) return row.name;
  }
  return {};
}

}  // namespace fathom::mpi
