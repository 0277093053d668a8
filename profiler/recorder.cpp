#include "profiler/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fathom::profiler {
namespace {

using trace::ChunkState;
using trace::LiveChunkHeader;

constexpr std::size_t kHeaderWords = sizeof(LiveChunkHeader) / sizeof(std::uint64_t);

std::uint64_t* words_of(LiveChunkHeader* chunk) {
  return reinterpret_cast<std::uint64_t*>(chunk) + kHeaderWords;
}

std::atomic_ref<ChunkState> state_of(LiveChunkHeader* chunk) { return std::atomic_ref(chunk->state); }

std::atomic_ref<std::uint64_t> lost_in(char* memory) {
  return std::atomic_ref(reinterpret_cast<trace::LiveHeader*>(memory)->lost_records);
}

// Room for the whole file, so that no store into it can find the disk full.
int make_file(const char* path, std::size_t bytes) {
  const int descriptor = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  if (posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) == 0) return descriptor;
  unlink(path);
  ::close(descriptor);
  return -1;
}

void* map(int descriptor, std::size_t bytes) {
  const int flags = descriptor >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool Recorder::open(const char* path, std::uint32_t job, std::uint32_t rank, std::size_t memory_bytes) {
  if (std::strlen(path) >= sizeof path_) return false;
  std::strcpy(path_, path);
  chunk_count_ = static_cast<std::uint32_t>(memory_bytes / kChunkBytes);
  if (chunk_count_ < 2) chunk_count_ = 2;
  memory_bytes_ = kHeaderBytes + chunk_count_ * kChunkBytes;
  descriptor_ = make_file(path, memory_bytes_);
  void* memory = map(descriptor_, memory_bytes_);
  void* streams = mmap(nullptr, kMaxStreams * sizeof(Stream), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == nullptr || streams == MAP_FAILED) {
    close(true);
    return false;
  }
  memory_ = static_cast<char*>(memory);
  chunks_ = memory_ + kHeaderBytes;
  streams_ = static_cast<Stream*>(streams);
  trace::LiveHeader header{};
  header.version = trace::kVersion;
  header.job = job;
  header.rank = rank;
  header.chunk_bytes = kChunkBytes;
  header.chunk_count = chunk_count_;
  header.header_bytes = kHeaderBytes;
  std::memcpy(header.magic, trace::kLiveMagic, sizeof header.magic);
  std::memcpy(memory_, &header, sizeof header);
  open_ = this;
  return true;
}

Stream* Recorder::attach() {
  Recorder* recorder = open_;
  if (recorder == nullptr) return nullptr;
  const std::uint32_t number = recorder->stream_count_.fetch_add(1, std::memory_order_acq_rel);
  if (number >= kMaxStreams) return nullptr;
  Stream* stream = &recorder->streams_[number];
  stream->thread = number;
  if (recorder->left_out_ != nullptr) stream->left_out = recorder->left_out_ + std::size_t{number} * kMaxFunctions;
  own_stream() = stream;
  return stream;
}

bool Recorder::take_chunk(Stream& stream, std::uint64_t ticks) {
  const std::uint32_t from = lowest_free_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < chunk_count_; ++i) {
    const std::uint32_t number = (from + i) % chunk_count_;
    LiveChunkHeader* found = chunk(number);
    ChunkState expected = ChunkState::kFree;
    if (state_of(found).load(std::memory_order_relaxed) != ChunkState::kFree ||
        !state_of(found).compare_exchange_strong(expected, ChunkState::kFilling, std::memory_order_acquire)) {
      continue;
    }
    lowest_free_.store(number + 1, std::memory_order_relaxed);
    if (stream.chunk != nullptr) state_of(stream.chunk).store(ChunkState::kFull, std::memory_order_release);
    found->thread = stream.thread;
    found->sequence = stream.sequence++;
    found->first_ticks = ticks;
    stream.chunk = found;
    stream.at = words_of(found);
    stream.limit = words_of(found) + (kChunkBytes - sizeof(LiveChunkHeader)) / sizeof(std::uint64_t) - kReserveWords;
    stream.last_ticks = ticks;
    chunks_opened_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

bool Recorder::make_room(Stream& stream, std::uint64_t ticks) {
  Recorder* recorder = open_;
  if (recorder == nullptr) return false;
  if (stream.at >= stream.limit && !recorder->take_chunk(stream, ticks)) {
    stream.lost += 1;
    lost_in(recorder->memory_).fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if ((ticks - stream.last_ticks) >> 32 != 0) {  // also where the clock went back
    std::uint64_t* record = stream.at;
    record[1] = ticks;
    std::atomic_ref(*record).store(trace::head(static_cast<std::uint32_t>(trace::RecordKind::kTime), 1, 0, 0),
                                   std::memory_order_release);
    stream.at += 2;
    stream.last_ticks = ticks;
  }
  if (stream.lost != 0) {
    std::uint64_t* record = stream.at;
    record[1] = stream.lost;
    std::atomic_ref(*record).store(trace::head(static_cast<std::uint32_t>(trace::RecordKind::kLost), 1, 0, 0),
                                   std::memory_order_release);
    stream.at += 2;
    stream.lost = 0;
  }
  return true;
}

void Recorder::retract(Stream& stream, trace::RecordKind kind, std::uint64_t word) {
  if (stream.chunk == nullptr) return;
  std::uint64_t* found = nullptr;
  for (std::uint64_t* at = words_of(stream.chunk); at < stream.at;) {
    const std::uint64_t words = *at >> trace::kWordsShift & trace::kMaxWords;
    if ((*at & 0xff) == static_cast<std::uint64_t>(kind) && at[words] == word) found = at;
    at += 1 + words;
  }
  if (found == nullptr) return;
  std::atomic_ref(*found).store((*found & ~std::uint64_t{0xff}) | static_cast<std::uint64_t>(trace::RecordKind::kVoid),
                                std::memory_order_release);
}

LiveChunkHeader* Recorder::next_full() {
  LiveChunkHeader* first = nullptr;
  for (std::uint32_t i = 0; i < chunk_count_; ++i) {
    LiveChunkHeader* candidate = chunk(i);
    if (state_of(candidate).load(std::memory_order_acquire) != ChunkState::kFull) continue;
    if (first == nullptr || candidate->sequence < first->sequence) first = candidate;
  }
  return first;
}

void Recorder::recycle(LiveChunkHeader* chunk) {
  std::uint32_t records = 0;
  std::uint64_t last = 0;
  std::memset(words_of(chunk), 0, used_words(chunk, &records, &last) * sizeof(std::uint64_t));
  state_of(chunk).store(ChunkState::kFree, std::memory_order_release);
  const auto number = static_cast<std::uint32_t>((reinterpret_cast<char*>(chunk) - chunks_) / kChunkBytes);
  if (number < lowest_free_.load(std::memory_order_relaxed)) lowest_free_.store(number, std::memory_order_relaxed);
}

bool Recorder::add_up_left_out() {
  void* memory = mmap(nullptr, std::size_t{kMaxStreams} * kMaxFunctions * sizeof(LeftOut), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  left_out_ = static_cast<LeftOut*>(memory);
  return true;
}

void Recorder::seal() {
  const std::uint32_t streams = stream_count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < streams && i < kMaxStreams; ++i) {
    Stream& stream = streams_[i];
    for (std::uint32_t function = 0; stream.left_out != nullptr && function < kMaxFunctions; ++function) {
      const LeftOut& sum = stream.left_out[function];
      if (sum.calls == 0) continue;
      append(stream, Ticks::now(), trace::RecordKind::kSampled, function, sum.calls, sum.ticks);
    }
    if (stream.chunk == nullptr) continue;
    state_of(stream.chunk).store(ChunkState::kFull, std::memory_order_release);
    stream.chunk = nullptr;
    stream.at = stream.limit = stream.prompt = nullptr;
  }
}

void Recorder::forget() {
  recording_.store(false, std::memory_order_relaxed);
  open_ = nullptr;
  own_stream() = nullptr;
}

std::uint64_t Recorder::lost() const {
  return memory_ == nullptr ? 0 : lost_in(memory_).load(std::memory_order_relaxed);
}

std::size_t Recorder::used_words(const LiveChunkHeader* chunk, std::uint32_t* records, std::uint64_t* last_ticks) {
  auto* words = words_of(const_cast<LiveChunkHeader*>(chunk));
  const std::size_t most = (kChunkBytes - sizeof(LiveChunkHeader)) / sizeof(std::uint64_t);
  std::size_t at = 0;
  *records = 0;
  *last_ticks = chunk->first_ticks;
  while (at < most) {
    const std::uint64_t head = std::atomic_ref(words[at]).load(std::memory_order_acquire);
    if (head == 0) break;
    const std::size_t length = 1 + (head >> trace::kWordsShift & trace::kMaxWords);
    if (at + length > most) break;
    *last_ticks += head >> trace::kTimeShift;
    if ((head & 0xff) == static_cast<std::uint64_t>(trace::RecordKind::kTime)) *last_ticks = words[at + 1];
    at += length;
    *records += 1;
  }
  return at;
}

void Recorder::close(bool remove_file) {
  recording_.store(false, std::memory_order_relaxed);
  if (open_ == this) open_ = nullptr;
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    if (remove_file) unlink(path_);
  }
  // The memory stays mapped: a thread may be about to append to it.
  descriptor_ = -1;
}

}  // namespace fathom::profiler
