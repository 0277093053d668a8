// SPDX-License-Identifier: BSD-3-Clause
// The memory that a process records its events into, and the hot path that appends to it.
//
// A file mapped shared (trace/format/format.h, JOB.RANK.live), so that what was appended outlives the
// process however it ends, in chunks. Each thread fills a chunk of its own; full ones are
// compressed into JOB.RANK.trace by one background thread (drain.h) and used again. Memory never
// grows: where no chunk is free, records are lost, and counted.
//
// A thread gets a stream, and with it a number, at its first record, and leaves both when it ends:
// the next new thread goes on with them, in the same chunk. So the number of threads is limited
// only at any one time: above kMaxStreams a thread has no stream until another ends; its records
// are lost, and counted.
//
// append() never allocates, locks, waits or calls the kernel. A record is published by one store of
// its head, after its payload. Threading: append() from the stream's own thread; the other
// functions say.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/recording/ticks.h"
#include "trace/format/format.h"

namespace fathom::profiler {

// Calls of one function that sampling left out.
struct LeftOut {
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;  // inside them
};

// What the last record was, as far as others follow it within nanoseconds; a bit each.
enum Follows : std::uint32_t {
  kEntered = 1,
  kSent = 2,
  kActivated = 4,
  kMatched = 8,
  kBegun = 16,
  kEnded = 32,
  kCompleted = 64,
  kReceived = 128,
};

// Who may touch a stream.
enum class Owner : std::uint32_t {
  kThread = 0,
  kNobody = 1,  // the thread has ended: the next new thread may have it, and the drain its chunk
  kEmpty = 2,   // the same, without a chunk
  kDrain = 3,   // its chunk is being taken
};

inline constexpr std::uint32_t kNoNumber = ~0u;

// What one thread writes to.
struct alignas(64) Stream {
  std::uint64_t* at = nullptr;     // the next record's head
  std::uint64_t* limit = nullptr;  // records begin below it: the largest still fits
  std::uint64_t last_ticks = 0;
  std::uint64_t* prompt = nullptr;  // == at: the last record was prompt_kind
  std::uint32_t prompt_kind = 0;
  trace::LiveChunkHeader* chunk = nullptr;
  std::uint64_t sequence = 0;        // of the next chunk
  std::uint64_t lost = 0;            // since the last record that found a place
  std::uint32_t thread = kNoNumber;  // kNoNumber: all that is appended is lost
  Owner owner = Owner::kThread;
  std::uint32_t calls = 0;      // for sampling
  bool muted = false;           // inside a call that sampling leaves out
  LeftOut* left_out = nullptr;  // by function; null unless calls are sampled
};

class Recorder {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{128} << 10;
  static constexpr std::size_t kHeaderBytes = 4096;
  static constexpr std::size_t kRoomForEnd = std::size_t{256} << 10;
  static constexpr std::uint32_t kMaxStreams = 4096;
  static constexpr std::uint32_t kMaxFunctions = 1024;

  // Cold. Makes `path` with room for `memory_bytes` of chunks (two at least). Where the file system
  // has too little room the chunks are anonymous memory, and the file is the header with
  // kRoomForEnd: then SIGKILL loses what is not drained, and survives_kill() is false. False (errno
  // tells) without memory, or without room even for that.
  bool open(const char* path, std::uint32_t job, std::uint32_t rank, std::size_t memory_bytes);
  bool survives_kill() const { return chunks_in_file_; }

  // For what happens inside calls: null also where sampling leaves the present call out.
  static Stream* unmuted_stream() {
    Stream* own = stream();
    return own != nullptr && own->muted ? nullptr : own;
  }

  // The stream of this thread; null while nothing is recorded here.
  static Stream* stream() {
    if (!recording_.load(std::memory_order_relaxed)) return nullptr;
    Stream* own = own_stream();
    return own != nullptr ? own : attach();
  }
  static bool recording() { return recording_.load(std::memory_order_relaxed); }

  // Cold, any thread. Starts and stops all streams; a record being appended meanwhile still
  // arrives.
  void start() { recording_.store(true, std::memory_order_relaxed); }
  void stop() { recording_.store(false, std::memory_order_relaxed); }

  template <typename... Words>
  static void append(Stream& stream, std::uint64_t ticks, trace::RecordKind kind,
                     std::uint32_t small, Words... words) {
    static_assert(sizeof...(Words) <= trace::kMaxWords);
    std::uint64_t step = ticks - stream.last_ticks;
    if (stream.at >= stream.limit || step >> 32 != 0) [[unlikely]] {
      if (!make_room(stream, ticks)) return;
      step = ticks - stream.last_ticks;
    }
    std::uint64_t* record = stream.at;
    std::size_t position = 1;
    ((record[position++] = static_cast<std::uint64_t>(words)), ...);
    stream.at = record + position;
    stream.last_ticks = ticks;
    const std::uint64_t head = trace::head(static_cast<std::uint32_t>(kind), sizeof...(Words),
                                           small, static_cast<std::uint32_t>(step));
    std::atomic_ref(*record).store(head, std::memory_order_release);
  }

