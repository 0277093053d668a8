// SPDX-License-Identifier: BSD-3-Clause
// Distinguishes a signal to the whole process group from one to this process alone.
//
// The job is in our process group, as it would be without us, so that the terminal, job control and
// SIGKILL treat both as one. A signal to the group (Ctrl-C, `timeout`, a batch system) therefore
// reaches the job directly, and forwarding it would be one too many: at the second signal within
// five seconds mpirun abandons its ranks. The kernel does not say who the target of a signal was.
// So a child process in the group blocks all of them and does nothing else: whatever is pending
// there was sent to the group.
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

// Removes and returns all signals of the set that are pending in this process.
SignalMask take_pending(const sigset_t& signals);

class GroupWitness {
 public:
  // `signals` must be blocked in this process. If no process can be created, there is no witness
  // and saw() returns nothing.
  explicit GroupWitness(const sigset_t& signals);
  ~GroupWitness();
  GroupWitness(const GroupWitness&) = delete;

  pid_t pid() const { return pid_; }

  // The signals that the group received since the last call.
  SignalMask saw();

 private:
  pid_t pid_ = -1;
  int channel_ = -1;
};

}  // namespace fathom::cli
