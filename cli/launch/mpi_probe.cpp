// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/mpi_probe.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "cli/launch/captured_output.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kPatience_ms = 10'000;  // for a library that hangs while loading, and for a launcher
constexpr char kDefaultLibrary[] = "libmpi.so.40";

// Fixed size, so that a single write to a pipe transfers all of it.
struct Answer {
  bool has_peruse;
  bool has_mca_pml;
  char path[2048];
  char version[1024];
};
static_assert(sizeof(Answer) <= PIPE_BUF);

// In the child.
void load_and_tell(const char* library, int out) {
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDERR_FILENO);
  void* mpi = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (!mpi) _exit(1);
  Answer answer = {};
  answer.has_peruse = dlsym(mpi, "PERUSE_Event_comm_register") != nullptr;
  answer.has_mca_pml = dlsym(mpi, "mca_pml") != nullptr;
  using GetVersion = int (*)(char*, int*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(mpi, "MPI_Get_library_version"));
  if (get_version) {
    char text[8192] = {};
    int length = 0;
    get_version(text, &length);
    std::snprintf(answer.version, sizeof answer.version, "%.1000s", text);
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(get_version), &info) && info.dli_fname) {
      std::snprintf(answer.path, sizeof answer.path, "%.2000s", info.dli_fname);
    }
  }
  (void)!write(out, &answer, sizeof answer);
  _exit(0);
}

std::string first_part(const char* version) {
  const std::string text(version);
  return text.substr(0, text.find_first_of(",\n"));
}

}  // namespace

std::optional<MpiFacts> probe_mpi(const std::string& library) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) load_and_tell(library.c_str(), channel[1]);
  close(channel[1]);
  Answer answer;
  pollfd waiting = {channel[0], POLLIN, 0};
  const bool answered = child > 0 && poll(&waiting, 1, kPatience_ms) == 1 &&
                        read(channel[0], &answer, sizeof answer) == sizeof answer;
  close(channel[0]);
  if (child > 0) {
    if (!answered) kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (!answered) return std::nullopt;
  std::error_code failed;
  const fs::path real = fs::canonical(answer.path, failed);
  return MpiFacts{failed ? answer.path : real.string(), first_part(answer.version),
                  answer.has_peruse, answer.has_mca_pml};
}

std::vector<MpiFacts> probe_launcher(const std::string& launcher) {
  std::vector<std::string> candidates = {kDefaultLibrary};
  std::error_code failed;
  // Both ends of a symbolic link are tried. Debian's alternatives lead from bin/mpirun to
  // bin/mpirun.openmpi within one prefix, but a link in ~/bin leads to another prefix.
  const fs::path found = find_on_path(launcher);
  for (const fs::path& program : {found, fs::canonical(found, failed)}) {
    if (program.empty()) continue;
    const fs::path prefix = program.parent_path().parent_path();
    for (const char* folder : {"lib", "lib64"}) {
      const fs::path path = prefix / folder / kDefaultLibrary;
      if (fs::exists(path, failed)) candidates.push_back(path);
    }
  }
  std::vector<MpiFacts> found_libraries;
  for (const std::string& candidate : candidates) {
    const auto facts = probe_mpi(candidate);
    bool known = !facts;
    for (const MpiFacts& other : found_libraries) known = known || other.path == facts->path;
    if (!known) found_libraries.push_back(*facts);
  }
  return found_libraries;
}

std::string launcher_release(const std::string& launcher) {
  constexpr std::string_view kName = "(Open MPI) ";
  const std::string said =
      captured_output({launcher, "--version"}, std::chrono::milliseconds(kPatience_ms))
          .value_or("");
  const std::size_t at = said.find(kName);
  if (at == said.npos) return "";
  const std::string release = said.substr(at + kName.size());
  return release.substr(0, release.find_first_of(" \n"));
}

std::string find_on_path(const std::string& command) {
  if (command.find('/') != command.npos) return access(command.c_str(), X_OK) == 0 ? command : "";
  const char* variable = std::getenv("PATH");
  const std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const fs::path candidate = fs::path(path.substr(at, end - at)) / command;
    std::error_code failed;
    if (fs::is_regular_file(candidate, failed) && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    at = end + 1;
  }
  return "";
}

}  // namespace fathom::cli
