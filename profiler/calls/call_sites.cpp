// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/call_sites.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "profiler/calls/unwind_table.h"

namespace fathom::profiler {
namespace {

// What is known of a return address, packed into one word: address 48 | meaning 16. A meaning below
// the named ones is the size of the frame in units of 8 bytes.
enum Meaning : std::uint64_t { kNoFixedFrame = 0xfffd, kInProgram = 0xfffe, kInLibrary = 0xffff };

constexpr std::size_t kPlaces = 8192;  // the three bindings make calls from some 3000 places
constexpr std::size_t kProbes = 32;
constinit std::atomic<std::uint64_t> known[kPlaces] = {};

std::size_t place_of(std::uintptr_t address) { return (address * 0x9e3779b97f4a7c15u) >> 51; }

// The meaning, or 0 if the address is new.
std::uint64_t recall(std::uintptr_t address) {
  const std::size_t place = place_of(address);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::uint64_t word = known[(place + i) % kPlaces].load(std::memory_order_relaxed);
    if (word >> 16 == address) return word & 0xffff;
    if (word == 0) return 0;
  }
  return 0;
}

void remember(std::uintptr_t address, std::uint64_t meaning) {
  const std::size_t place = place_of(address);
  for (std::size_t i = 0; i < kProbes; ++i) {
    std::uint64_t empty = 0;
    if (known[(place + i) % kPlaces].compare_exchange_strong(empty, address << 16 | meaning,
                                                             std::memory_order_relaxed)) {
      return;
    }
  }
}

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool begins(const char* text, const char* with) {
  return std::strncmp(text, with, std::strlen(with)) == 0;
}

// Whether a binding function with this name ("ompi_send_f", "pmpi_send_f08_", "MPI_SEND") serves
// `function` ("MPI_Send"). One that calls another MPI function does so for its own purposes
// (MPI_Gatherv's calls MPI_Comm_size).
bool serves(const char* binding, const char* function) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char* own = binding;
  while (*own != '\0' && *own != '_') ++own;
  function = std::strchr(function, '_');
  for (; function != nullptr && *function != '\0'; ++function, ++own) {
    if (lower(*own) != lower(*function)) return false;
  }
  return true;
}

std::uint64_t meaning_in_binding(const CallSites::Binding& binding, std::uintptr_t address,
                                 const char* function) {
  Dl_info info{};
  const bool has_name =
      dladdr(reinterpret_cast<void*>(address - 1), &info) != 0 && info.dli_sname != nullptr;
  if (function != nullptr && has_name && !serves(info.dli_sname, function)) return kInLibrary;
  // Looks up the call itself, which ends just before the address that it returns to.
  const std::int64_t size = frame_size_at(binding.frames, address - 1);
  const std::uint64_t words =
      size > 0 && size % 8 == 0 ? static_cast<std::uint64_t>(size) / 8 : kNoFixedFrame;
  return words < kNoFixedFrame ? words : std::uint64_t{kNoFixedFrame};
}

bool is_of_mpi_library(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
  const char* name = file_name(info.dli_fname);
  return begins(name, "libmpi.so") || begins(name, "libmpi_abi") || begins(name, "mca_") ||
         begins(name, "libmca_");
}

int add_binding(dl_phdr_info* info, std::size_t, void* found) {
  const char* name = info->dlpi_name == nullptr ? "" : file_name(info->dlpi_name);
  if (!begins(name, "libmpi_mpifh") && !begins(name, "libmpi_usempi")) return 0;
  CallSites::Binding binding{};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      binding.begin = begin;
      binding.size = segment.p_memsz;
    }
    if (segment.p_type == PT_GNU_EH_FRAME)
      binding.frames = reinterpret_cast<const std::uint8_t*>(begin);
  }
  if (binding.size != 0) (*static_cast<void (**)(const CallSites::Binding&)>(found))(binding);
  return 0;
}

}  // namespace

void CallSites::open() {
  void (*add)(const Binding&) = [](const Binding& binding) {
    if (binding_of(binding.begin) != nullptr || binding_count_ == kMaxBindings) return;
    bindings_[binding_count_] = binding;
    ++binding_count_;
    const std::uintptr_t end = binding.begin + binding.size, end_before = all_.begin + all_.size;
    all_.begin = all_.size == 0 ? binding.begin : std::min(all_.begin, binding.begin);
    all_.size = std::max(end, end_before) - all_.begin;
  };
  dl_iterate_phdr(add_binding, &add);
}

// Every address seems to lie in a binding, so that every call takes look_closer().
void CallSites::watch(void (*note)(const void* site)) {
  note_ = note;
  all_ = {0, ~std::uintptr_t{0}, nullptr};
}

const CallSites::Binding* CallSites::binding_of(std::uintptr_t address) {
  for (int i = 0; i < binding_count_; ++i) {
    if (address - bindings_[i].begin < bindings_[i].size) return &bindings_[i];
  }
  return nullptr;
}

const void* CallSites::look_closer(Caller caller, const char* function) {
  if (binding_of(reinterpret_cast<std::uintptr_t>(caller.return_address)) != nullptr) {
    const void* site = through_binding(caller, function);
    if (note_ != nullptr && depth() == 0 && site != nullptr) [[unlikely]]
      note_(site);
    return site;
  }
  if (depth() != 0) return nested(caller);
  if (note_ != nullptr) note_(caller.return_address);
  return caller.return_address;
}

const void* CallSites::through_binding(Caller caller, const char* function) {
  auto address = reinterpret_cast<std::uintptr_t>(caller.return_address);
  auto frame = reinterpret_cast<std::uintptr_t>(caller.frame);
  while (const Binding* binding = binding_of(address)) {
    std::uint64_t meaning = recall(address);
    if (meaning == 0) {
      meaning = meaning_in_binding(*binding, address, function);
      remember(address, meaning);
    }
    if (meaning == kInLibrary) return nullptr;
    if (meaning >= kNoFixedFrame) break;
    function = nullptr;  // outer binding functions call each other under other names
    frame += meaning * 8;
    address = *reinterpret_cast<const std::uintptr_t*>(frame - 8);
  }
  return reinterpret_cast<const void*>(address);
}

const void* CallSites::nested(Caller caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller.return_address);
  std::uint64_t meaning = recall(address);
  if (meaning == 0) {
    meaning = is_of_mpi_library(caller.return_address) ? kInLibrary : kInProgram;
    remember(address, meaning);
  }
  return meaning == kInLibrary ? nullptr : caller.return_address;
}

}  // namespace fathom::profiler
