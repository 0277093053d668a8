#include "cli/job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fathom::cli {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

volatile pid_t job_pid = 0;  // written before the handlers are installed

// Ctrl-C reaches the job without us: the kernel signals the terminal's whole process group. Sent a
// second time it would make mpirun give up its orderly shutdown.
void pass_on(int signal_number, siginfo_t* info, void*) {
  const int saved = errno;
  if (info->si_code != SI_KERNEL && job_pid > 0) kill(job_pid, signal_number);
  errno = saved;
}

// Signals that are ignored (nohup) stay ignored, here and by the job, which inherits that.
void handle_signals(const struct sigaction& action) {
  for (const int signal_number : kForwarded) {
    struct sigaction old;
    sigaction(signal_number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) sigaction(signal_number, &action, nullptr);
  }
}

void start_forwarding(pid_t child) {
  job_pid = child;
  struct sigaction action = {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  handle_signals(action);
}

// The job is gone, and its number may soon be someone else's.
void stop_forwarding() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  handle_signals(action);
  job_pid = 0;
}

// In the child. Returns only if the command cannot be started.
int become(const Launch& launch) {
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : launch.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return errno;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

base::Result<int> run_job(const Launch& launch) {
  int failure[2];  // closed by a successful exec; else carries its errno
  if (pipe2(failure, O_CLOEXEC) != 0) {
    return base::Error{std::string("cannot start the job: ") + std::strerror(errno)};
  }
  // Held back until the handlers stand, so that none is lost and the child never runs them.
  sigset_t held, before;
  sigemptyset(&held);
  for (const int signal_number : kForwarded) sigaddset(&held, signal_number);
  sigprocmask(SIG_BLOCK, &held, &before);

  const pid_t child = fork();
  if (child < 0) return base::Error{std::string("cannot start the job: ") + std::strerror(errno)};
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    const int reason = become(launch);
    (void)!write(failure[1], &reason, sizeof reason);
    _exit(127);
  }
  start_forwarding(child);
  sigprocmask(SIG_SETMASK, &before, nullptr);

  close(failure[1]);
  int reason = 0;
  const bool started = read(failure[0], &reason, sizeof reason) != sizeof reason;
  close(failure[0]);
  const int code = wait_for(child);
  stop_forwarding();
  if (started) return code;
  return base::Error{"cannot start '" + launch.command[0] + "': " + std::strerror(reason) +
                     "; check the command after '--'"};
}

}  // namespace fathom::cli
