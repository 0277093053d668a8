// SPDX-License-Identifier: BSD-3-Clause
// The memory that a process records its events into, and the hot path that appends to it.
//
// The memory is a file mapped shared (trace/format/format.h, JOB.RANK.live), so what was appended
// outlives the process however it ends. It is divided into chunks. Each thread fills a chunk of its
// own; one background thread (drain.h) compresses full chunks into JOB.RANK.trace and frees them
// for reuse. Memory never grows: when no chunk is free, records are lost and counted.
//
// A thread gets a stream, and with it a number, at its first record. When it ends, the next new
// thread takes over both and continues in the same chunk. So only the number of threads at any one
// time is limited: above kMaxStreams, a thread has no stream until another one ends; its records
// are lost and counted.
//
// append() never allocates, locks, waits or calls the kernel. One store of a record's head, after
// its payload, publishes the record. Threading: append() from the stream's own thread; the other
// functions state theirs.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/clocks/ticks.h"
#include "trace/format/format.h"
#include "trace/format/window_request.h"

namespace fathom::profiler {

// The calls of one function that sampling left out.
struct LeftOut {
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;  // inside them
};

// What the last record was, if others follow it within nanoseconds; one bit each.
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
  kNobody = 1,  // the thread has ended: the next new thread may take it, and the drain its chunk
  kEmpty = 2,   // the same, without a chunk
  kDrain = 3,   // the drain is taking its chunk
};

inline constexpr std::uint32_t kNoNumber = ~0u;
inline constexpr std::uint32_t kNeverOpened = ~0u;

// What one thread writes into.
struct alignas(64) Stream {
  std::uint64_t* at = nullptr;     // the head of the next record
  std::uint64_t* limit = nullptr;  // records begin below it, so that the largest one still fits
  std::uint64_t last_ticks = 0;
  std::uint64_t* prompt = nullptr;  // == at: the last record was prompt_kind
  std::uint32_t prompt_kind = 0;
  trace::LiveChunkHeader* chunk = nullptr;
  std::uint64_t sequence = 0;        // of the next chunk
  std::uint64_t lost = 0;            // since the last record that was stored
  std::uint32_t thread = kNoNumber;  // kNoNumber: all records are lost
  Owner owner = Owner::kThread;
  std::uint32_t calls = 0;      // for sampling
  bool muted = false;           // inside a call that sampling leaves out
  std::uint32_t opening = 0;    // of the recorder, to which all this belongs
  LeftOut* left_out = nullptr;  // by function; null unless calls are sampled
};

class Recorder {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{128} << 10;
  static constexpr std::size_t kChunkWords =
      (kChunkBytes - sizeof(trace::LiveChunkHeader)) / sizeof(std::uint64_t);
  static constexpr std::size_t kHeaderBytes = 4096;
  static constexpr std::size_t kRoomForEnd = std::size_t{256} << 10;
  static constexpr std::uint32_t kLeastKept = 4;  // chunks of a flight recorder
  static constexpr std::uint32_t kMaxStreams = 4096;
  static constexpr std::uint32_t kMaxFunctions = 1024;

  // Cold. Makes `path` with room for `memory_bytes` of chunks (at least two). If the file system
  // has too little room, the chunks are anonymous memory, and the file holds the header and
  // kRoomForEnd: SIGKILL then loses what is not drained, and survives_kill() is false. False, with
  // errno set, without memory, or without room even for that.
  bool open(const char* path, std::uint32_t job, std::uint32_t rank, std::size_t memory_bytes);
  // The same in a memfd of its own, for a flight recorder (flight.h): nothing drains the chunks but
  // its keeper, in another process.
  bool open_in_memory(std::uint32_t job, std::uint32_t rank, std::size_t memory_bytes);
  char* memory() { return memory_; }
  int descriptor() const { return descriptor_; }
  bool survives_kill() const { return chunks_in_file_; }

  // For events inside calls: null also while sampling leaves the present call out.
  static Stream* unmuted_stream() {
    Stream* own = stream();
    return own != nullptr && own->muted ? nullptr : own;
  }

  // The stream of this thread; null while nothing is recorded here.
  static Stream* stream() {
    if (!recording()) return nullptr;
    Stream* own = own_stream();
    return own != nullptr ? own : attach();
  }
  // The same, null if it has none yet: of a record that continues the last one.
  static Stream* stream_so_far() { return own_stream(); }
  static bool recording() {
    return (control_->load(std::memory_order_relaxed) & trace::kWindowRecords) != 0;
  }
  // The same where a call of the program begins, and with it a window that somebody has asked for
  // (window_page.h). As long as nobody has, this too is one branch.
  static Stream* stream_of_call() {
    const std::uint32_t control = control_->load(std::memory_order_relaxed);
    if (control == 0) return nullptr;
    if ((control & trace::kWindowAsked) != 0) [[unlikely]]
      begin_window_();
    return stream();
  }
  // No call is recorded, and nobody has asked for a window.
  static bool is_idle() { return control_->load(std::memory_order_relaxed) == 0; }
  // Cold. From here on others can ask there; `begin`: what is then to be called.
  static void watch_control(std::atomic<std::uint32_t>& control, void (*begin)()) {
    begin_window_ = begin;
    control_ = &control;
  }

