// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/standard_abi.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "profiler/openmpi/mpi_library.h"

namespace fathom::profiler {
namespace {

struct PredefinedHandle {
  std::uint16_t number;
  const char* variable;
};

constexpr PredefinedHandle kHandles[] = {
#define FATHOM_HANDLE(name, number, variable) {number, #variable},
#include "profiler/openmpi/standard_abi_table.h"
};

struct ErrorClass {
  int in_abi, in_libmpi;
};

constexpr ErrorClass kErrors[] = {
#define FATHOM_ERROR(name, in_abi, in_libmpi) {in_abi, in_libmpi},
#include "profiler/openmpi/standard_abi_table.h"
};

}  // namespace

void find_standard_abi() {
  if (!program_uses_standard_abi()) return;
  for (const PredefinedHandle& handle : kHandles)
    StandardAbi::predefined[handle.number] = find_variable_in_mpi(handle.variable);
  StandardAbi::in_use = true;
}

void* predefined_handle(const char* variable) {
  if (!StandardAbi::in_use) return find_variable_in_mpi(variable);
  const auto* found = std::ranges::find(kHandles, std::string_view(variable),
                                        [](const auto& row) { return row.variable; });
  return found == std::end(kHandles)
             ? nullptr
             : reinterpret_cast<void*>(static_cast<std::uintptr_t>(found->number));
}

int native_error_in_abi(int result) {
  const auto* found = std::ranges::find(kErrors, result, &ErrorClass::in_abi);
  return found == std::end(kErrors) ? result : found->in_libmpi;
}

}  // namespace fathom::profiler
