// SPDX-License-Identifier: BSD-3-Clause
// The counting core under eight threads that record while another turns phases and pauses on and
// off. Built with ThreadSanitizer, and with AddressSanitizer; the totals must be exact in both.
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "profiler/counting/counter.h"
#include "profiler/counting/tag_runs.h"
#include "test/unit/profiler/fake_openmpi.h"

namespace fathom::profiler {
namespace {

using profile::Direction;

constexpr int kThreads = 8, kPeers = 16;
constexpr std::uint64_t kEach = 20'000;

struct Total {
  std::uint64_t messages = 0, bytes = 0;
};

Total total_of(const Counter& counter, Direction direction) {
  Total total;
  counter.for_each_lane([&](const auto& cells, const auto&) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (profile::unpack_cell_key(cells[i].key).direction != direction) continue;
      total.messages += cells[i].messages;
      total.bytes += cells[i].bytes;
    }
  });
  return total;
}

void record_all(Counter& counter, const void* group, std::uint32_t thread) {
  for (std::uint64_t i = 0; i < kEach; ++i) {
    const auto peer = static_cast<std::uint32_t>(i + thread) % kPeers;
    counter.record(Direction::kSent, thread % 3, kPointToPoint, group, peer, i % 2000);
    counter.record(Direction::kReceived, thread % 3, kBcast, group, peer, 0);
    counter.retract_empty(thread % 3, kBcast, group, peer);
    counter.record(Direction::kReceived, thread % 3, kBcast, group, peer, 8);
    if (i % 1000 == 0)
      counter.record(Direction::kSent, 0, kPointToPoint, group, kPeers, 1);  // lost
  }
}

// `disturb` runs until the eight threads are done.
template <typename F>
void run(Counter& counter, const test::FakeGroup& group, F&& disturb) {
  std::atomic<bool> done{false};
  std::thread disturbing([&] {
    while (!done.load()) disturb();
  });
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&counter, &group, t] { record_all(counter, group.address(), t); });
  }
  for (auto& thread : threads) thread.join();
  done.store(true);
  disturbing.join();
}

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

void phases_lose_nothing(const test::FakeGroup& group) {
  auto counter = std::make_unique<Counter>();
  expect(counter->open(3, 1), "open");  // fewer lanes than threads: they have to take turns
  std::uint32_t phase = 0;
  run(*counter, group, [&] { counter->set_phase(phase = (phase + 1) % 5); });
  const Total sent = total_of(*counter, Direction::kSent);
  expect(sent.messages == kThreads * kEach, "every message sent is counted");
  expect(sent.bytes == kThreads * (kEach / 2000) * (2000 * 1999 / 2), "every byte sent is counted");
  expect(counter->lost() == kThreads * kEach / 1000, "every loss is counted");
}

// A retraction may fall into another phase than what it takes back: so received is checked without.
void pauses_only_take_away(const test::FakeGroup& group) {
  auto counter = std::make_unique<Counter>();
  expect(counter->open(Counter::kLanes, 1), "open");
  run(*counter, group, [] { std::this_thread::yield(); });
  const Total received = total_of(*counter, Direction::kReceived);
  expect(received.messages == kThreads * kEach, "every message received is counted once");
  expect(received.bytes == 8 * kThreads * kEach, "every byte received is counted");
  expect(!counter->was_ever_paused(), "not paused");

  counter->clear();
  bool paused = true;
  counter->set_paused(paused);  // the threads may have ended before it comes to that below
  run(*counter, group, [&] { counter->set_paused(paused = !paused); });
  expect(total_of(*counter, Direction::kSent).messages <= kThreads * kEach, "a pause adds nothing");
  expect(counter->was_ever_paused(), "paused");
  counter->set_paused(true);
  const Total before = total_of(*counter, Direction::kSent);
  run(*counter, group, [] { std::this_thread::yield(); });
  expect(total_of(*counter, Direction::kSent).messages == before.messages,
         "nothing is counted while paused");
}

// One thread gives tags out, the others look them up, past the point where old runs are replaced.
void tags_are_found_while_added() {
  constexpr int kTags = 4 * TagRuns::kRuns;
  TagRuns runs;
  std::atomic<int> given{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      for (int newest = 0; newest < kTags; newest = given.load(std::memory_order_acquire)) {
        // Far from the oldest run, so that it cannot be replaced meanwhile.
        if (newest > 0 && runs.find(-newest) != 1 + static_cast<std::uint32_t>(newest % 2)) ++wrong;
        std::this_thread::yield();
      }
    });
  }
  for (int tag = 1; tag <= kTags; ++tag) {
    runs.add(-tag, -tag, 1 + static_cast<std::uint32_t>(tag % 2));
    given.store(tag, std::memory_order_release);
    if (tag % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  for (auto& reader : readers) reader.join();
  expect(wrong.load() == 0, "a tag given out is found at once");
}

}  // namespace
}  // namespace fathom::profiler

int main() {
  const fathom::test::FakeGroup group(fathom::test::fake_world(1, fathom::profiler::kPeers));
  fathom::profiler::phases_lose_nothing(group);
  fathom::profiler::pauses_only_take_away(group);
  fathom::profiler::tags_are_found_while_added();
  if (fathom::profiler::failures == 0) std::puts("totals are exact");
  return fathom::profiler::failures == 0 ? 0 : 1;
}