  // Cold, any thread. Start and stop all streams; a record that is just being appended is still
  // stored.
  void start() { control_->fetch_or(trace::kWindowRecords, std::memory_order_relaxed); }
  void stop() { control_->fetch_and(~trace::kWindowRecords, std::memory_order_relaxed); }

  template <typename... Words>
  [[gnu::always_inline]] static void append(Stream& stream, std::uint64_t ticks,
                                            trace::RecordKind kind, std::uint32_t small,
                                            Words... words) {
    static_assert(sizeof...(Words) <= trace::kMaxWords);
    std::uint64_t step = ticks - stream.last_ticks;
    const std::uint64_t* limit = std::atomic_ref(stream.limit).load(std::memory_order_relaxed);
    if (stream.at >= limit || step >> 32 != 0) [[unlikely]] {
      if (!make_room(stream, ticks)) return;
      step = ticks - stream.last_ticks;
    }
    std::uint64_t* record = stream.at;
    std::size_t position = 1;
    ((record[position++] = static_cast<std::uint64_t>(words)), ...);
    record[position] = 0;  // no record follows yet, whatever the chunk held before
    stream.at = record + position;
    stream.last_ticks = ticks;
    const std::uint64_t head = trace::head(static_cast<std::uint32_t>(kind), sizeof...(Words),
                                           small, static_cast<std::uint32_t>(step));
    std::atomic_ref(*record).store(head, std::memory_order_release);
  }

  // The time of a record that comes some nanoseconds after the last one, if that was one of `kinds`
  // (Follows). It saves reading the clock, which may take longer than everything else. Nothing may
  // wait between the two.
  static std::uint64_t now_or_last(const Stream& stream, std::uint32_t kinds) {
    const bool at_once = stream.at == stream.prompt && (stream.prompt_kind & kinds) != 0;
    return at_once ? stream.last_ticks : Ticks::now();
  }
  static void last_was(Stream& stream, Follows kind) {
    stream.prompt = stream.at;
    stream.prompt_kind = kind;
  }
  // The same of a kEnter with `words` words.
  static void last_entered(Stream& stream, std::uint32_t words) {
    stream.prompt = stream.at;
    stream.prompt_kind = kEntered | words << kPromptWords;
  }

  // Instead of a record that would follow the last one, if that was one of `kinds` (Follows) and has the
  // only word `word`: adds `small` to it. False if it was not, or may be stored elsewhere already.
  [[gnu::always_inline]] static bool add_to_last(const Stream& stream, std::uint32_t kinds,
                                                 std::uint64_t word, std::uint32_t small) {
    if (!may_add_to_last(stream, kinds) || stream.at[-1] != word) return false;
    change_small(stream.at[-2], small, 0);
    return true;
  }
  // The other way round: takes `small` from the last record.
  static bool take_from_last(const Stream& stream, std::uint32_t kinds, std::uint64_t word,
                             std::uint32_t small) {
    if (!may_add_to_last(stream, kinds) || stream.at[-1] != word) return false;
    change_small(stream.at[-2], 0, small);
    return true;
  }
  // The same of a message that is sent with the first two words of the record of a call's beginning.
  [[gnu::always_inline]] static bool add_to_entered(const Stream& stream, std::uint64_t first,
                                                    std::uint64_t second) {
    const std::uint32_t words = stream.prompt_kind >> kPromptWords;
    if (!may_add_to_last(stream, kEntered) || words < 2) return false;
    std::uint64_t* record = stream.at - 1 - words;
    if (record[1] != first || record[2] != second) return false;
    change_small(*record, trace::kSends, 0);
    return true;
  }

  // Turns the youngest record of a message of this kind whose request is `word` into one that readers skip, if
  // it is in the stream's present chunk. Walks that chunk, so only for rare cases.
  [[gnu::cold, gnu::noinline]] static void retract(Stream& stream, trace::RecordKind kind,
                                                   std::uint64_t word);

  // For the drain, one thread at a time: the next full chunk in the order of its stream, or null.
  // recycle() gives it back once its records are stored elsewhere or lost.
  trace::LiveChunkHeader* next_full();
  void recycle(trace::LiveChunkHeader* chunk);
  void count_lost(std::uint64_t records);

  // For the drain: declares the half-filled chunks of threads that have ended full.
  void take_from_ended();

  // At the end, after stop(), when no other thread is inside MPI and none drains: appends what the
  // stream has not yet reported and declares its half-filled chunk full. If that needs a chunk and
  // none is free, it is left for another call.
  void seal(std::uint32_t stream);
  // The same at the end of a window, when threads may be inside MPI and append: shut() takes their room
  // from all streams. A record that is being appended at that moment may still be stored. Once none is,
  // declare_all_full() does what it says, and unwritten_loss() is how many records of the stream were
  // lost after its last one; `sequence`: of the next chunk.
  void shut();
  void declare_all_full();
  std::uint64_t unwritten_loss(std::uint32_t stream, std::uint64_t* sequence) const;
  // Before the first record: reserves memory for the sums of what sampling leaves out.
  bool add_up_left_out();
  // In a child of fork: lets go of everything, because it belongs to the parent.
  static void forget();

