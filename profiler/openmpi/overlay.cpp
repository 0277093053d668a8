// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/overlay.h"

#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/pml.h"
#include "profiler/process/settings.h"

namespace fathom::profiler {
namespace {

constexpr char kComponentPath[] = "OMPI_MCA_mca_base_component_path";
// Open MPI's own names for its two default folders (mca_base_component_repository.c).
constexpr char kDefaultPath[] = "SYSTEM_DEFAULT:USER_DEFAULT";

bool added = false;
std::optional<std::string> path_before;

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : path.substr(0, slash);
}

}  // namespace

std::string overlay_in_use() {
  const std::string file = file_of(find_in_mpi("PMPI_Init"));
  if (file.empty()) return {};
  const std::string folder = parent(parent(file));
  return access((folder + "/replaces/libmpi.so.40").c_str(), F_OK) == 0 ? folder : std::string();
}

bool overlay_was_offered() { return !environment_value("FATHOM_OVERLAY").empty(); }

void add_overlay_components() {
  const std::string overlay = overlay_in_use();
  if (overlay.empty() || added) return;
  const char* before = getenv(kComponentPath);
  path_before = before == nullptr ? std::nullopt : std::optional<std::string>(before);
  const std::string rest = path_before
                               ? *path_before
                               : setting_in_files("mca_base_component_path").value_or(kDefaultPath);
  added = setenv(kComponentPath, (overlay + "/lib:" + rest).c_str(), 1) == 0;
}

void forget_overlay_components() {
  if (!added) return;
  added = false;
  if (path_before) {
    setenv(kComponentPath, path_before->c_str(), 1);
  } else {
    unsetenv(kComponentPath);
  }
}

}  // namespace fathom::profiler
