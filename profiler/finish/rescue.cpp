// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/finish/rescue.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "profiler/finish/rows_writer.h"
#include "profiler/process/exported.h"
#include "profiler/process/run_directory.h"

namespace fathom::profiler {
namespace {

constexpr int kSignals[] = {SIGTERM,   SIGINT,  SIGHUP,  SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                            SIGABRT,   SIGQUIT, SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM,
                            SIGVTALRM, SIGPROF, SIGPIPE, SIGSYS,  SIGTRAP, SIGIO};

struct Paths {
  char run[PATH_MAX], partial[PATH_MAX], file[PATH_MAX], temporary[PATH_MAX];
};

Paths in_run, in_own;  // RUN; RUN/job-JOB, used if another job marked RUN first
std::uint32_t job = 0;
pid_t owner = 0;
std::atomic<bool> armed{false};
bool handled[NSIG] = {};
struct sigaction
    previous[NSIG];  // the action before ours: the default, or a runtime's stack tracer

// Collects small pieces, so that a profile of a few rows is one write.
class FileSink {
 public:
  explicit FileSink(int descriptor) : descriptor_(descriptor) {}
  void operator()(const void* data, std::size_t size) {
    if (used_ + size > sizeof buffer_) flush();
    if (size > sizeof buffer_) return put(data, size);
    std::memcpy(buffer_ + used_, data, size);
    used_ += size;
  }
  bool finish() {
    flush();
    return good_;
  }

 private:
  void flush() {
    put(buffer_, used_);
    used_ = 0;
  }
  void put(const void* data, std::size_t size) {
    const char* at = static_cast<const char*>(data);
    while (good_ && size > 0) {
      const ssize_t written = write(descriptor_, at, size);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        good_ = false;
        return;
      }
      at += written;
      size -= static_cast<std::size_t>(written);
    }
  }

  int descriptor_;
  bool good_ = true;
  std::size_t used_ = 0;
  char buffer_[4096];
};

// fill(FileSink&) writes the content.
template <typename Fill>
bool write_file(Fill&& fill) {
  mkdir(in_run.run, 0777);
  const Paths& paths = is_marked_for_another(in_run.run, job) ? in_own : in_run;
  mkdir(paths.run, 0777);
  mkdir(paths.partial, 0777);
  const int descriptor = open(paths.temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return false;
  FileSink sink(descriptor);
  fill(sink);
  const bool written = sink.finish();
  close(descriptor);
  // A full disk cuts the file short; the reader uses what is there.
  rename(paths.temporary, paths.file);
  return written;
}

// Open MPI prints a stack trace from handlers that fire once (opal/util/stacktrace.c).
bool fires_once(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && (action.sa_flags & SA_RESETHAND) != 0;
}

// gfortran's runtime prints a backtrace and then lets the signal end the program.
bool is_gfortrans(const struct sigaction& action) {
  Dl_info found{};
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler != SIG_DFL &&
         action.sa_handler != SIG_IGN &&
         dladdr(reinterpret_cast<const void*>(action.sa_handler), &found) != 0 &&
         found.dli_fname != nullptr && std::strstr(found.dli_fname, "libgfortran") != nullptr;
}

// mpirun ends a job with SIGTERM and, a second later, SIGKILL. That second is cut short: the first
// process to die interrupts mpirun's sleep() (orte/mca/odls/base/odls_base_default_fns.c:1943), and
// neighbours that are still writing are killed. So a process that has written stays half a second.
void let_neighbours_write(int number, const siginfo_t* info) {
  if (number != SIGTERM || info == nullptr || info->si_code != SI_USER || info->si_pid == getpid())
    return;
  const timespec half_of_the_grace{0, 500'000'000};
  nanosleep(&half_of_the_grace, nullptr);
}

std::atomic<void (*)() noexcept> user_signal{nullptr};  // what SIGUSR2 means; null: the end

void on_signal(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (const auto instead = user_signal.load(); number == SIGUSR2 && instead != nullptr)
    return instead();
  rescue(profile::EndReason::kSignal, static_cast<std::uint32_t>(number));
  let_neighbours_write(number, info);
  errno = saved_errno;
  if (fires_once(previous[number])) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(number, &standard, nullptr);
    return previous[number].sa_sigaction(number, info, context);
  }
  sigaction(number, &previous[number], nullptr);
  raise(number);  // delivered to the previous action when this handler returns
}

void name_paths(Paths& paths, const std::string& run, std::uint32_t rank) {
  std::snprintf(paths.run, PATH_MAX, "%s", run.c_str());
  std::snprintf(paths.partial, PATH_MAX, "%s/partial", run.c_str());
  std::snprintf(paths.file, PATH_MAX, "%s/partial/%u.%u.rows", run.c_str(), job, rank);
  std::snprintf(paths.temporary, PATH_MAX, "%s/partial/%u.%u.tmp", run.c_str(), job, rank);
}

void on_exit() { rescue(profile::EndReason::kExit, 0); }

}  // namespace

void arm_rescue(const std::string& run, std::uint32_t own_job, std::uint32_t rank) {
  if (run.size() + 64 > PATH_MAX) return;
  job = own_job;
  name_paths(in_run, run, rank);
  name_paths(in_own, further_job_directory(run, job), rank);
  owner = getpid();
  static bool at_exit_registered = false;
  if (!at_exit_registered) {
    at_exit_registered = std::atexit(on_exit) == 0 && std::at_quick_exit(on_exit) == 0;
  }
  armed.store(true);
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  for (const int number : kSignals) {
    struct sigaction& before = previous[number];
    if (sigaction(number, nullptr, &before) != 0) continue;
    const bool is_default = (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL;
    if (!is_default && !fires_once(before) && !is_gfortrans(before)) continue;  // the program's own
    handled[number] = sigaction(number, &ours, nullptr) == 0;
  }
}

void take_user_signal(void (*instead)() noexcept) { user_signal.store(instead); }

void disarm_rescue() {
  armed.store(false);
  for (const int number : kSignals) {
    struct sigaction now {};
    if (!handled[number] || sigaction(number, nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal) {
      sigaction(number, &previous[number], nullptr);
    }
    handled[number] = false;
  }
}

void take_back_rows() noexcept {
  unlink(in_run.file);
  unlink(in_own.file);
}

void rescue(profile::EndReason reason, std::uint32_t detail) noexcept {
  // The pid first: a child of vfork shares this memory.
  if (getpid() != owner || !armed.exchange(false)) return;
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr) return;
  write_file([&](FileSink& sink) { write_rows(*process, reason, detail, true, sink); });
}

bool rescue_collected(const char* rows, std::size_t size) noexcept {
  return write_file([&](FileSink& sink) { sink(rows, size); });
}

extern "C" {

// For programs that leave without exit(), for instance from a signal handler of their own.
FATHOM_EXPORT void _exit(int status) {
  rescue(profile::EndReason::kExit, 0);
  for (;;) syscall(SYS_exit_group, status);
}

FATHOM_EXPORT void _Exit(int status) { _exit(status); }

// gfortran's runtime resets SIGABRT to its default before it calls abort() (sys_abort), so a signal
// handler is not enough.
FATHOM_EXPORT void abort() {
  rescue(profile::EndReason::kSignal, SIGABRT);
  const auto next = reinterpret_cast<void (*)()>(dlsym(RTLD_NEXT, "abort"));
  if (next != nullptr) next();
  for (;;) syscall(SYS_exit_group, 128 + SIGABRT);
}

}  // extern "C"

}  // namespace fathom::profiler
