// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/recorder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fathom::profiler {
namespace {

using trace::ChunkState;
using trace::LiveChunkHeader;

std::atomic_ref<ChunkState> state_of(LiveChunkHeader* chunk) {
  return std::atomic_ref(chunk->state);
}

std::atomic_ref<Owner> owner_of(Stream& stream) { return std::atomic_ref(stream.owner); }

std::atomic_ref<std::uint64_t> lost_in(char* memory) {
  return std::atomic_ref(reinterpret_cast<trace::LiveHeader*>(memory)->lost_records);
}

// Makes the file and reserves room for all of it, so that no store into it can meet a full disk.
// -1, with errno set, if there is no room.
int make_file(const char* path, std::size_t bytes) {
  const int descriptor = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  const int error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  if (error == 0) return descriptor;
  unlink(path);
  ::close(descriptor);
  errno = error;
  return -1;
}

// `where`: replaces the mapping there; null: anywhere.
char* map_memory(char* where, std::size_t bytes) {
  void* memory =
      mmap(where, bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where != nullptr ? MAP_FIXED : 0), -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

bool map_file(char* where, std::size_t bytes, int descriptor) {
  return mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0) !=
         MAP_FAILED;
}

}  // namespace

bool Recorder::open(const char* path, std::uint32_t job, std::uint32_t rank,
                    std::size_t memory_bytes) {
  if (std::strlen(path) >= sizeof path_) return false;
  std::strcpy(path_, path);
  size_memory(memory_bytes, 2);
  descriptor_ = make_file(path, memory_bytes_);
  chunks_in_file_ = descriptor_ >= 0;
  if (!chunks_in_file_) descriptor_ = make_file(path, kHeaderBytes + kRoomForEnd);
  return descriptor_ >= 0 && map_and_begin(job, rank);
}

bool Recorder::open_in_memory(std::uint32_t job, std::uint32_t rank, std::size_t memory_bytes) {
  size_memory(memory_bytes, kLeastKept);
  descriptor_ = memfd_create("fathom-flight", MFD_CLOEXEC);
  if (descriptor_ < 0) return false;
  const int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(memory_bytes_));
  chunks_in_file_ = error == 0;
  if (chunks_in_file_ && map_and_begin(job, rank)) return true;
  const int why = error != 0 ? error : errno;
  close(false);
  errno = why;
  return false;
}

void Recorder::size_memory(std::size_t memory_bytes, std::uint32_t least_chunks) {
  chunk_count_ = static_cast<std::uint32_t>(memory_bytes / kChunkBytes);
  if (chunk_count_ < least_chunks) chunk_count_ = least_chunks;
  memory_bytes_ = kHeaderBytes + chunk_count_ * kChunkBytes;
}

bool Recorder::map_and_begin(std::uint32_t job, std::uint32_t rank) {
  // A thread may still append to what it took before close().
  const bool again = streams_ != nullptr;
  if (!again) memory_ = map_memory(nullptr, memory_bytes_);
  char* streams =
      again ? reinterpret_cast<char*>(streams_) : map_memory(nullptr, kMaxStreams * sizeof(Stream));
  if (memory_ == nullptr || streams == nullptr ||
      !map_file(memory_, chunks_in_file_ ? memory_bytes_ : kHeaderBytes, descriptor_)) {
    const int error = errno;
    close(path_[0] != 0);
    errno = error;
    return false;
  }
  chunks_ = memory_ + kHeaderBytes;
  streams_ = reinterpret_cast<Stream*>(streams);
  for (std::uint32_t i = 0; i < this->streams(); ++i)
    std::atomic_ref(streams_[i].prompt_kind).store(0, std::memory_order_relaxed);
  lowest_free_.store(0, std::memory_order_relaxed);
  used_chunks_.store(0);
  trace::LiveHeader header{};
  header.version = trace::kVersion;
  header.job = job;
  header.rank = rank;
  header.chunk_bytes = kChunkBytes;
  header.chunk_count = chunks_in_file_ ? chunk_count_ : 0;
  header.header_bytes = kHeaderBytes;
  std::memcpy(header.magic, trace::kLiveMagic, sizeof header.magic);
  std::memcpy(memory_, &header, sizeof header);
  // Without the key, threads keep their streams to the end.
  if (!sees_thread_ends_) sees_thread_ends_ = pthread_key_create(&at_thread_end_, thread_ends) == 0;
  open_.store(this, std::memory_order_release);
  return true;
}

