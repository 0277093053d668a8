// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/mpi_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "profiler/openmpi/loaded_symbols.h"
#include "rankmap/releases.h"

namespace fathom::profiler {
namespace {

// The sonames under which Open MPI 4 to 6 install the library, and 6 that of the standard ABI.
constexpr const char* kSonames[] = {"libmpi.so.40", "libmpi.so"};
constexpr const char* kAbiSonames[] = {"libmpi_abi.so.1", "libmpi_abi.so"};

// MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI 4.1, 8192 in MPICH and in the standard ABI.
constexpr std::size_t kLongestVersion = 8192;

const void* base_of(const void* address) {
  Dl_info found{};
  return address != nullptr && dladdr(address, &found) != 0 ? found.dli_fbase : nullptr;
}

struct Mpi {
  std::string name;
  bool is_known = false;
  bool is_standard_abi = false;
};

// "Open MPI v4.1.4, package: …" -> "Open MPI v4.1.4";
// "MPICH Version:\t4.0.2\nMPICH …" -> "MPICH Version: 4.0.2"
std::string first_words(std::string text) {
  text.resize(std::min(text.find_first_of(",\n"), text.size()));
  for (char& c : text) {
    if (c == '\t') c = ' ';
  }
  return text;
}

std::string file_name_of(const void* function) {
  const std::string path = file_of(function);
  return path.substr(path.rfind('/') + 1);
}

// Null if there is no MPI library.
std::unique_ptr<Mpi> look() {
  void* function = next_definition("PMPI_Get_library_version");
  if (function == nullptr) return nullptr;
  auto mpi = std::make_unique<Mpi>();
  std::string text(kLongestVersion, '\0');
  int length = 0;
  if (reinterpret_cast<int (*)(char*, int*)>(function)(text.data(), &length) == 0) {  // MPI_SUCCESS
    text.resize(std::strlen(text.data()));
    mpi->name = first_words(text);
  }
  const std::string file = file_name_of(function);
  // Debian calls it libmpi_abi_openmpi. One without Open MPI's table is another MPI's.
  mpi->is_standard_abi = file.starts_with("libmpi_abi") && find_in_any_object("mca_pml") != nullptr;
  mpi->is_known = (mpi->is_standard_abi || file.starts_with("libmpi.so")) &&
                  openmpi::is_known_series(openmpi::version_of(mpi->name));
  return mpi;
}

// Takes no lock: the library in question may call MPI functions, which arrive here again.
const Mpi* the_mpi() noexcept try {
  static std::atomic<const Mpi*> decided{nullptr};
  const Mpi* known = decided.load(std::memory_order_acquire);
  if (known != nullptr) return known;
  std::unique_ptr<const Mpi> seen = look();
  if (seen != nullptr && decided.compare_exchange_strong(known, seen.get())) known = seen.release();
  return known;  // never freed
} catch (...) {
  return nullptr;
}

void* known_library() {
  static std::atomic<void*> handle{nullptr};
  for (const char* soname : program_uses_standard_abi() ? kAbiSonames : kSonames) {
    if (handle.load(std::memory_order_relaxed) != nullptr) break;
    handle.store(dlopen(soname, RTLD_LAZY | RTLD_NOLOAD), std::memory_order_relaxed);
  }
  return handle.load(std::memory_order_relaxed);
}

}  // namespace

bool mpi_is_loaded() { return the_mpi() != nullptr; }

std::string mpi_library_name() {
  const Mpi* mpi = the_mpi();
  return mpi == nullptr ? std::string() : mpi->name;
}

bool open_mpi_is_known() {
  const Mpi* mpi = the_mpi();
  return mpi != nullptr && mpi->is_known;
}

bool program_uses_standard_abi() {
  const Mpi* mpi = the_mpi();
  return mpi != nullptr && mpi->is_known && mpi->is_standard_abi;
}

void* find_in_mpi(const char* name) {
  void* library = open_mpi_is_known() ? known_library() : nullptr;
  return library == nullptr ? nullptr : dlsym(library, name);
}

void* find_variable_in_mpi(const char* name) {
  void* global = dlsym(RTLD_DEFAULT, name);
  return global != nullptr ? global : find_in_mpi(name);
}

std::string file_of(const void* address) {
  Dl_info found{};
  return dladdr(address, &found) != 0 && found.dli_fname != nullptr ? found.dli_fname
                                                                    : std::string();
}

std::string open_mpi_path() { return file_of(find_in_mpi("opal_init_util")); }

void* find_other_tool(const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) return nullptr;
  const void* library = base_of(find_in_mpi(name));
  return library == nullptr || base_of(next) == nullptr || base_of(next) == library ? nullptr
                                                                                    : next;
}

void* next_definition(const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  return next != nullptr ? next : find_in_any_object(name);
}

}  // namespace fathom::profiler
