// SPDX-License-Identifier: BSD-3-Clause
// Tells a signal to the whole process group from one to this process alone.
//
// The job is in our process group, as it would be without us, so that the terminal, job control and
// SIGKILL treat both as one. A signal to the group (Ctrl-C, `timeout`, a batch system) therefore
// reaches the job by itself, and one more from us is one too many: at the second within five
// seconds mpirun leaves its ranks to themselves. The kernel does not say to whom a signal was sent.
// So a child process of the group holds all of them back and does nothing else: what is pending
// there went to the group.
//
// Threading: one thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>

namespace fathom::cli {

// Signals by number: bit n is signal n.
using SignalMask = std::uint64_t;
constexpr SignalMask mask_of(int number) { return SignalMask{1} << number; }

// Takes all signals of the set that are pending in this process.
SignalMask take_pending(const sigset_t& signals);

class GroupWitness {
 public:
  // `signals` must be blocked in this process. Without memory for a process there is no witness: it
  // saw nothing.
  explicit GroupWitness(const sigset_t& signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;

  pid_t pid() const { return pid_; }

  // What the group got since the last call.
  SignalMask saw();

 private:
  pid_t pid_ = -1;
  int channel_ = -1;
};

}  // namespace fathom::cli