// Called by its own thread, or by the thread that owns it.
void Recorder::begin_again(Stream& stream) const {
  if (stream.opening == opening_) return;
  stream.opening = opening_;
  stream.at = stream.limit = stream.prompt = nullptr;
  stream.chunk = nullptr;
  stream.sequence = stream.lost = stream.last_ticks = 0;
}

Stream* Recorder::attach() {
  Recorder* recorder = open_.load(std::memory_order_acquire);
  if (recorder == nullptr) return nullptr;
  Stream* stream = recorder->left_stream();
  if (stream == nullptr) stream = recorder->new_stream();
  if (stream == nullptr) return &unnumbered_stream();  // the next record tries again
  recorder->begin_again(*stream);
  stream->lost += std::exchange(unnumbered_stream().lost, 0);
  own_stream() = stream;
  if (sees_thread_ends_) pthread_setspecific(at_thread_end_, stream);
  return stream;
}

Stream* Recorder::left_stream() {
  if (left_streams_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::uint32_t count = streams();
  // Prefer one that still has a chunk: it needs no other.
  for (const Owner wanted : {Owner::kNobody, Owner::kEmpty}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Stream& stream = streams_[i];
      Owner owner = wanted;
      if (owner_of(stream).load(std::memory_order_relaxed) != wanted ||
          !owner_of(stream).compare_exchange_strong(owner, Owner::kThread,
                                                    std::memory_order_acquire)) {
        continue;
      }
      left_streams_.fetch_sub(1, std::memory_order_relaxed);
      stream.prompt_kind = 0;  // the last record was another thread's
      stream.muted = false;
      return &stream;
    }
  }
  return nullptr;
}

Stream* Recorder::new_stream() {
  std::uint32_t number = stream_count_.load(std::memory_order_relaxed);
  do {
    if (number >= kMaxStreams) return nullptr;
  } while (!stream_count_.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel));
  Stream* stream = &streams_[number];
  stream->thread = number;
  if (left_out_ != nullptr) stream->left_out = left_out_ + std::size_t{number} * kMaxFunctions;
  return stream;
}

// Also runs in a child of fork, so it touches no shared mapping. If the thread calls MPI after
// this, in another destructor, it gets a stream again.
void Recorder::thread_ends(void* stream) {
  own_stream() = nullptr;
  left_streams_.fetch_add(1, std::memory_order_relaxed);
  owner_of(*static_cast<Stream*>(stream)).store(Owner::kNobody, std::memory_order_release);
}

void Recorder::take_from_ended() {
  if (left_streams_.load(std::memory_order_relaxed) == 0) return;
  const std::uint32_t count = streams();
  for (std::uint32_t i = 0; i < count; ++i) {
    Stream& stream = streams_[i];
    Owner owner = Owner::kNobody;
    if (owner_of(stream).load(std::memory_order_relaxed) != owner ||
        !owner_of(stream).compare_exchange_strong(owner, Owner::kDrain,
                                                  std::memory_order_acquire)) {
      continue;
    }
    release_chunk(stream);
    owner_of(stream).store(Owner::kEmpty, std::memory_order_release);
  }
}

void Recorder::release_chunk(Stream& stream) const {
  begin_again(stream);  // of an earlier opening: the chunk is not its own any more
  if (stream.chunk == nullptr) return;
  state_of(stream.chunk).store(ChunkState::kFull, std::memory_order_release);
  stream.chunk = nullptr;
  stream.at = stream.limit = stream.prompt = nullptr;
}

