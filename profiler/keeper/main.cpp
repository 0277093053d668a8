// SPDX-License-Identifier: BSD-3-Clause
// fathom-keeper MEMORY DEFINITIONS READY PID JOB RANK RUN
//
// The keeper of one process's flight recorder; the library starts it
// (profiler/recording/keeper_process.h). The first three are descriptors, PID is the process. It
//
//   - drops the oldest records, so that the process always has room for new ones;
//   - writes RUN/trace/JOB.RANK.trace when the process has ended in any way but MPI_Finalize;
//   - writes RUN/NAME/trace/JOB.RANK.trace when RUN/.snap asks for it (trace/format/flight.h), and
//     RUN/signal-N/trace/JOB.RANK.trace at the process's N-th request;
//   - ends with the process.
//
// It prints nothing, because it has no output: what cannot be written is missing.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/process/detached_process.h"
#include "profiler/clocks/moment.h"
#include "profiler/keeper/kept_memory.h"
#include "profiler/keeper/window_file.h"

namespace fathom::profiler {
namespace {

constexpr int kRest_ms = 5;
constexpr int kRestsPerSecond = 1000 / kRest_ms;
constexpr std::size_t kMostClocks = 1 << 16;

class Watched {  // the process
 public:
  explicit Watched(pid_t pid)
      : pid_(pid), descriptor_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}

  // Waits for some milliseconds, or until it has ended; true if it has. An old kernel is asked again
  // each time: a process that has ended but is not yet reaped then passes for alive.
  bool ends_within(int milliseconds) const {
    pollfd end{descriptor_, POLLIN, 0};
    if (poll(&end, descriptor_ >= 0 ? 1 : 0, milliseconds) > 0) return true;
    return descriptor_ < 0 && kill(pid_, 0) != 0 && errno == ESRCH;
  }

 private:
  pid_t pid_;
  int descriptor_;
};

class Keeper {
 public:
  Keeper(KeptMemory& memory, int definitions, const Watched& process, std::string run)
      : memory_(memory),
        definitions_(definitions),
        process_(process),
        run_(std::move(run)),
        last_request_(request()) {
    read_clocks();
  }

  void keep() {
    for (int rests = 1;; ++rests) {
      const bool ended = process_.ends_within(kRest_ms);
      const bool ended_well = memory_.has_ended();  // before it is asked for the last time
      if (const std::uint32_t asked = memory_.asked(); asked != signals_) {
        signals_ = asked;
        write(run_ + "/signal-" + std::to_string(asked));
      }
      if (ended_well) return;
      if (ended) return write(run_);
      make_room();
      if (rests % kRestsPerSecond == 0) every_second();
    }
  }

 private:
  void make_room() {
    for (const KeptChunk& chunk : memory_.surplus()) {
      if (!before_.has_learnt()) before_.learn(definitions_in(definitions_));
      before_.take(chunk);
      memory_.let_go(chunk);
    }
  }

  void every_second() {
    read_clocks();
    const std::string wanted = request();
    if (wanted == last_request_) return;
    last_request_ = wanted;
    if (!wanted.empty()) write(run_ + "/" + wanted);
  }

  // The folder that RUN/.snap asks for; empty: nothing.
  std::string request() const {
    char target[NAME_MAX + 1];
    const ssize_t length =
        readlink((run_ + "/" + trace::kSnapRequest).c_str(), target, sizeof target);
    const std::string name(target, length > 0 ? static_cast<std::size_t>(length) : 0);
    return name.find('/') == name.npos ? name : "";
  }

  // Keeps one moment before the oldest record.
  void read_clocks() {
    clocks_.push_back(moment_now());
    const std::uint64_t oldest = memory_.oldest_ticks();
    while (clocks_.size() > 2 && (clocks_[1].ticks <= oldest || clocks_.size() > kMostClocks))
      clocks_.pop_front();
  }

  void write(const std::string& folder) {
    clocks_.push_back(moment_now());
    write_window(folder, memory_, before_, definitions_, clocks_);
    clocks_.pop_back();
  }

  KeptMemory& memory_;
  BeforeWindow before_;
  int definitions_;
  const Watched& process_;
  std::string run_;
  std::string last_request_;
  std::uint32_t signals_ = 0;
  std::deque<trace::ClockRow> clocks_;
};

int run(char** words) {
  const int descriptor = std::atoi(words[1]), definitions = std::atoi(words[2]),
            ready = std::atoi(words[3]);
  base::close_all_but({descriptor, definitions, ready});
  base::ignore_end_of_job();
  (void)!chdir("/");
  const auto pid = static_cast<pid_t>(std::atoi(words[4]));
  const Watched process(pid);
  base::leave_core_of(pid);
  KeptMemory memory;
  if (!memory.open(descriptor)) return 1;
  Ticks::use_counter(memory.uses_counter());
  Keeper keeper(memory, definitions, process, words[7]);
  if (write(ready, "k", 1) != 1) return 1;
  close(ready);
  keeper.keep();
  return 0;
}

}  // namespace
}  // namespace fathom::profiler

int main(int count, char** words) try {
  return count == 8 ? fathom::profiler::run(words) : 2;
} catch (...) {
  return 1;
}
