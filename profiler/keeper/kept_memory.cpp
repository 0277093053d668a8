// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/keeper/kept_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace fathom::profiler {
namespace {

using trace::ChunkState;
using trace::LiveChunkHeader;

ChunkState state_of(LiveChunkHeader* chunk) {
  return std::atomic_ref(chunk->state).load(std::memory_order_acquire);
}

std::uint64_t* words_of(LiveChunkHeader* chunk) {
  return reinterpret_cast<std::uint64_t*>(chunk + 1);
}

}  // namespace

bool KeptMemory::open(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 ||
      static_cast<std::size_t>(facts.st_size) < sizeof(trace::LiveHeader))
    return false;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) return false;
  memory_ = static_cast<char*>(mapped);
  const trace::LiveHeader& own = header();
  return std::memcmp(own.magic, trace::kLiveMagic, sizeof own.magic) == 0 &&
         own.chunk_bytes > sizeof(LiveChunkHeader) &&
         own.header_bytes >= trace::kFlightHeaderOffset + sizeof(trace::FlightHeader) &&
         own.header_bytes + std::uint64_t{own.chunk_count} * own.chunk_bytes <= bytes;
}

bool KeptMemory::has_ended() const {
  return std::atomic_ref(flight()->ended).load(std::memory_order_acquire) != 0;
}

std::uint32_t KeptMemory::asked() const {
  return std::atomic_ref(flight()->asked).load(std::memory_order_acquire);
}

std::uint64_t KeptMemory::lost() const {
  return std::atomic_ref(reinterpret_cast<trace::LiveHeader*>(memory_)->lost_records)
      .load(std::memory_order_relaxed);
}

LiveChunkHeader* KeptMemory::chunk(std::uint32_t number) const {
  return reinterpret_cast<LiveChunkHeader*>(memory_ + header().header_bytes +
                                            std::size_t{number} * header().chunk_bytes);
}

// By time, and so within each thread by sequence: what is left of a thread has no gap.
std::vector<KeptChunk> KeptMemory::surplus() const {
  std::vector<std::uint32_t> full;
  std::uint32_t free = 0;
  for (std::uint32_t i = 0; i < header().chunk_count; ++i) {
    const ChunkState state = state_of(chunk(i));
    if (state == ChunkState::kFull) full.push_back(i);
    if (state == ChunkState::kFree) ++free;
  }
  const std::uint32_t wanted = std::max(1u, header().chunk_count / kFreeShare);
  if (free >= wanted) return {};
  std::sort(full.begin(), full.end(), [this](std::uint32_t a, std::uint32_t b) {
    return std::make_pair(chunk(a)->first_ticks, chunk(a)->sequence) <
           std::make_pair(chunk(b)->first_ticks, chunk(b)->sequence);
  });
  full.resize(std::min<std::size_t>(full.size(), wanted - free));
  std::vector<KeptChunk> oldest;
  for (const std::uint32_t number : full) oldest.push_back(copy_of(number));
  return oldest;
}

void KeptMemory::let_go(const KeptChunk& dropped) {
  LiveChunkHeader* freed = chunk(dropped.number);
  *words_of(freed) = 0;
  std::atomic_ref(freed->state).store(ChunkState::kFree, std::memory_order_release);
}

KeptChunk KeptMemory::copy_of(std::uint32_t number) const {
  KeptChunk copy;
  copy.number = number;
  const LiveChunkHeader* const from = chunk(number);
  std::uint64_t* words = words_of(chunk(number));
  // A thread that takes a chunk writes the header before the first record.
  if (std::atomic_ref(*words).load(std::memory_order_acquire) == 0) return copy;
  copy.frame.kind = trace::FrameKind::kEvents;
  copy.frame.thread = from->thread;
  copy.frame.sequence = from->sequence;
  copy.frame.first_ticks = copy.frame.last_ticks = from->first_ticks;
  const std::size_t most = (header().chunk_bytes - sizeof(LiveChunkHeader)) / sizeof(std::uint64_t);
  std::size_t at = 0;
  while (at < most) {
    const std::uint64_t head = std::atomic_ref(words[at]).load(std::memory_order_acquire);
    const std::size_t length = 1 + (head >> trace::kWordsShift & trace::kMaxWords);
    if (head == 0 || at + length > most) break;
    copy.frame.last_ticks += head >> trace::kTimeShift;
    if ((head & 0xff) == static_cast<std::uint64_t>(trace::RecordKind::kTime) && length > 1)
      copy.frame.last_ticks = words[at + 1];
    at += length;
    copy.frame.records += 1;
  }
  copy.words.assign(words, words + at);
  return copy;
}

std::vector<KeptChunk> KeptMemory::copy() const {
  std::vector<KeptChunk> all;
  for (std::uint32_t i = 0; i < header().chunk_count; ++i) {
    if (state_of(chunk(i)) == ChunkState::kFree) continue;
    KeptChunk copied = copy_of(i);
    if (copied.frame.records > 0) all.push_back(std::move(copied));
  }
  std::sort(all.begin(), all.end(), [](const KeptChunk& a, const KeptChunk& b) {
    return std::make_pair(a.frame.thread, a.frame.sequence) <
           std::make_pair(b.frame.thread, b.frame.sequence);
  });
  return all;
}

std::uint64_t KeptMemory::oldest_ticks() const {
  std::uint64_t oldest = 0;
  for (std::uint32_t i = 0; i < header().chunk_count; ++i) {
    LiveChunkHeader* each = chunk(i);
    if (state_of(each) == ChunkState::kFree) continue;
    if (oldest == 0 || each->first_ticks < oldest) oldest = each->first_ticks;
  }
  return oldest;
}

}  // namespace fathom::profiler