bool Recorder::take_chunk(Stream& stream, std::uint64_t ticks) {
  if (stream.thread == kNoNumber) return false;
  const std::uint32_t from = lowest_free_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < chunk_count_; ++i) {
    const std::uint32_t number = (from + i) % chunk_count_;
    LiveChunkHeader* found = chunk(number);
    ChunkState expected = ChunkState::kFree;
    if (state_of(found).load(std::memory_order_relaxed) != ChunkState::kFree ||
        !state_of(found).compare_exchange_strong(expected, ChunkState::kFilling,
                                                 std::memory_order_acquire)) {
      continue;
    }
    lowest_free_.store(number + 1, std::memory_order_relaxed);
    std::uint32_t used = used_chunks_.load(std::memory_order_relaxed);
    while (used <= number && !used_chunks_.compare_exchange_weak(used, number + 1)) {
    }
    if (stream.chunk != nullptr)
      state_of(stream.chunk).store(ChunkState::kFull, std::memory_order_release);
    found->thread = stream.thread;
    found->sequence = stream.sequence++;
    found->first_ticks = ticks;
    stream.chunk = found;
    stream.at = words_of(found);
    stream.limit = words_of(found) + kChunkWords - kReserveWords;
    stream.last_ticks = ticks;
    chunks_opened_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

bool Recorder::make_room(Stream& stream, std::uint64_t ticks) {
  Recorder* recorder = open_.load(std::memory_order_acquire);
  if (recorder == nullptr) return false;
  recorder->begin_again(stream);
  if (stream.at >= stream.limit && !recorder->take_chunk(stream, ticks)) {
    stream.lost += 1;
    recorder->count_lost(1);
    return false;
  }
  // shut() either sees this chunk's limit, or is seen here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (open_.load(std::memory_order_relaxed) != recorder || stream.opening != recorder->opening_) {
    stream.limit = nullptr;
    stream.opening = kNeverOpened;  // the chunk is of the one that was shut
    return false;
  }
  write_time_and_loss(stream, ticks);
  return true;
}

void Recorder::write_time_and_loss(Stream& stream, std::uint64_t ticks) {
  const auto write = [&stream](trace::RecordKind kind, std::uint64_t word) {
    std::uint64_t* record = stream.at;
    record[1] = word;
    record[2] = 0;
    std::atomic_ref(*record).store(trace::head(static_cast<std::uint32_t>(kind), 1, 0, 0),
                                   std::memory_order_release);
    stream.at += 2;
  };
  if ((ticks - stream.last_ticks) >> 32 != 0) {  // true also if the clock went back
    write(trace::RecordKind::kTime, ticks);
    stream.last_ticks = ticks;
  }
  if (stream.lost != 0) write(trace::RecordKind::kLost, std::exchange(stream.lost, 0));
}

void Recorder::retract(Stream& stream, trace::RecordKind kind, std::uint64_t word) {
  const Recorder* recorder = open_.load(std::memory_order_acquire);
  if (stream.chunk == nullptr || recorder == nullptr || stream.opening != recorder->opening_)
    return;
  std::uint64_t* found = nullptr;
  for (std::uint64_t* at = words_of(stream.chunk); at < stream.at;) {
    const std::uint64_t words = *at >> trace::kWordsShift & trace::kMaxWords;
    if ((*at & 0xff) == static_cast<std::uint64_t>(kind) && words >= 3 && at[3] == word) found = at;
    at += 1 + words;
  }
  if (found == nullptr) return;
  std::atomic_ref(*found).store(
      (*found & ~std::uint64_t{0xff}) | static_cast<std::uint64_t>(trace::RecordKind::kVoid),
      std::memory_order_release);
}

LiveChunkHeader* Recorder::next_full() {
  LiveChunkHeader* first = nullptr;
  // Each header is in a page of its own, so a look at all takes as long as draining a fraction of one.
  const std::uint32_t used = used_chunks_.load();
  for (std::uint32_t i = 0; i < used; ++i) {
    LiveChunkHeader* candidate = chunk(i);
    if (state_of(candidate).load(std::memory_order_acquire) != ChunkState::kFull) continue;
    if (first == nullptr || candidate->sequence < first->sequence) first = candidate;
  }
  return first;
}

void Recorder::recycle(LiveChunkHeader* chunk) {
  *words_of(chunk) = 0;  // before a thread takes it: a kill must not leave its records twice
  state_of(chunk).store(ChunkState::kFree, std::memory_order_release);
  const auto number =
      static_cast<std::uint32_t>((reinterpret_cast<char*>(chunk) - chunks_) / kChunkBytes);
  if (number < lowest_free_.load(std::memory_order_relaxed))
    lowest_free_.store(number, std::memory_order_relaxed);
}

bool Recorder::add_up_left_out() {
  left_out_ = reinterpret_cast<LeftOut*>(
      map_memory(nullptr, std::size_t{kMaxStreams} * kMaxFunctions * sizeof(LeftOut)));
  return left_out_ != nullptr;
}

