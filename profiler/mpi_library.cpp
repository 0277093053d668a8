#include "profiler/mpi_library.h"

#include <dlfcn.h>

#include <cstring>

namespace fathom::profiler {
namespace {

// The sonames under which Open MPI 4 and 5 install the library.
constexpr const char* kSonames[] = {"libmpi.so.40", "libmpi.so"};

void* libmpi() {
  static void* handle = nullptr;
  for (int i = 0; handle == nullptr && i < 2; ++i) {
    handle = dlopen(kSonames[i], RTLD_LAZY | RTLD_NOLOAD);
  }
  return handle;
}

}  // namespace

void* find_in_mpi(const char* name) {
  void* library = libmpi();
  return library == nullptr ? nullptr : dlsym(library, name);
}

void* find_variable_in_mpi(const char* name) {
  void* global = dlsym(RTLD_DEFAULT, name);
  return global != nullptr ? global : find_in_mpi(name);
}

std::string mpi_library_path() {
  Dl_info info{};
  void* symbol = find_in_mpi("PMPI_Init");
  return symbol != nullptr && dladdr(symbol, &info) != 0 ? info.dli_fname : std::string();
}

void* find_other_tool(const char* name) {
  void* next = dlsym(RTLD_NEXT, name);
  if (next == nullptr) return nullptr;
  Dl_info found{}, library{};
  void* own = find_in_mpi(name);
  if (own == nullptr || dladdr(next, &found) == 0 || dladdr(own, &library) == 0) return nullptr;
  return found.dli_fbase == library.dli_fbase ? nullptr : next;
}

}  // namespace fathom::profiler
