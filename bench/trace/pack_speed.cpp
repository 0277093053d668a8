// SPDX-License-Identifier: BSD-3-Clause
// How long packing takes for a record of a ping-pong, as stock Open MPI and the PERUSE build leave them.
//
//   trace_pack_speed
//
// One chunk (profiler/recording/recorder.h) is packed again and again; the fastest time counts, so what is
// measured lies in the caches. Times between records are 40 to 400 ticks, one in sixteen longer.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "trace/format/format.h"
#include "trace/format/packed_records.h"

namespace {

using fathom::trace::RecordKind;
using Words = std::vector<std::uint64_t>;

struct Record {
  RecordKind kind;
  std::uint32_t words;
  bool is_at_once;  // shares the clock reading of the one before
};

const std::vector<Record> kStock = {
    {RecordKind::kEnter, 3, false},           {RecordKind::kMessageSent, 2, true},
    {RecordKind::kLeave, 0, false},           {RecordKind::kEnter, 3, false},
    {RecordKind::kMessageReceived, 2, false}, {RecordKind::kLeave, 1, true}};

// The same with the steps of the receive's request.
std::vector<Record> with_steps() {
  std::vector<Record> loop = kStock;
  const Record posted = {RecordKind::kTransfer, 1, true},
               matched = {RecordKind::kTransfer, 1, false};
  loop.insert(loop.begin() + 4, {posted, posted, matched, posted, posted, posted});
  return loop;
}

Words chunk_of(const std::vector<Record>& loop) {
  constexpr std::size_t kWords = 16380, kLongestTurn = 64;
  std::mt19937_64 random(1);
  Words words;
  while (words.size() + kLongestTurn < kWords) {
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const std::uint64_t ticks = random() % 16 == 0 ? random() % 20'000 : 40 + random() % 360;
      words.push_back(fathom::trace::head(
          static_cast<std::uint32_t>(loop[i].kind), loop[i].words, static_cast<std::uint32_t>(i),
          loop[i].is_at_once ? 0 : static_cast<std::uint32_t>(ticks)));
      for (std::uint32_t word = 0; word < loop[i].words; ++word)
        words.push_back(1000 + 10 * i + word);
    }
  }
  return words;
}

void measure(const char* name, const std::vector<Record>& loop) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTimes = 4000;
  const Words words = chunk_of(loop);
  fathom::trace::RecordPacker packer;
  double fastest = 1e9;
  fathom::trace::RecordPacker::Packed packed;
  for (int i = 0; i < kTimes; ++i) {
    const Clock::time_point start = Clock::now();
    packed = packer.pack(words.data(), words.size(), 0);
    const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
    fastest = std::min(fastest, taken.count() / packed.records);
  }
  std::printf("%s: %.2f ns a record, %.2f bytes each\n", name, fastest,
              static_cast<double>(packed.size) / packed.records);
}

}  // namespace

int main() {
  measure("stock Open MPI", kStock);
  measure("PERUSE build", with_steps());
}