void Recorder::seal(std::uint32_t number) {
  Stream& stream = streams_[number];
  for (std::uint32_t function = 0; stream.left_out != nullptr && function < kMaxFunctions;
       ++function) {
    const LeftOut sum = std::exchange(stream.left_out[function], {});
    if (sum.calls == 0) continue;
    append(stream, Ticks::now(), trace::RecordKind::kSampled, function, sum.calls, sum.ticks);
  }
  // kReserveWords leaves room for these two even in a chunk that takes no more records.
  const std::uint64_t now = Ticks::now();
  if (stream.lost != 0 && (stream.chunk != nullptr || take_chunk(stream, now)))
    write_time_and_loss(stream, now);
  release_chunk(stream);
}

// The streams belong to threads that may be appending: each sees at its next record that it has no
// room, and, once there is another opening, that what it has is of an earlier one.
void Recorder::shut() {
  if (open_.exchange(nullptr) == nullptr) return;
  ++opening_;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < streams(); ++i)
    std::atomic_ref(streams_[i].limit).store(nullptr, std::memory_order_relaxed);
}

void Recorder::declare_all_full() {
  for (std::uint32_t i = 0; i < chunk_count_; ++i) {
    ChunkState expected = ChunkState::kFilling;
    state_of(chunk(i)).compare_exchange_strong(expected, ChunkState::kFull,
                                               std::memory_order_acq_rel);
  }
}

std::uint64_t Recorder::unwritten_loss(std::uint32_t number, std::uint64_t* sequence) const {
  Stream& stream = streams_[number];
  const bool is_present =
      std::atomic_ref(stream.opening).load(std::memory_order_relaxed) + 1 == opening_;
  *sequence = std::atomic_ref(stream.sequence).load(std::memory_order_relaxed);
  return is_present ? std::atomic_ref(stream.lost).load(std::memory_order_relaxed) : 0;
}

void Recorder::count_lost(std::uint64_t records) {
  lost_in(memory_).fetch_add(records, std::memory_order_relaxed);
}

void Recorder::forget() {
  own_control_.store(0, std::memory_order_relaxed);
  control_ = &own_control_;
  open_.store(nullptr, std::memory_order_relaxed);
  own_stream() = nullptr;
}

std::uint64_t Recorder::lost() const {
  return memory_ == nullptr ? 0 : lost_in(memory_).load(std::memory_order_relaxed);
}

std::size_t Recorder::used_words(const LiveChunkHeader* chunk, std::uint32_t* records,
                                 std::uint64_t* last_ticks) {
  auto* words = words_of(const_cast<LiveChunkHeader*>(chunk));
  const std::size_t most = kChunkWords;
  std::size_t at = 0;
  *records = 0;
  *last_ticks = chunk->first_ticks;
  while (at < most) {
    const std::uint64_t head = std::atomic_ref(words[at]).load(std::memory_order_acquire);
    if (head == 0) break;
    const std::size_t length = 1 + (head >> trace::kWordsShift & trace::kMaxWords);
    if (at + length > most) break;
    *last_ticks += head >> trace::kTimeShift;
    if ((head & 0xff) == static_cast<std::uint64_t>(trace::RecordKind::kTime))
      *last_ticks = words[at + 1];
    at += length;
    *records += 1;
  }
  return at;
}

void Recorder::give_back_room() {
  // Keeps memory mapped there, for a thread may be about to append to it.
  if (chunks_in_file_ && map_memory(chunks_, chunk_count_ * kChunkBytes) == nullptr) return;
  reinterpret_cast<trace::LiveHeader*>(memory_)->chunk_count = 0;
  (void)!ftruncate(descriptor_, kHeaderBytes);
  chunks_in_file_ = false;
}

void Recorder::close(bool remove_file) {
  stop();
  if (open_.load(std::memory_order_relaxed) == this)
    open_.store(nullptr, std::memory_order_relaxed);
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    if (remove_file) unlink(path_);
  }
  descriptor_ = -1;
}

// A call that began before may end now, so the addresses stay in use.
bool Recorder::close_until_opened_again(bool remove_file) {
  shut();
  if (map_memory(memory_, memory_bytes_) == nullptr) return false;
  close(remove_file);
  return true;
}

}  // namespace fathom::profiler
