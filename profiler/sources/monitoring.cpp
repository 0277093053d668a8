// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/sources/monitoring.h"

#include <dlfcn.h>

#include <cstdlib>

#include "profiler/counting/profiled_process.h"
#include "profiler/openmpi/modules.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/performance_variables.h"
#include "profiler/sources/source_pml.h"

namespace fathom::profiler {
namespace {

constexpr const char* kEnable = "OMPI_MCA_pml_monitoring_enable";
bool requested = false;

// Bound to MPI_COMM_WORLD: one value per peer. With pml_monitoring_enable=2 they count only the
// program's messages; the library's are in arrays that no variable exposes (common_monitoring.c).
constexpr const char* kMessages = "pml_monitoring_messages_count";
constexpr const char* kBytes = "pml_monitoring_messages_size";

// Open MPI 4.1 invalidates the variables of pml_monitoring when it closes the PMLs that it did not
// select (mca_base_pvar_mark_invalid; MPI_T_pvar_get_index then fails), although the component goes
// on counting. Its own registration function makes them valid again.
void make_variables_valid() {
  void* library = dlopen("libmca_common_monitoring.so.50", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  const auto do_register =
      reinterpret_cast<void (*)(void*)>(dlsym(library, "mca_common_monitoring_register"));
  if (do_register != nullptr) do_register(nullptr);
}

PerformanceVariables& variables() {
  static auto* monitoring = new PerformanceVariables;  // outlives MPI_Finalize
  return *monitoring;
}

}  // namespace

void request_monitoring() {
  requested = std::getenv(kEnable) == nullptr && setenv(kEnable, "2", 1) == 0;
}

void take_back_monitoring_request() {
  if (requested) unsetenv(kEnable);
}

bool open_monitoring(ProfiledProcess& process, std::string& reason) {
  make_variables_valid();
  std::vector<std::string> unknown;
  variables().open({kMessages, kBytes}, true, unknown);
  if (!unknown.empty()) {
    reason =
        "Open MPI's pml_monitoring is not loaded; leave the parameter pml unset, or set it to "
        "ob1,monitoring";
    return false;
  }
  unhook_pml();
  process.run_text().add("witness-sent", "mpi_t");
  process.run_text().add("note",
                         "source mpi_t shows what Open MPI's pml_monitoring counts: not a "
                         "program's persistent sends, not "
                         "messages to other worlds, nothing inside collectives, and all "
                         "communicators as one; it can crash "
                         "jobs that use neighbourhood collectives on distributed graphs");
  return true;
}

void restart_monitoring() { variables().restart(); }

void collect_monitoring(ProfiledProcess& process) {
  const auto readings = variables().read();
  if (readings.size() != 2) return;
  const bool messages_first = readings[0].name == kMessages;
  const auto& messages = readings[messages_first ? 0 : 1].values;
  const auto& bytes = readings[messages_first ? 1 : 0].values;
  const Live* world = process.communicators().find(find_variable_in_mpi("ompi_mpi_comm_world"));
  if (world != nullptr) {
    process.counter().record(profile::Direction::kInvisible, world->kind, kLibrary, world->group,
                             module_number("pml/monitoring"), 0);
  }
  for (std::size_t peer = 0; world != nullptr && peer < messages.size() && peer < bytes.size();
       ++peer) {
    process.counter().record_sum(profile::Direction::kSent, world->kind, kPointToPoint,
                                 world->group, static_cast<std::uint32_t>(peer),
                                 static_cast<std::uint64_t>(bytes[peer]),
                                 static_cast<std::uint64_t>(messages[peer]));
  }
}

}  // namespace fathom::profiler
