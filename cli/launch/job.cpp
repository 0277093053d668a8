// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "cli/launch/group_witness.h"

namespace fathom::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// `timeout` signals its child and then the group. Both count as one signal, unless the machine is
// so busy that they are further apart than this.
constexpr auto kOneSignal = 500ms;
constexpr auto kTick = 10ms;

// mpirun gives its ranks a second between SIGTERM and SIGKILL; ranks that lost mpirun take as long
// to notice.
constexpr auto kOrphansMayTake = 5s;

// In the child. Returns only if the command cannot be started.
int become(const Launch& launch) {
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : launch.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return errno;
}

// During its lifetime signals are blocked and taken explicitly, and the job's orphans become our
// children.
class Attention {
 public:
  // Ignored signals (nohup) stay ignored, here and in the job, which inherits that.
  Attention() {
    sigemptyset(&forwarded_);
    for (const int number : kForwarded) {
      struct sigaction current;
      if (sigaction(number, nullptr, &current) == 0 && current.sa_handler != SIG_IGN)
        sigaddset(&forwarded_, number);
    }
    awaited_ = forwarded_;
    sigaddset(&awaited_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &awaited_, &mask_before_);
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_before_);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Attention() {
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    restore();
  }
  Attention(const Attention&) = delete;

  // Also called in the child, before it becomes the job.
  void restore() const {
    sigaction(SIGCHLD, &child_before_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  const sigset_t& forwarded() const { return forwarded_; }
  const sigset_t& awaited() const { return awaited_; }

 private:
  sigset_t forwarded_, awaited_, mask_before_;
  struct sigaction child_before_;
};

class Job {
 public:
  Job(pid_t launcher, const Attention& attention, const JobWatch& watch)
      : launcher_(launcher),
        attention_(attention),
        watch_(watch),
        witness_(std::in_place, attention.forwarded()) {}

  JobEnd wait() {
    while (!ended()) {
      const int number = next_signal();
      if (number > 0 && number != SIGCHLD) signalled(mask_of(number));
    }
    witness_.reset();
    note(take_pending(attention_.forwarded()));
    JobEnd end{WEXITSTATUS(status_), signal_};
    if (WIFSIGNALED(status_))
      end = {128 + WTERMSIG(status_), signal_ != 0 ? signal_ : WTERMSIG(status_)};
    if (end.signal != 0) wait_for_orphans();
    take_pending(attention_.forwarded());  // they were meant for the job
    return end;
  }

 private:
  // The number of the next signal; -1 after a beat.
  int next_signal() {
    if (!watch_.beat) return sigwaitinfo(&attention_.awaited(), nullptr);
    const auto left = std::max(started_ + next_beat_ - Clock::now(), Clock::duration::zero());
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec patience{whole.count(), std::chrono::nanoseconds(left - whole).count()};
    const int number = sigtimedwait(&attention_.awaited(), nullptr, &patience);
    if (number > 0 || errno != EAGAIN) return number;
    next_beat_ = watch_.beat(next_beat_);
    return -1;
  }

  // Reaps children that have ended: the launcher, and orphans of the job.
  bool ended() {
    for (int status; const pid_t pid = waitpid(-1, &status, WNOHANG);) {
      if (pid < 0 && errno != EINTR) break;
      if (pid == launcher_) {
        status_ = status;
        is_over_ = true;
      }
    }
    return is_over_;
  }

  // Collects signals that belong together, and forwards those that the group did not get.
  void signalled(SignalMask arrived) {
    const auto until = Clock::now() + kOneSignal;
    SignalMask group = 0, arrived_before, group_before;
    do {
      arrived_before = arrived;
      group_before = group;
      std::this_thread::sleep_for(kTick);
      arrived |= take_pending(attention_.forwarded());
      group |= witness_->saw();
    } while (arrived != arrived_before || group != group_before ||
             ((arrived & ~group) != 0 && Clock::now() < until));
    note(arrived);
    const SignalMask has =
        getpgid(launcher_) == getpgrp() ? group : 0;  // the launcher may have left the group
    for (const int number : kForwarded) {
      if ((arrived & ~has & mask_of(number)) != 0) kill(launcher_, number);
    }
  }

  void note(SignalMask arrived) {
    for (const int number : kEnding) {
      if (signal_ == 0 && (arrived & mask_of(number)) != 0) signal_ = number;
    }
  }

  void wait_for_orphans() {
    const auto until = Clock::now() + kOrphansMayTake;
    for (int status; Clock::now() < until;) {
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == ECHILD) return;
      if (pid == 0) std::this_thread::sleep_for(kTick);
    }
  }

  pid_t launcher_;
  const Attention& attention_;
  const JobWatch& watch_;
  const Clock::time_point started_ = Clock::now();
  std::chrono::seconds next_beat_ = watch_.first;  // after started_
  std::optional<GroupWitness> witness_;
  int status_ = 0;
  bool is_over_ = false;
  int signal_ = 0;
};

}  // namespace

base::Result<JobEnd> run_job(const Launch& launch, const JobWatch& watch) {
  int failure[2];  // closed by a successful exec; otherwise carries its errno
  if (pipe2(failure, O_CLOEXEC) != 0) {
    return base::Error{std::string("cannot start the job: ") + std::strerror(errno)};
  }
  const Attention attention;
  const pid_t child = fork();
  if (child < 0) return base::Error{std::string("cannot start the job: ") + std::strerror(errno)};
  if (child == 0) {
    attention.restore();
    const int reason = become(launch);
    (void)!write(failure[1], &reason, sizeof reason);
    _exit(127);
  }
  close(failure[1]);
  Job job(child, attention, watch);
  int reason = 0;
  const bool started = read(failure[0], &reason, sizeof reason) != sizeof reason;
  close(failure[0]);
  if (started && watch.started) watch.started();
  const JobEnd end = job.wait();
  if (started) return end;
  return base::Error{"cannot start '" + launch.command[0] + "': " + std::strerror(reason) +
                     "; check the command after '--'"};
}

}  // namespace fathom::cli