  // Records that reached neither chunks nor frames, for whatever reason.
  std::uint64_t lost() const;
  std::uint64_t chunks_opened() const { return chunks_opened_.load(std::memory_order_relaxed); }
  std::uint32_t streams() const { return stream_count_.load(std::memory_order_acquire); }

  // Where the kChunkWords words of a chunk begin.
  static std::uint64_t* words_of(trace::LiveChunkHeader* chunk) {
    return reinterpret_cast<std::uint64_t*>(chunk + 1);
  }
  // The words of a chunk that hold whole records; in a chunk in use, the published ones. Any
  // thread.
  static std::size_t used_words(const trace::LiveChunkHeader* chunk, std::uint32_t* records,
                                std::uint64_t* last_ticks);

  // When all is drained: cuts the file to its header, which keeps the count of lost records, so
  // that a full disk has room for what is still to be written.
  void give_back_room();
  void close(bool remove_file);
  // The same if open() may follow, while other threads may be inside MPI. False without memory; then
  // it is not closed, and must not be opened again.
  bool close_until_opened_again(bool remove_file);

 private:
  static constexpr int kPromptWords = 16;  // where prompt_kind has the words of a kEnter

  static bool may_add_to_last(const Stream& stream, std::uint32_t kinds) {
    const std::uint64_t* limit = std::atomic_ref(stream.limit).load(std::memory_order_relaxed);
    return stream.at == stream.prompt && (stream.prompt_kind & kinds) != 0 && stream.at < limit &&
           stream.lost == 0;
  }
  static void change_small(std::uint64_t& head, std::uint32_t added, std::uint32_t taken) {
    const std::atomic_ref shared(head);
    const std::uint64_t kept =
        shared.load(std::memory_order_relaxed) & ~(std::uint64_t{taken} << trace::kSmallShift);
    shared.store(kept | std::uint64_t{added} << trace::kSmallShift, std::memory_order_relaxed);
  }

  // Room for the largest record, a kLost and a kTime before it, another two at the end, and the zero
  // after the last one.
  static constexpr std::size_t kReserveWords = 1 + trace::kMaxWords + 2 * (2 + 2) + 1;

  static Stream*& own_stream() {
    static thread_local Stream* stream __attribute__((tls_model("initial-exec"))) = nullptr;
    return stream;
  }
  // For threads without a number.
  static Stream& unnumbered_stream() {
    static thread_local Stream stream __attribute__((tls_model("initial-exec")));
    return stream;
  }
  void size_memory(std::size_t memory_bytes, std::uint32_t least_chunks);
  bool map_and_begin(std::uint32_t job, std::uint32_t rank);
  void begin_again(Stream& stream) const;
  [[gnu::cold, gnu::noinline]] static Stream* attach();
  Stream* left_stream();
  Stream* new_stream();
  static void thread_ends(void* stream);
  // Makes room for one more record and for what must precede it. False: the record is lost.
  [[gnu::cold, gnu::noinline]] static bool make_room(Stream& stream, std::uint64_t ticks);
  static void write_time_and_loss(Stream& stream, std::uint64_t ticks);
  bool take_chunk(Stream& stream, std::uint64_t ticks);
  void release_chunk(Stream& stream) const;
  trace::LiveChunkHeader* chunk(std::uint32_t number) const {
    return reinterpret_cast<trace::LiveChunkHeader*>(chunks_ + number * kChunkBytes);
  }

  static inline std::atomic<std::uint32_t> own_control_{0};
  static inline std::atomic<std::uint32_t>* control_ = &own_control_;
  static inline void (*begin_window_)() = nullptr;
  static inline std::atomic<Recorder*> open_{nullptr};
  static inline pthread_key_t at_thread_end_{};  // its value is the thread's stream
  static inline bool sees_thread_ends_ = false;

  char* memory_ = nullptr;
  std::atomic<std::uint32_t> opening_{0};  // how often it has been shut
  std::size_t memory_bytes_ = 0;
  char* chunks_ = nullptr;
  std::uint32_t chunk_count_ = 0;
  int descriptor_ = -1;
  bool chunks_in_file_ = false;
  // Where to start looking for a free chunk. The lowest one is taken: memory used lately is in the
  // caches and has its pages (a first touch costs more than all records in a page), and chunks that
  // are never needed are never touched.
  std::atomic<std::uint32_t> lowest_free_{0};
  std::atomic<std::uint32_t> used_chunks_{0};  // those above have never been taken
  std::atomic<std::uint64_t> chunks_opened_{0};
  std::atomic<std::uint32_t> stream_count_{0};
  static inline std::atomic<std::uint32_t> left_streams_{0};  // streams whose thread has ended
  Stream* streams_ = nullptr;    // kMaxStreams, in their own address space
  LeftOut* left_out_ = nullptr;  // kMaxFunctions for each stream
  char path_[4096] = {};
};

}  // namespace fathom::profiler
