// SPDX-License-Identifier: BSD-3-Clause
#include "rankmap/communicator_view.h"

#include <cstdio>
#include <cstring>

namespace fathom::rankmap {
namespace {

SparseLookup sparse_lookup = nullptr;

// In a group, a process that this one has not yet communicated with may be an odd number instead of
// a pointer: bits 1-15 local job, 16-31 job family, 32-63 rank (ompi_proc_sentinel_to_name in
// ompi/proc/proc.h).
Identity from_sentinel(std::uintptr_t sentinel) {
  const auto local_job = static_cast<std::uint32_t>((sentinel >> 1) & 0x7fff);
  const auto family = static_cast<std::uint32_t>((sentinel >> 16) & 0xffff);
  return {family << 16 | local_job, static_cast<std::uint32_t>(sentinel >> 32)};
}

}  // namespace

void set_sparse_lookup(SparseLookup lookup) { sparse_lookup = lookup; }

std::string_view given_name(const void* comm) {
  if (!(field<std::uint32_t>(comm, openmpi::kCommFlags) & openmpi::kCommFlagNamed)) return {};
  const char* name = static_cast<const char*>(comm) + openmpi::kCommName;
  return {name, strnlen(name, openmpi::kCommNameSize)};
}

std::optional<std::uint32_t> duplicate_of(const void* comm) {
  char name[openmpi::kCommNameSize + 1] = {};
  std::memcpy(name, static_cast<const char*>(comm) + openmpi::kCommName, openmpi::kCommNameSize);
  unsigned int own = 0, original = 0;
  if (std::sscanf(name, "MPI COMMUNICATOR %u DUP FROM %u", &own, &original) != 2) return {};
  return original;
}

Identity member(const void* group, int position) {
  const void* process = nullptr;
  if (field<std::uint32_t>(group, openmpi::kGroupFlags) & openmpi::kGroupFlagDense) {
    process = field<const void* const*>(group, openmpi::kGroupProcs)[position];
  } else if (sparse_lookup != nullptr) {
    process = sparse_lookup(group, position);
  }
  const auto bits = reinterpret_cast<std::uintptr_t>(process);
  if (bits & 1) return from_sentinel(bits);
  if (process == nullptr) return {~0u, ~0u};
  return {field<std::uint32_t>(process, openmpi::kProcJob),
          field<std::uint32_t>(process, openmpi::kProcRank)};
}

}  // namespace fathom::rankmap
