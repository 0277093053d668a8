// SPDX-License-Identifier: BSD-3-Clause
// How long the program's MPI calls take: one row for each place in the program that calls MPI, on
// each communicator and in each phase, and a histogram of durations for each place.
//
// Each thread has tables of its own, so adding a call needs no atomic operation. It never allocates,
// locks or calls the kernel, except the first time that a thread, or a place, is seen. Tables of a thread
// that has ended go to the next new thread. Memory grows with places, communicators and phases, not
// with calls.
//
// Threading: rows are found and added to from any thread; open(), set_phase() and pause() are cold,
// but safe beside it. for_each_thread() may interrupt add() (a signal handler) and then sees a row
// half added to.
#pragma once

#include <atomic>
#include <cstdint>

#include "profile/rows.h"
#include "profiler/clocks/ticks.h"
#include "profiler/counting/row_table.h"
#include "profiler/process/rows_text.h"

namespace fathom::profiler {

class CallTimes {
 public:
  // Before MPI begins: chooses the clock, and takes the first of two readings that give its rate.
  static void choose_clock();

  // When MPI has begun: from here on calls are timed. `text` receives the names of what the rows hold.
  // `names`: of the MPI functions, by their number. `shared`: where the rows are to lie instead of in
  // private memory. False without address space.
  static bool open(RowsText& text, const char* const* names, base::SharedMemory* shared);

  // MPI ends: no call is timed until pause(false), and `text` receives the clock's rate.
  static void close();
  static bool was_opened() { return text_ != nullptr; }

  static void set_phase(std::uint32_t phase) { phase_.store(phase, std::memory_order_relaxed); }
  static void pause(bool is_paused) { on_.store(!is_paused && text_ != nullptr); }

  static bool on() { return on_.load(std::memory_order_relaxed); }
  static bool is_paused() { return !on() && text_ != nullptr; }

  // The rows of a place in the program, on a communicator and in a phase.
  class Rows {
   public:
    // Returns what counts the calls that took about as long.
    [[gnu::always_inline]] std::uint64_t* add(std::uint64_t bytes, std::uint64_t ticks) const {
      row_->calls += 1;
      row_->ticks += ticks;
      row_->bytes += bytes;
      if (ticks < row_->shortest_ticks) row_->shortest_ticks = ticks;
      if (ticks > row_->longest_ticks) row_->longest_ticks = ticks;
      return add_duration(ticks);
    }
    // A call whose time was not read, and that has no bytes.
    void add_estimated(std::uint64_t ticks) const {
      row_->calls += 1;
      row_->ticks += ticks;
      row_->estimated += 1;
      add_duration(ticks);
    }
    bool are_known() const { return row_ != nullptr; }
    // Never moves.
    profile::CallRow* row() const { return row_; }

   private:
    friend class CallTimes;
    std::uint64_t* add_duration(std::uint64_t ticks) const {
      std::uint64_t* const calls = &durations_->calls[bin_of(ticks)];
      *calls += 1;
      return calls;
    }
    profile::CallRow* row_ = nullptr;
    profile::DurationRow* durations_ = nullptr;
  };

  // `site`: the address that the call returns to. `communicator`: a kind in the registry, or
  // kNoCommunicator. Unknown if the place was not the last of those that share its entry; then
  // find_rows(), whose are unknown if there is no room.
  static Rows recent_rows(const void* site, std::uint32_t communicator) {
    const Thread* own = own_thread();
    if (own == nullptr) [[unlikely]]
      return {};
    const Recent& recent = own->recent[place_of(site)];
    return recent.key == key(site, communicator) ? recent.rows : Rows{};
  }
  static Rows find_rows(std::uint32_t function, const void* site, std::uint32_t communicator);

  // Where the program makes a call, described as those in the rows are. Cold; from open() on.
  static profile::CodePlaceRow place_of_call(const void* site, std::uint32_t function) {
    return describe(reinterpret_cast<std::uint64_t>(site), function);
  }
  // As measured in MPI_Init, which is near enough for limits.
  static double ns_per_tick() { return static_cast<double>(ns_per_tick_) / 4294967296.0; }

  // Those of this thread so far; null if it has none. They only grow in number.
  static const base::ReservedArray<profile::CallRow>* own_rows() {
    const Thread* own = own_thread();
    return own == nullptr || own->calls.rows().capacity() == 0 ? nullptr : &own->calls.rows();
  }

  // f(rows of calls, rows of durations); also from a signal handler.
  template <typename F>
  static void for_each_thread(F&& f) {
    const std::uint32_t count = thread_count_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i)
      f(threads_[i].calls.rows(), threads_[i].durations.rows());
  }

 private:
  static constexpr std::uint32_t kMostThreads = 4096;
  static constexpr std::size_t kMostRows = std::size_t{1} << 16;    // of one thread
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 14;  // of one thread
  static constexpr int kRecentBits = 5;

  struct Recent {
    profile::CallKey key;
    Rows rows;
  };
  struct alignas(64) Thread {
    Recent recent[1 << kRecentBits];
    RowTable<profile::CallRow> calls;
    RowTable<profile::DurationRow> durations;
    std::atomic<bool> taken{false};
  };

  static profile::CallKey key(const void* site, std::uint32_t communicator) {
    return {reinterpret_cast<std::uint64_t>(site), communicator,
            phase_.load(std::memory_order_relaxed)};
  }
  static std::uint64_t place_of(const void* site) {
    return reinterpret_cast<std::uint64_t>(site) * 0x9e3779b97f4a7c15 >> (64 - kRecentBits);
  }
  __extension__ using Wide = unsigned __int128;
  static int bin_of(std::uint64_t ticks) {
    const auto nanoseconds = static_cast<std::uint64_t>(Wide{ticks} * ns_per_tick_ >> 32);
    const int bin = 63 - __builtin_clzll(nanoseconds | 1);
    return bin < profile::kDurationBins ? bin : profile::kDurationBins - 1;
  }

  static Thread*& own_thread() {
    static thread_local Thread* thread __attribute__((tls_model("initial-exec"))) = nullptr;
    return thread;
  }
  static Thread* attach();
  static void thread_ends(void* thread);
  static profile::CodePlaceRow describe(std::uint64_t address, std::uint32_t function);

  static inline std::atomic<bool> on_{false};
  static inline std::atomic<std::uint32_t> phase_{0};
  static inline std::uint64_t ns_per_tick_ = 0;  // in 2^-32
  static inline RowsText* text_ = nullptr;
  static inline base::SharedMemory* shared_ = nullptr;
  static inline const char* const* names_ = nullptr;
  static inline Thread* threads_ = nullptr;  // kMostThreads and one without tables
  static inline std::atomic<std::uint32_t> thread_count_{0};
};

}  // namespace fathom::profiler
