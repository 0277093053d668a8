// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/traced_call.h"

#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/recording/traced_functions.h"

namespace fathom::profiler::traced {

void Requests::open() {
  null_ = find_variable_in_mpi("ompi_request_null");
  empty_ = find_variable_in_mpi("ompi_request_empty");
  empty_send_ = find_variable_in_mpi("ompi_request_empty_send");  // since 6.0
}

void name_members(TracedCall& call, MPI_Group group) {
  const void* const native_group = native(group);
  ProfiledProcess* const process = ProfiledProcess::active();
  if (!call.on() || native_group == nullptr || process == nullptr) return;
  const std::uint32_t own_job = process->job();
  const int size = rankmap::group_size(native_group);
  std::uint64_t ranks[trace::kMaxWords];
  std::size_t used = 0;
  for (int position = 0; position < size; ++position) {
    const rankmap::Identity member = rankmap::member(native_group, position);
    if (member.job != own_job) continue;
    ranks[used++] = member.rank;
    if (used < trace::kMaxWords) continue;
    call.values(trace::Attribute::kMembers, ranks, used);
    used = 0;
  }
  call.values(trace::Attribute::kMembers, ranks, used);
}

}  // namespace fathom::profiler::traced
