// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/receive_request_list.h"

#include <cstddef>
#include <cstdint>

#include "profiler/openmpi/mpi_library.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

using rankmap::field;

char* request_list() {
  static char* const list = static_cast<char*>(find_variable_in_mpi("mca_pml_base_recv_requests"));
  return list;
}

std::size_t count_at(const char* list, std::ptrdiff_t offset) {
  return field<std::size_t>(list, offset);
}

std::uintptr_t round_up(std::uintptr_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

bool lists_receive_requests() {
  const char* list = request_list();
  return list != nullptr && count_at(list, openmpi::kFreeListCount) > 0;
}

// The first block has its own size; all later ones share another. If the list has reached its
// limit, the last block may be shorter by an unknown amount; then nothing is visited.
void for_each_receive_request(void (*visit)(void* request)) {
  if (!lists_receive_requests()) return;
  char* list = request_list();
  char* blocks = list + openmpi::kFreeListBlocks;
  const std::size_t total = count_at(list, openmpi::kFreeListCount);
  const std::size_t limit = count_at(list, openmpi::kFreeListMost);
  const std::size_t in_later_blocks = count_at(list, openmpi::kFreeListBlockCount);
  const std::size_t later_blocks = count_at(blocks, openmpi::kListLength) - 1;
  const std::size_t alignment = count_at(list, openmpi::kFreeListAlignment);
  if ((limit != 0 && total >= limit) || later_blocks * in_later_blocks >= total || alignment == 0) {
    return;
  }
  const auto* request_class = field<const void*>(list, openmpi::kFreeListClass);
  const std::size_t stride = round_up(count_at(list, openmpi::kFreeListItemSize), alignment);
  std::size_t in_block = total - later_blocks * in_later_blocks;
  char* const end = blocks + openmpi::kListEnd;
  for (char* block = field<char*>(end, openmpi::kListNext); block != end;
       block = field<char*>(block, openmpi::kListNext)) {
    const auto first = round_up(
        reinterpret_cast<std::uintptr_t>(block + openmpi::kFreeListBlockHeaderSize), alignment);
    for (std::size_t i = 0; i < in_block; ++i) {
      void* request = reinterpret_cast<void*>(first + i * stride);
      if (field<const void*>(request, openmpi::kObjectClass) != request_class) return;
      visit(request);
    }
    in_block = in_later_blocks;
  }
}

}  // namespace fathom::profiler
