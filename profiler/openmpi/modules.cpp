// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/modules.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <vector>

#include "profiler/openmpi/mpi_library.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

using rankmap::field;

// Components in ompi/mca/coll that send every byte through mca_pml or call a module that does.
// `self` serves communicators of one process, where nothing is sent.
constexpr std::array<std::string_view, 13> kThroughPml = {
    "basic", "tuned", "base",       "libnbc", "inter", "sync", "han",
    "adapt", "self",  "monitoring", "cuda",   "demo",  "nbc"};

std::mutex lock;
std::vector<std::string>& names() {
  static std::vector<std::string> known;
  return known;
}

// The component: "tuned" in "mca_coll_tuned_module_t", "han" in "mca_coll_han_module_t", "libnbc"
// in "ompi_coll_libnbc_module_t".
std::string_view component_in(std::string_view class_name) {
  const auto start = class_name.find("coll_");
  if (start == std::string_view::npos) return class_name;
  class_name.remove_prefix(start + 5);
  return class_name.substr(0, class_name.find("_module"));
}

// Since 6.0, coll/han's alltoall and alltoallv copy from the memory of the other processes of the
// host, if the component of opal/mca/smsc can map it, as XPMEM's can
// (mca_coll_han_alltoall_using_smsc in ompi/mca/coll/han/coll_han_alltoall.c). Only what goes to
// other hosts is sent.
bool copies_inside_hosts(std::string_view component, std::ptrdiff_t offset) {
  if (component != "han" ||
      (offset != openmpi::kModule_alltoall && offset != openmpi::kModule_alltoallv)) {
    return false;
  }
  constexpr std::uint64_t kCanMap = 2;  // MCA_SMSC_FEATURE_CAN_MAP in the first member
  const auto* smsc = static_cast<const void* const*>(find_variable_in_mpi("mca_smsc"));
  return smsc != nullptr && *smsc != nullptr && (field<std::uint64_t>(*smsc, 0) & kCanMap) != 0;
}

// What is between `begin` and the next `end` in a text, which may be null; empty if it is not there.
std::string between(const char* text, std::string_view begin, char end) {
  const std::string_view whole = text == nullptr ? "" : text;
  const auto start = whole.find(begin);
  if (start == std::string_view::npos) return {};
  const std::string_view rest = whole.substr(start + begin.size());
  return std::string(rest.substr(0, rest.find(end)));
}

}  // namespace

std::uint32_t module_number(const std::string& name) {
  const std::lock_guard guard(lock);
  auto& known = names();
  const auto found = std::find(known.begin(), known.end(), name);
  if (found != known.end()) return static_cast<std::uint32_t>(found - known.begin()) + 1;
  known.push_back(name);
  return static_cast<std::uint32_t>(known.size());
}

std::uint32_t bypassing_module(const void* comm, std::ptrdiff_t offset) try {
  const void* table = field<const void*>(comm, openmpi::layout().comm_collectives);
  const void* module = table == nullptr ? nullptr : field<const void*>(table, offset);
  if (module == nullptr) return 0;
  const void* object_class = field<const void*>(module, openmpi::kObjectClass);
  const char* class_name = field<const char*>(object_class, openmpi::kClassName);
  const std::string_view component = component_in(class_name);
  const bool sends =
      std::find(kThroughPml.begin(), kThroughPml.end(), component) != kThroughPml.end();
  if (sends && !copies_inside_hosts(component, offset)) return 0;
  return module_number("coll/" + std::string(component));
} catch (...) {
  return 0;
}

// A window's module is a table of functions. They lie in the component's own file, mca_osc_NAME.so,
// or, as since 5.0 by default, in the library and are called ompi_osc_NAME_put.
std::uint32_t bypassing_window_module(const void* window) try {
  const void* module = field<const void*>(window, openmpi::layout().window_module);
  for (int entry = 0; entry < 8; ++entry) {
    Dl_info info{};
    const void* function = field<const void*>(module, entry * static_cast<int>(sizeof(void*)));
    if (function == nullptr || dladdr(function, &info) == 0) continue;
    std::string component = between(info.dli_fname, "mca_osc_", '.');
    if (component.empty()) component = between(info.dli_sname, "ompi_osc_", '_');
    if (component == "pt2pt") return 0;
    if (!component.empty()) return module_number("osc/" + component);
  }
  return module_number("osc/unknown");
} catch (...) {
  return 0;
}

std::string module_name(std::uint32_t number) {
  const std::lock_guard guard(lock);
  return number >= 1 && number <= names().size() ? names()[number - 1] : std::string();
}

}  // namespace fathom::profiler
