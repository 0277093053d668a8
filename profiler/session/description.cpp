// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/session/description.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "base/program_name.h"
#include "profiler/openmpi/mpi_library.h"
#include "profiler/openmpi/overlay.h"
#include "profiler/openmpi/pml.h"
#include "profiler/process/run_directory.h"

namespace fathom::profiler::session {

namespace {

std::string executable_path() {
  char buffer[4096];
  const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
  return length > 0 ? std::string(buffer, static_cast<std::size_t>(length)) : std::string();
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string program_name() {
  std::vector<std::string> arguments = command_line();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  return base::program_name(executable_path(), arguments);
}

// "Open MPI v4.1.4" -> "4.1.4"
std::string library_version() { return mpi_library_name().substr(std::strlen("Open MPI v")); }

void describe_peruse(ProfiledProcess& process, const ChosenPml& pml) {
  RowsText& text = process.run_text();
  if (!pml.by_settings.empty()) {
    text.add("note", "Open MPI's settings choose the PML (pml = " + pml.by_settings +
                         "); Fathom did not change it");
  }
  if (pml.forced_by_fathom) {
    text.add("note",
             "this run used pml/ob1, because only that fires the PERUSE events which --source "
             "peruse asks for; otherwise Open MPI chooses the PML itself");
  }
  if (const std::string overlay = overlay_in_use(); !overlay.empty()) {
    process.text().add("note", "PERUSE comes from libmpi and pml/ob1 in " + overlay +
                                   "; everything else is the installed Open MPI's");
  }
}

void describe_settings(ProfiledProcess& process) {
  if (!process.settings().bad_waits.empty())
    process.run_text().add("note", "FATHOM_WAITS_MEMORY=" + process.settings().bad_waits +
                                       " was not understood (expected bytes, such as 16M); the "
                                       "default was used");
}

}  // namespace

void describe_process(ProfiledProcess& process, const ChosenPml& pml) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  process.text().add("host", host);
  process.run_text().add("executable", executable_path());
  bool first = true;
  for (const std::string& word : command_line()) {
    if (!first) process.run_text().add("argument", word);
    first = false;
  }
  process.run_text().add("library", "Open MPI");
  process.run_text().add("version", library_version());
  process.run_text().add("pml", selected_pml());
  for (std::uint32_t i = 0; i < kClassCount; ++i) {
    const std::string number = std::to_string(i);
    if (i == kPosted) {
      process.run_text().add("posted", number + " " + kClassNames[i]);
    } else {
      process.run_text().add("class",
                             number + (i == kPointToPoint ? " 0 " : " 1 ") + kClassNames[i]);
    }
  }
  if (process.source() == SourceName::kPeruse) describe_peruse(process, pml);
  describe_settings(process);
}

// The intercommunicator to the processes that spawned this world; null if there is none.
const void* parent_comm() {
  void* const* parent = static_cast<void* const*>(find_variable_in_mpi("ompi_mpi_comm_parent"));
  const bool has_parent = parent != nullptr && *parent != nullptr &&
                          *parent != find_variable_in_mpi("ompi_mpi_comm_null");
  return has_parent ? *parent : nullptr;
}

std::string name_run_directory(ProfiledProcess& process) {
  const Settings& settings = process.settings();
  const std::uint32_t job = process.header().job;
  std::string directory = settings.output;
  if (directory.empty()) {
    directory = settings.start_directory + "/fathom-" + program_name() + "-" + std::to_string(job);
  }
  if (parent_comm() != nullptr) {
    directory = world_directory(directory, job);
    process.run_text().add("world", "world-" + std::to_string(job));
  }
  return is_taken(directory, job) ? further_job_directory(directory, job) : directory;
}

}  // namespace fathom::profiler::session
