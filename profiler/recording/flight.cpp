// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/flight.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "profiler/clocks/ticks.h"
#include "profiler/recording/keeper_process.h"

namespace fathom::profiler {

bool Flight::open(Recorder& recorder, trace::FrameFile& definitions, std::uint32_t job,
                  std::uint32_t rank, std::size_t bytes, const std::string& run) {
  const int file = memfd_create("fathom-flight-definitions", MFD_CLOEXEC);
  if (file < 0 || !definitions.open(file, job, rank)) return false;
  if (!recorder.open_in_memory(job, rank, bytes)) return false;
  auto* header =
      reinterpret_cast<trace::FlightHeader*>(recorder.memory() + trace::kFlightHeaderOffset);
  header->uses_counter = Ticks::uses_counter() ? 1 : 0;
  if (!start_keeper({.memory = recorder.descriptor(),
                     .definitions = file,
                     .job = job,
                     .rank = rank,
                     .run = run})) {
    const int error = errno;
    recorder.close(false);
    errno = error;
    return false;
  }
  header_ = header;
  return true;
}

void Flight::end() {
  std::atomic_ref(header_->ended).store(1, std::memory_order_release);
  header_ = nullptr;
}

void Flight::ask() noexcept {
  if (header_ != nullptr) std::atomic_ref(header_->asked).fetch_add(1, std::memory_order_release);
}

}  // namespace fathom::profiler