  // The moment of a record that comes some nanoseconds after the last one, if that was one of
  // `kinds` (Follows): then the clock, which may take longer than all the rest, is not read again.
  // Nothing may be waited for in between.
  static std::uint64_t now_or_last(const Stream& stream, std::uint32_t kinds) {
    const bool at_once = stream.at == stream.prompt && (stream.prompt_kind & kinds) != 0;
    return at_once ? stream.last_ticks : Ticks::now();
  }
  static void last_was(Stream& stream, Follows kind) {
    stream.prompt = stream.at;
    stream.prompt_kind = kind;
  }

  // Makes the youngest record of this kind whose last word is `word` one that readers skip, if it
  // is in the stream's present chunk. Walks that chunk: for what hardly ever happens.
  static void retract(Stream& stream, trace::RecordKind kind, std::uint64_t word);

  // For the drain, one thread at a time: the next full chunk in the order of its stream, or null;
  // and its return when it is safely elsewhere, or lost.
  trace::LiveChunkHeader* next_full();
  void recycle(trace::LiveChunkHeader* chunk);
  void count_lost(std::uint64_t records);

  // For the drain: the half-filled chunks of threads that have ended become full ones.
  void take_from_ended();

  // At the end, after stop(), when no other thread is inside MPI and none drains: what the stream
  // still has to tell is appended, and its half-filled chunk becomes a full one. Where that needs a
  // chunk and none is free it is left for another call.
  void seal(std::uint32_t stream);
  // Before the first record: room to add up what sampling leaves out.
  bool add_up_left_out();
  // In a child of fork: nothing of this is its own.
  static void forget();

  // Records that are not in chunks and frames, whatever the reason.
  std::uint64_t lost() const;
  std::uint64_t chunks_opened() const { return chunks_opened_.load(std::memory_order_relaxed); }
  std::uint32_t streams() const { return stream_count_.load(std::memory_order_acquire); }

  // Words of a chunk that hold whole records. Any thread; of a chunk in use, what is published.
  static std::size_t used_words(const trace::LiveChunkHeader* chunk, std::uint32_t* records,
                                std::uint64_t* last_ticks);

  // When all is drained: the file is cut to its header, which says how much was lost, so that a
  // full disk has room for what is still to be written.
  void give_back_room();
  void close(bool remove_file);

 private:
  // The largest record, a kLost and a kTime before it, and those two at the end.
  static constexpr std::size_t kReserveWords = 1 + trace::kMaxWords + 2 * (2 + 2);

  static Stream*& own_stream() {
    static thread_local Stream* stream __attribute__((tls_model("initial-exec"))) = nullptr;
    return stream;
  }
  // For a thread that has no number.
  static Stream& unnumbered_stream() {
    static thread_local Stream stream __attribute__((tls_model("initial-exec")));
    return stream;
  }
  static Stream* attach();
  Stream* left_stream();
  Stream* new_stream();
  static void thread_ends(void* stream);
  // A place for one more record, with what has to stand before it; false: the record is lost.
  static bool make_room(Stream& stream, std::uint64_t ticks);
  static void write_time_and_loss(Stream& stream, std::uint64_t ticks);
  bool take_chunk(Stream& stream, std::uint64_t ticks);
  static void release_chunk(Stream& stream);
  trace::LiveChunkHeader* chunk(std::uint32_t number) const {
    return reinterpret_cast<trace::LiveChunkHeader*>(chunks_ + number * kChunkBytes);
  }

  static inline std::atomic<bool> recording_{false};
  static inline Recorder* open_ = nullptr;
  static inline pthread_key_t at_thread_end_{};  // of the thread's stream
  static inline bool sees_thread_ends_ = false;

  char* memory_ = nullptr;
  std::size_t memory_bytes_ = 0;
  char* chunks_ = nullptr;
  std::uint32_t chunk_count_ = 0;
  int descriptor_ = -1;
  bool chunks_in_file_ = false;
  // Where to look first for a free chunk. The lowest is taken: memory that was used lately is in
  // the caches and has its pages (a first touch costs more than all records in a page), and what is
  // never needed is never touched.
  std::atomic<std::uint32_t> lowest_free_{0};
  std::atomic<std::uint64_t> chunks_opened_{0};
  std::atomic<std::uint32_t> stream_count_{0};
  static inline std::atomic<std::uint32_t> left_streams_{0};  // whose thread has ended
  Stream* streams_ = nullptr;    // kMaxStreams, in address space of their own
  LeftOut* left_out_ = nullptr;  // kMaxFunctions for each stream
  char path_[4096] = {};
};

}  // namespace fathom::profiler
