// SPDX-License-Identifier: BSD-3-Clause
#include "rankmap/communicator_view.h"

#include <cstdio>
#include <cstring>

namespace fathom::rankmap {
namespace {

TranslateRanks translate_ranks = nullptr;

// In a group, a process that this one has not yet communicated with may be an odd number instead of
// a pointer: bits 1-15 local job, 16-31 job family, 32-63 rank (ompi_proc_sentinel_to_name in
// ompi/proc/proc.h).
Identity from_sentinel(std::uintptr_t sentinel) {
  const auto local_job = static_cast<std::uint32_t>((sentinel >> 1) & 0x7fff);
  const auto family = static_cast<std::uint32_t>((sentinel >> 16) & 0xffff);
  return {family << 16 | local_job, static_cast<std::uint32_t>(sentinel >> 32)};
}

constexpr Identity kNobody{~0u, ~0u};

// Longer than any name that Open MPI keeps: MPI_MAX_OBJECT_NAME is 64, in the standard ABI 128.
constexpr std::size_t kLongestName = 256;

// What the library itself or MPI_Comm_set_name wrote.
std::string_view kept_name(const void* comm) {
  const openmpi::Layout& layout = openmpi::layout();
  if (layout.comm_name_inside > 0) {
    const char* name = static_cast<const char*>(comm) + layout.comm_name;
    return {name, strnlen(name, static_cast<std::size_t>(layout.comm_name_inside))};
  }
  const char* name = field<const char*>(comm, layout.comm_name);
  return name == nullptr ? std::string_view() : std::string_view(name, strnlen(name, kLongestName));
}

bool is_dense(const void* group) {
  return field<std::uint32_t>(group, openmpi::kGroupFlags) & openmpi::kGroupFlagDense;
}

}  // namespace

void set_sparse_lookup(TranslateRanks translate) { translate_ranks = translate; }

std::string_view given_name(const void* comm) {
  const auto flags = field<std::uint32_t>(comm, openmpi::layout().comm_flags);
  return flags & openmpi::kCommFlagNamed ? kept_name(comm) : std::string_view();
}

std::optional<std::uint32_t> duplicate_of(const void* comm) {
  const std::string_view kept = kept_name(comm);
  char name[kLongestName + 1] = {};
  kept.copy(name, kLongestName);
  unsigned int own = 0, original = 0;
  for (const char* form : {"MPI COMMUNICATOR %u DUP FROM %u", "MPI COMM %u DUP FROM %u"}) {
    if (std::sscanf(name, form, &own, &original) == 2) return original;
  }
  return {};
}

// A sparse group says how its members follow from those of its parent.
Identity member(const void* group, int position) {
  while (!is_dense(group)) {
    const void* parent = field<const void*>(group, openmpi::kGroupParent);
    int in_parent = -1;
    if (translate_ranks == nullptr || parent == nullptr ||
        translate_ranks(group, 1, &position, parent, &in_parent) != openmpi::kSuccess ||
        in_parent < 0) {
      return kNobody;
    }
    group = parent;
    position = in_parent;
  }
  const void* process = field<const void* const*>(group, openmpi::kGroupProcs)[position];
  const auto bits = reinterpret_cast<std::uintptr_t>(process);
  if (bits & 1) return from_sentinel(bits);
  if (process == nullptr) return kNobody;
  return {field<std::uint32_t>(process, openmpi::kProcJob),
          field<std::uint32_t>(process, openmpi::kProcRank)};
}

}  // namespace fathom::rankmap
