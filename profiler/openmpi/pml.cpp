// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/openmpi/pml.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "profiler/openmpi/mpi_library.h"
#include "profiler/process/settings.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler {
namespace {

std::optional<std::string> setting_in_file(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string key, equals, value;
    std::getline(words, key, '=');
    words >> value;
    key.erase(key.find_last_not_of(" \t") + 1);
    key.erase(0, key.find_first_not_of(" \t"));
    if (key == name && !value.empty()) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string selected_pml() {
  const void* component = find_variable_in_mpi("mca_pml_base_selected_component");
  if (component == nullptr) return {};
  return static_cast<const char*>(component) + openmpi::kPmlComponentName;
}

std::optional<std::string> setting_in_files(const std::string& name) {
  std::string files = environment_value("OMPI_MCA_mca_base_param_files");
  if (files.empty()) {
    // The user's file comes first, because Open MPI lets it override the installation's.
    files = environment_value("HOME") +
            "/.openmpi/mca-params.conf:/etc/openmpi/openmpi-mca-params.conf";
    const std::string library = open_mpi_path();
    const auto folder = library.rfind("/lib", library.rfind('/') - 1);
    if (folder != std::string::npos)
      files += ":" + library.substr(0, folder) + "/etc/openmpi-mca-params.conf";
  }
  std::replace(files.begin(), files.end(), ',', ':');
  std::istringstream paths(files);
  for (std::string path; std::getline(paths, path, ':');) {
    if (auto value = setting_in_file(path, name)) return value;
  }
  return std::nullopt;
}

bool user_chose_pml(std::string& choice) {
  choice = environment_value("OMPI_MCA_pml");
  if (choice.empty()) choice = setting_in_files("pml").value_or("");
  return !choice.empty();
}

}  // namespace fathom::profiler
