// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/keeper_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace fathom::profiler {
namespace {

constexpr int kPatience_ms = 5000;
constexpr std::size_t kStackBytes = 64 << 10;

// It is installed beside this library.
std::string keeper_path() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&start_keeper), &own) == 0 || own.dli_fname == nullptr)
    return "";
  const std::string library = own.dli_fname;
  const auto slash = library.find_last_of('/');
  return (slash == std::string::npos ? "." : library.substr(0, slash)) + "/fathom-keeper";
}

struct Start {
  const char* path;
  char* const* argv;
  int inherited[3];
  char* stack;  // of the keeper until it is one
  int error;    // of exec
};

// Past the library's own _exit (finish/rescue.h).
[[noreturn]] void end_here() {
  for (;;) syscall(SYS_exit_group, 0);
}

// Both run in the memory of this process while the thread that started them waits, so they only make
// system calls. Their descriptors are their own.
int become_keeper(void* given) {
  auto* start = static_cast<Start*>(given);
  setsid();
  for (const int descriptor : start->inherited) fcntl(descriptor, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char* const no_environment[] = {nullptr};  // LD_PRELOAD above all
  execve(start->path, start->argv, no_environment);
  start->error = errno;
  end_here();
}

int leave_keeper(void* given) {
  auto* start = static_cast<Start*>(given);
  const int child = clone(become_keeper, start->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, given);
  if (child < 0) start->error = errno;
  end_here();
}

bool answers(int descriptor) {
  pollfd ready{descriptor, POLLIN, 0};
  int events = 0;
  do events = poll(&ready, 1, kPatience_ms);
  while (events < 0 && errno == EINTR);
  char byte = 0;
  if (events == 1 && read(descriptor, &byte, 1) == 1) return true;
  errno = events == 0 ? ETIMEDOUT : ECHILD;
  return false;
}

}  // namespace

bool start_keeper(const KeeperPlan& plan) {
  const std::string path = keeper_path();
  if (access(path.c_str(), X_OK) != 0) return false;
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return false;
  std::vector<std::string> words = {"fathom-keeper",
                                    std::to_string(plan.memory),
                                    std::to_string(plan.definitions),
                                    std::to_string(ready[1]),
                                    std::to_string(getpid()),
                                    std::to_string(plan.job),
                                    std::to_string(plan.rank),
                                    plan.run};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char> stacks(2 * kStackBytes);
  const auto top = [&stacks](std::size_t number) {
    return reinterpret_cast<char*>(
        reinterpret_cast<std::uintptr_t>(stacks.data() + number * kStackBytes) &
        ~std::uintptr_t{15});
  };
  Start start{path.c_str(), argv.data(), {plan.memory, plan.definitions, ready[1]}, top(2), 0};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // No signal is named, so the end of this go-between raises none.
  const int between = clone(leave_keeper, top(1), CLONE_VM | CLONE_VFORK, &start);
  const int error = between < 0 ? errno : start.error;
  if (between > 0) {
    while (waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ready[1]);
  const bool started = error == 0 && answers(ready[0]);
  const int why = error != 0 ? error : errno;
  close(ready[0]);
  errno = why;
  return started;
}

}  // namespace fathom::profiler
