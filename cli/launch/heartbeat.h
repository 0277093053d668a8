// SPDX-License-Identifier: BSD-3-Clause
// Whether a line on stderr would reach a person without harm, while a job runs.
//
// A background job that writes to its terminal may be stopped for it (stty tostop), and with it the
// MPI job, which is in its process group; a terminal that the user has stopped (Ctrl-S) would make
// the writer wait. In both cases, and where stderr is no terminal, nothing is written.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace fathom::cli {

// When the first line is due: FATHOM_HEARTBEAT in seconds, else a minute. Nothing if stderr is no
// terminal or FATHOM_HEARTBEAT=0.
std::optional<std::chrono::seconds> first_heartbeat();

// When the next one is due: each time twice as late, at most an hour later; with FATHOM_HEARTBEAT
// at even intervals.
std::chrono::seconds next_heartbeat(std::chrono::seconds now);

// Writes the line if that is harmless at this moment.
void write_if_harmless(const std::string& line);

}  // namespace fathom::cli
