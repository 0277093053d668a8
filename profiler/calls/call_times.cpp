// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/call_times.h"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "profiler/calls/call_sites.h"
#include "profiler/calls/loaded_code.h"

namespace fathom::profiler {
namespace {

// Both clocks at one moment.
struct Reading {
  std::uint64_t ticks = 0, ns = 0;

  // The one of several readings that was interrupted least.
  static Reading now() {
    Reading best;
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < 5; ++i) {
      const std::uint64_t before = Ticks::now();
      const std::uint64_t ns = nanoseconds_of(CLOCK_MONOTONIC);
      const std::uint64_t took = Ticks::now() - before;
      if (took >= least) continue;
      least = took;
      best = {before + took / 2, ns};
    }
    return best;
  }
};

Reading first_reading;
pthread_key_t at_thread_end;
bool sees_thread_ends = false;
std::atomic<std::uint64_t> uncounted{0};

// The names that have been written as text, and the numbers that rows refer to them by. Locked,
// because any thread may be the first to call from a place.
struct Names {
  std::mutex lock;
  std::vector<bool> functions;
  std::vector<std::string> files;  // "BUILD-ID PATH", from number 1
};
Names& names_written() {
  static auto* names = new Names;  // threads may outlive everything else
  return *names;
}

double ticks_per_ns() {
  const Reading now = Reading::now();
  if (now.ns <= first_reading.ns) return 1;
  return static_cast<double>(now.ticks - first_reading.ticks) /
         static_cast<double>(now.ns - first_reading.ns);
}

void write_rate(RowsText& text, double rate) {
  char number[40];
  std::snprintf(number, sizeof number, "%.12g", rate);
  text.add("ticks-per-ns", number);
}

}  // namespace

void CallTimes::choose_clock() {
  Ticks::use_counter(Ticks::counter_is_even());
  Ticks::measure_reading();
  first_reading = Reading::now();
}

bool CallTimes::open(RowsText& text, const char* const* names, base::SharedMemory* shared) {
  void* memory = mmap(nullptr, (kMostThreads + 1) * sizeof(Thread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  threads_ = static_cast<Thread*>(memory);
  sees_thread_ends = pthread_key_create(&at_thread_end, thread_ends) == 0;
  // MPI_Init took long enough for a rate that puts durations into the right bins.
  const double rate = ticks_per_ns();
  ns_per_tick_ = static_cast<std::uint64_t>(4294967296.0 / rate);
  write_rate(text, rate);
  CallSites::open();
  names_ = names;
  shared_ = shared;
  text_ = &text;
  pause(false);
  return true;
}

void CallTimes::close() {
  if (text_ == nullptr) return;
  pause(true);
  write_rate(*text_, ticks_per_ns());
  // MPI may begin again and end once more: the lines are added up.
  const std::uint64_t lost = uncounted.exchange(0);
  if (lost > 0) text_->add("uncounted-calls", std::to_string(lost));
}

// Without tables of its own a thread gets the last ones, which hold nothing; its calls are counted
// as untimed.
CallTimes::Thread* CallTimes::attach() {
  Thread* found = nullptr;
  for (std::uint32_t i = 0; i < kMostThreads && found == nullptr; ++i) {
    Thread& thread = threads_[i];
    if (thread.taken.exchange(true, std::memory_order_acquire)) continue;
    std::uint32_t seen = thread_count_.load(std::memory_order_relaxed);
    const bool is_new = thread.calls.rows().capacity() == 0;
    if (is_new &&
        (!thread.calls.open(kMostRows, shared_, kind_of(profile::Section::kCalls)) ||
         !thread.durations.open(kMostPlaces, shared_, kind_of(profile::Section::kDurations))))
      break;
    while (seen < i + 1 && !thread_count_.compare_exchange_weak(seen, i + 1)) {
    }
    found = &thread;
  }
  if (found == nullptr) return &threads_[kMostThreads];
  if (sees_thread_ends) pthread_setspecific(at_thread_end, found);
  own_thread() = found;
  return found;
}

void CallTimes::thread_ends(void* thread) {
  own_thread() = nullptr;
  static_cast<Thread*>(thread)->taken.store(false, std::memory_order_release);
}

CallTimes::Rows CallTimes::find_rows(std::uint32_t function, const void* site,
                                     std::uint32_t communicator) {
  const auto give_up = []() -> Rows {
    uncounted.fetch_add(1, std::memory_order_relaxed);
    return {};
  };
  Thread* own = own_thread();
  if (own == nullptr) own = attach();
  if (own->calls.rows().capacity() == 0) return give_up();
  const profile::CallKey wanted = key(site, communicator);
  profile::CallRow* row = own->calls.find(wanted);
  profile::DurationRow* durations = own->durations.find(wanted.return_address);
  if (row == nullptr || durations == nullptr) {
    const profile::CodePlaceRow place = describe(wanted.return_address, function);
    if (durations == nullptr) {
      durations = own->durations.add(wanted.return_address);
      if (durations == nullptr) return give_up();
      durations->place = place;
    }
    if (row == nullptr) {
      row = own->calls.add(wanted);
      if (row == nullptr) return give_up();
      row->place = place;
      row->shortest_ticks = ~std::uint64_t{0};
    }
  }
  Recent& recent = own->recent[place_of(site)];
  recent.key = wanted;
  recent.rows.row_ = row;
  recent.rows.durations_ = durations;
  return recent.rows;
}

profile::CodePlaceRow CallTimes::describe(std::uint64_t address, std::uint32_t function) try {
  // The call itself, just before the address that it returns to: the next instruction may belong to
  // another line.
  const CodePlace place = place_in_file(reinterpret_cast<const void*>(address - 1));
  Names& names = names_written();
  const std::lock_guard guard(names.lock);
  if (names.functions.size() <= function) names.functions.resize(function + 1);
  if (!names.functions[function]) {
    text_->add("timed-function", std::to_string(function) + " " + names_[function]);
    names.functions[function] = true;
  }
  if (place.path.empty()) return {address, 0, function};
  const std::string file = place.build_id + " " + place.path;
  std::uint32_t number = 1;
  while (number <= names.files.size() && names.files[number - 1] != file) ++number;
  if (number > names.files.size()) {
    names.files.push_back(file);
    text_->add("code-file", std::to_string(number) + " " + file);
  }
  return {place.address, number, function};
} catch (...) {  // no memory for the names: the place stays an address
  return {address, 0, function};
}

}  // namespace fathom::profiler
