// SPDX-License-Identifier: BSD-3-Clause
// The clock of the trace: the processor's time-stamp counter if it runs at a constant rate, else
// CLOCK_MONOTONIC in nanoseconds. Reading it takes some 8 ns. ClockRow in trace/format/format.h
// relates it to the clocks of the system.
#pragma once

#include <cpuid.h>
#include <x86intrin.h>

#include <cstdint>
#include <ctime>

namespace fathom::profiler {

inline std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class Ticks {
 public:
  // Whether the counter's rate is independent of the core's frequency (Intel SDM 18.17.1, AMD APM 3
  // CPUID Fn8000_0007).
  static bool counter_is_even() {
    unsigned int a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
  }
  static void use_counter(bool use) { counter_ = use; }
  static bool uses_counter() { return counter_; }
  // How long a reading takes; 0 before it was measured.
  static std::uint64_t of_reading() { return reading_; }
  static void measure_reading() {
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t before = now();
      const std::uint64_t took = now() - before;
      if (took < least) least = took;
    }
    reading_ = least;
  }

  static std::uint64_t now() {
    if (counter_) [[likely]]
      return __rdtsc();
    return from_system();
  }

 private:
  [[gnu::cold, gnu::noinline]] static std::uint64_t from_system() {
    return nanoseconds_of(CLOCK_MONOTONIC);
  }

  static inline bool counter_ = false;
  static inline std::uint64_t reading_ = 0;
};

// The time at which MPI_Init was entered, by both clocks: which one is used is decided inside it.
struct MomentBeforeInit {
  std::uint64_t counter = __rdtsc();
  std::uint64_t monotonic_ns = nanoseconds_of(CLOCK_MONOTONIC);
  std::uint64_t ticks() const { return Ticks::uses_counter() ? counter : monotonic_ns; }
};

}  // namespace fathom::profiler
