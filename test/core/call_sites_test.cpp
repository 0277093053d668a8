// SPDX-License-Identifier: BSD-3-Clause
// Frame sizes from the unwind tables, on this program's own functions: the distance that the table
// gives from where a function calls must lead to where it returns.
#include "profiler/calls/unwind_table.h"

#include <doctest/doctest.h>
#include <link.h>

#include <cstdint>

#include "profiler/calls/call_sites.h"

namespace {

using fathom::profiler::Caller;
using fathom::profiler::frame_size_at;

struct Tables {
  std::uintptr_t address = 0;
  const std::uint8_t* header = nullptr;
};

// .eh_frame_hdr of the object that holds an address.
const std::uint8_t* tables_of(std::uintptr_t address) {
  Tables wanted{address};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& tables = *static_cast<Tables*>(data);
        bool holds = false;
        const std::uint8_t* header = nullptr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && tables.address - begin < segment.p_memsz) holds = true;
          if (segment.p_type == PT_GNU_EH_FRAME)
            header = reinterpret_cast<const std::uint8_t*>(begin);
        }
        if (holds) tables.header = header;
        return holds ? 1 : 0;
      },
      &wanted);
  return wanted.header;
}

// What MPI_X is to a binding: takes note of who called.
[[gnu::noinline]] Caller called(int, int, int, int, int, int, int, int) {
  const Caller caller = FATHOM_CALLER;
  asm volatile("" ::: "memory");
  return caller;
}

// Whether the table leads from there to where the function that called returns.
[[gnu::noinline]] bool leads_to(const Caller& inner, const void* own_return) {
  const auto address = reinterpret_cast<std::uintptr_t>(inner.return_address);
  const std::int64_t size = frame_size_at(tables_of(address), address - 1);
  if (size <= 0) return false;
  const auto frame =
      reinterpret_cast<std::uintptr_t>(inner.frame) + static_cast<std::uintptr_t>(size);
  return *reinterpret_cast<const void* const*>(frame - 8) == own_return;
}

// What a binding is: arguments on the stack, registers saved, memory of its own.
template <int kBytes>
[[gnu::noinline]] bool binding(int a, int b) {
  volatile char memory[kBytes];
  memory[a] = static_cast<char>(b);
  const bool leads =
      leads_to(called(a, b, 3, 4, 5, 6, a + b, memory[a]), __builtin_return_address(0));
  asm volatile("" ::: "memory");
  return leads;
}

}  // namespace

TEST_CASE("a frame's size leads to the caller's caller") {
  CHECK(binding<8>(1, 2));
  CHECK(binding<200>(1, 2));
  CHECK(binding<5000>(1, 2));
}

TEST_CASE("an address without a table or outside all functions gives no call site") {
  int local = 0;
  const auto stack = reinterpret_cast<std::uintptr_t>(&local);
  CHECK(frame_size_at(nullptr, 1) == -1);
  const auto* tables = tables_of(reinterpret_cast<std::uintptr_t>(&frame_size_at));
  REQUIRE(tables != nullptr);
  CHECK(frame_size_at(tables, stack) == -1);
  CHECK(frame_size_at(tables, 1) == -1);
}

TEST_CASE("outside any binding, the return address is the call site") {
  const int here = 0;
  const Caller caller{&here, nullptr};
  CHECK(fathom::profiler::CallSites::site(caller, "MPI_Send") == &here);
}
