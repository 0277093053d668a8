// SPDX-License-Identifier: BSD-3-Clause
// Named phases: the functions of the library that fathom.h calls. Cold.
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/calls/call_times.h"
#include "profiler/counting/profiled_process.h"
#include "profiler/process/exported.h"
#include "profiler/recording/tracing.h"
#include "profiler/waits/wait_log.h"

namespace fathom::profiler {
namespace {

// Numbers new names from 1. Phase 0 is outside all phases; names beyond kMaxPhases count there too.
class Phases {
 public:
  void begin(ProfiledProcess& process, const char* name) {
    if (name == nullptr || name[0] == '\0') return;
    const std::lock_guard guard(lock_);
    std::uint32_t number = 0;
    const char* new_name = nullptr;
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) number = i + 1;
    }
    if (number == 0 && names_.size() + 1 < Counter::kMaxPhases) {
      names_.push_back(name);
      number = static_cast<std::uint32_t>(names_.size());
      process.text().add("phase", std::to_string(number) + " " + name);
      new_name = name;
    }
    stack_.push_back(number);
    process.counter().set_phase(number);
    CallTimes::set_phase(number);
    WaitLog::interrupt_loop();
    tracing::phase_begun(number, new_name);
  }

  void end(ProfiledProcess& process) {
    const std::lock_guard guard(lock_);
    if (stack_.empty()) return;
    const std::uint32_t ended = stack_.back();
    stack_.pop_back();
    const std::uint32_t outer = stack_.empty() ? 0 : stack_.back();
    process.counter().set_phase(outer);
    CallTimes::set_phase(outer);
    WaitLog::interrupt_loop();
    tracing::phase_ended(ended, outer);
  }

 private:
  std::mutex lock_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> stack_;
};

// Never destroyed: exit handlers of the program may still begin a phase.
Phases& phases() {
  static auto* all = new Phases;
  return *all;
}

}  // namespace

extern "C" {
FATHOM_EXPORT void fathom_library_phase_begin(const char* name) {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr) return;
  try {
    phases().begin(*process, name);
  } catch (...) {  // no memory: the phase goes unnamed
  }
}

FATHOM_EXPORT void fathom_library_phase_end() {
  ProfiledProcess* process = ProfiledProcess::active();
  if (process == nullptr) return;
  try {
    phases().end(*process);
  } catch (...) {
  }
}
}

}  // namespace fathom::profiler
