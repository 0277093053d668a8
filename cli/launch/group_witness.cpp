// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/group_witness.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace fathom::cli {
namespace {

// In the child: answers each byte with the signals that have arrived. Ends when the other side
// does.
[[noreturn]] void witness(int channel, const sigset_t& signals) {
  // It must not keep any of our files open: a reader of our output waits for its end.
  close_range(0, static_cast<unsigned>(channel) - 1, 0);
  close_range(static_cast<unsigned>(channel) + 1, ~0u, 0);
  prctl(PR_SET_NAME, "fathom-witness");
  for (char asked; read(channel, &asked, 1) == 1;) {
    const SignalMask seen = take_pending(signals);
    if (write(channel, &seen, sizeof seen) != sizeof seen) break;
  }
  _exit(0);
}

}  // namespace

SignalMask take_pending(const sigset_t& signals) {
  constexpr timespec kNow{0, 0};
  SignalMask taken = 0;
  for (int number; (number = sigtimedwait(&signals, nullptr, &kNow)) > 0 || errno == EINTR;) {
    if (number > 0) taken |= mask_of(number);
  }
  return taken;
}

GroupWitness::GroupWitness(const sigset_t& signals) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    witness(ends[1], signals);
  }
  close(ends[1]);
  channel_ = ends[0];
}

GroupWitness::~GroupWitness() {
  if (channel_ >= 0) close(channel_);
  if (pid_ < 0) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

SignalMask GroupWitness::saw() {
  SignalMask seen = 0;
  if (send(channel_, "?", 1, MSG_NOSIGNAL) != 1) return 0;
  return recv(channel_, &seen, sizeof seen, MSG_WAITALL) == sizeof seen ? seen : 0;
}

}  // namespace fathom::cli
