// SPDX-License-Identifier: BSD-3-Clause
// Starts a program of Fathom's that belongs to this process without the user's program noticing.
//
// It is no child of this process (wait() would return it) and its start raises no SIGCHLD. It belongs
// to a session of its own, so what is sent to the job's process group does not reach it. Nothing of
// this process is copied, unlike by fork(). Its environment is empty (LD_PRELOAD above all), and its
// input and output are /dev/null.
#pragma once

#include <string>
#include <vector>

namespace fathom::profiler {

// `words`: its name, which lies beside this library, and arguments. `inherited`: descriptors that it
// gets. Returns when the program has taken over; false, with errno set, if it could not be started.
// Cold.
bool start_companion(std::vector<std::string> words, const std::vector<int>& inherited);

}  // namespace fathom::profiler
