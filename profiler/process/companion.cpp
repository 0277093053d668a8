// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/process/companion.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace fathom::profiler {
namespace {

constexpr std::size_t kCompanionStackBytes = 64 << 10;

std::string beside_this_library(const std::string& name) {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&start_companion), &own) == 0 ||
      own.dli_fname == nullptr)
    return "";
  const std::string library = own.dli_fname;
  const auto slash = library.find_last_of('/');
  return (slash == std::string::npos ? "." : library.substr(0, slash)) + "/" + name;
}

struct CompanionStart {
  const char* path;
  char* const* argv;
  const int* inherited;
  std::size_t inherited_count;
  char* stack;  // of the companion until it is one
  int error;    // of exec
};

// Past the library's own _exit (finish/rescue.h).
[[noreturn]] void end_go_between() {
  for (;;) syscall(SYS_exit_group, 0);
}

// Both run in the memory of this process while the thread that started them waits, so they only make
// system calls. Their descriptors are their own.
int become_companion(void* given) {
  auto* start = static_cast<CompanionStart*>(given);
  setsid();
  // The program's own output is closed even if the companion's libraries are missing, which the
  // dynamic linker would say there.
  const int nowhere = open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; ++standard) dup2(nowhere, standard);
  if (nowhere > 2) close(nowhere);
  for (std::size_t i = 0; i < start->inherited_count; ++i) fcntl(start->inherited[i], F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char* const no_environment[] = {nullptr};
  execve(start->path, start->argv, no_environment);
  start->error = errno;
  end_go_between();
}

int leave_companion(void* given) {
  auto* start = static_cast<CompanionStart*>(given);
  const int child = clone(become_companion, start->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, given);
  if (child < 0) start->error = errno;
  end_go_between();
}

}  // namespace

bool start_companion(std::vector<std::string> words, const std::vector<int>& inherited) {
  const std::string path = beside_this_library(words.front());
  if (access(path.c_str(), X_OK) != 0) return false;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char> stacks(2 * kCompanionStackBytes);
  const auto top = [&stacks](std::size_t number) {
    return reinterpret_cast<char*>(
        reinterpret_cast<std::uintptr_t>(stacks.data() + number * kCompanionStackBytes) &
        ~std::uintptr_t{15});
  };
  CompanionStart start{path.c_str(), argv.data(), inherited.data(), inherited.size(), top(2), 0};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // No signal is named, so the end of this go-between raises none.
  const int between = clone(leave_companion, top(1), CLONE_VM | CLONE_VFORK, &start);
  const int error = between < 0 ? errno : start.error;
  if (between > 0) {
    while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return error == 0;
}

}  // namespace fathom::profiler
