// SPDX-License-Identifier: BSD-3-Clause
// What this process must remember to know, at the end of the run, in which calls it waited for
// another process: a wait needs a moment that only the other one knows.
//
//   - For each channel (communicator, peer, tag, direction) when its messages were sent, or their
//     receives posted: the n-th message sent on a channel is the n-th that a receive of that channel
//     takes (MPI 3.1, section 3.5). For each communicator, when its collectives were entered.
//   - For each call that may have waited: when it was entered and left, and what it completed.
//
// resolve.h puts these together. Times are those of calls, which are read anyway (timed_call.h), so
// a message costs no reading of the clock.
//
// Memory is bounded (open()). Times take as much as they need, at most half of it, and calls the rest. When the
// calls no longer fit, the shortest go: the threshold below which a call is left out rises. When the
// times no longer fit, the oldest go (time_log.h).
//
// A receive that was posted with a definite source and tag has its place in the channel's order from
// then on. One with a wildcard gets it when it completes, before those that were posted after it
// (posted_order.h). A probe finds the message that the next receive on its channel takes, or takes it
// itself (matched_messages.h).
//
// A loop of calls that test or probe and fail, and the one that succeeds, is one call, as in the
// analysis of traces (analysis/engine/step.h), and kept like any other. Until then its calls are
// part of the stretch.
//
// For the critical path: between the calls that are kept, how long the calls of each place took
// together, and what the program did before them (of the thread that called MPI_Init, as a path
// follows one thread of each process).
//
// Threading: entered(), left() and the messages from any thread, the latter in turns if several
// threads may be inside MPI. Everything else at the end, when no thread is inside MPI.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/reserved_array.h"
#include "profile/rows.h"
#include "profiler/clocks/ticks.h"
#include "profiler/counting/call_depth.h"
#include "profiler/counting/live_communicator.h"
#include "profiler/counting/row_table.h"
#include "profiler/waits/call_log.h"
#include "profiler/waits/failing_polls.h"
#include "profiler/waits/time_log.h"

namespace fathom::profiler {

enum class ChannelKind : std::uint32_t { kSent, kReceived, kCollectives };

struct ChannelKey {
  std::uint32_t communicator = 0;  // kind in the registry
  ChannelKind kind = ChannelKind::kSent;
  std::int32_t peer = -1;  // rank on it; -1 for collectives
  // Of collectives: 0 for those of the communicator; else those of a window or file, which the collective
  // that made it numbers in the same way on all members: its place in the sequence of the communicator, plus 1. The
  // starts of the n-th persistent collective that was made on the communicator: -n. kConstruction: the calls
  // that made the communicator, if nothing else brings its members together.
  static constexpr std::int32_t kConstruction = -0x7fffffff;
  std::int32_t tag = 0;
  bool operator==(const ChannelKey&) const = default;
};
inline std::uint64_t hash_of(const ChannelKey& key) {
  return hash_of(std::uint64_t{static_cast<std::uint32_t>(key.peer)} << 34 ^
                 std::uint64_t{static_cast<std::uint32_t>(key.tag)} << 4 ^
                 std::uint64_t{key.communicator} << 2 ^ static_cast<std::uint64_t>(key.kind));
}

struct Channel {
  ChannelKey key;
  TimeLog::List times;
  std::uint64_t completed = 0;  // receives that have their message
  std::uint32_t held = 0;       // messages that probes have taken, after those of `times`
  std::uint32_t number = 0;
  bool posts_unknown = false;
  // It is no longer known which of its messages a receive or probe had; nor is it for earlier ones.
  bool order_unknown = false, places_unknown = false;
  bool places_differ = false;  // from the order in which times were appended: PostedOrder::places()
  std::uint32_t peer_job = 0, peer_rank = 0;  // in its world
};

// One operation that a call completed: a channel, and which of its messages or collectives.
struct Part {
  static constexpr int kOrdinalBits = CallLog::kOrdinalBits;
  static constexpr std::uint64_t kOrdinal = (std::uint64_t{1} << kOrdinalBits) - 1;
  static constexpr std::uint32_t kMostChannels = (1u << 23) - 1;
  // Its channel is not known, because there are too many.
  static constexpr std::uint64_t kUnknown = std::uint64_t{kMostChannels} << kOrdinalBits;

  std::uint64_t bits = 0;
  static Part of(const Channel& channel, std::uint64_t ordinal) {
    if (channel.order_unknown) return {kUnknown};
    return {std::uint64_t{channel.number} << kOrdinalBits | (ordinal & kOrdinal)};
  }
  std::uint32_t channel() const { return static_cast<std::uint32_t>(bits >> kOrdinalBits); }
  std::uint64_t ordinal() const { return bits & kOrdinal; }
  bool is_known() const { return channel() != kMostChannels; }
};

// Follows the part of a collective: who its root is, and which function it was.
struct CollectiveFacts {
  std::uint32_t function;
  // Rank on the communicator; -1: none. For a neighbourhood collective: its list in NeighborLists.
  std::int32_t root;
};

class WaitLog {
 public:
  // Threads may be inside MPI at once from now on; until now there was one.
  static void share_with_threads() { threads_share_ = true; }
  // `names`: of the MPI functions, by their number. False without address space.
  static bool open(std::size_t bytes, bool threads_share, const char* const* names,
                   std::uint32_t functions, double ns_per_tick);
  // Without open(), no wait is found; but tests that fail may go untimed (failing_polls.h).
  static void follow_polls(double ns_per_tick);
  // MPI_Init returns to the program: the time that counts begins.
  static void begin() { opened_at_ = own_.last_left = Ticks::now(); }
  static bool opened() { return memory_ != nullptr; }
  static bool on() { return on_.load(std::memory_order_relaxed); }
  // The program has paused counting: its calls are not noted. Any thread.
  static void pause(bool is_paused) { paused_.store(is_paused, std::memory_order_relaxed); }
  static void close();

  // MPI_Init and MPI_Finalize, of which no row is kept.
  struct End {
    std::uint64_t entered;  // ticks; 0: the program did not call it
    std::uint64_t return_address;
    profile::CodePlaceRow place;
  };
  static void initialized(const End& call) { init_ = call; }
  static void finalizes(const End& call) {
    finalize_ = call;
    interrupt_loop();
  }
  static const End& init() { return init_; }
  static const End& finalize() { return finalize_; }

  // ---- the program's outermost calls ----

  static void entered(std::uint32_t function, std::uint64_t ticks) {
    begin_call(function, ticks);
    if (own_.polls.go_on()) [[unlikely]]
      end_polls(ticks);
  }
  // The same for a call that tests or probes and returns at once: it may continue a loop.
  static void poll_entered(std::uint32_t function, std::uint64_t ticks) {
    if (own_.function != kFailedPoll || ends_loop_before(ticks)) own_.loop_entered = ticks;
    begin_call(function, ticks);
    settle_polls(ticks);
  }
  // Whether a test from `site` goes on with a loop, and goes untimed: then untimed_poll_…(). As FailingPolls::allows().
  static bool is_untimed_poll(const void* site) { return own_.polls.allows(site); }
  // `requests`: as in completes(), and not null if the call is right. Between here and the end of the test,
  // is_in_call() finds out that it goes on.
  static void untimed_poll_entered(int count, void* const* requests) {
    if (own_.request_count != count || own_.requests != requests) {
      own_.request_count = count;
      own_.requests = requests;
    }
  }
  // What it waits for or tests. `requests` must stay valid until left().
  static void completes(int count, void* const* requests) {
    own_.request_count = requests == nullptr ? 0 : count;
    own_.requests = requests;
  }
  // `row`: of this call in the table of times, which counts it already. Hot: most calls are short,
  // and repeat a place of the same stretch.
  [[gnu::always_inline]] static void left(std::uint64_t ticks, const profile::CallRow* row,
                                          std::uint64_t bytes) {
    Sum& sum = places_[place_in_stretch(row)].sum;
    const std::uint64_t duration = ticks - own_.entered;
    const std::uint64_t program = own_.entered - own_.last_left;
    const bool may_wait = own_.parts > 0 && !roles_[own_.function].never;
    const bool is_usual = sum.row == row && sum.ticks != 0 && !threads_share_ && own_.is_main &&
                          (!may_wait || duration < threshold_);
    if (!is_usual) [[unlikely]]
      return left_slowly(ticks, row, bytes);
    sum.ticks += duration;
    sum.program_ticks += program;
    own_.last_left = ticks;
    if (may_wait) {
      leave_out(duration);
      short_waits_ += duration;
    }
    not_timed();
  }
  // The same for a call that tests or probes, and has found something,
  static void poll_succeeded(std::uint64_t ticks, const profile::CallRow* row,
                             std::uint64_t bytes) {
    own_.polls.end();
    if (!on()) return;
    const bool ends = ends_loop() && own_.parts > 0;
    return ends ? loop_left(ticks, row, bytes) : left(ticks, row, bytes);
  }
  // or nothing. `duration`: what counts its row's calls that take so long.
  static void poll_failed(const void* site, std::uint64_t ticks, profile::CallRow* row,
                          std::uint64_t bytes, std::uint64_t* duration) {
    Place* place = own_.is_main ? add_failed_poll(row, ticks - own_.entered, bytes) : nullptr;
    own_.last_left = ticks;
    if (own_.request_count > 0) {
      own_.polls.failed(site, own_.entered, ticks,
                        {row, duration, place == nullptr ? nullptr : &place->sum.ticks},
                        ends_loop(), longest_poll_);
    } else {
      own_.polls.end();  // probes are all timed
    }
    own_.function = kFailedPoll;
    own_.poll_left = ticks;
    not_timed();
  }
  static void untimed_poll_failed() {
    own_.polls.failed_untimed();
    if (own_.parts != 0) own_.parts = 0;
  }
  static const void* site_of_untimed_poll() { return own_.polls.site(); }
  // Returns how long it is taken to have lasted. Then poll_succeeded().
  static std::uint64_t untimed_poll_succeeded(std::uint32_t function, std::uint64_t ticks) {
    const std::uint64_t lasted = own_.polls.lasted(ticks);
    own_.entered = ticks - lasted;
    own_.function = function;
    if (ends_loop_before(own_.entered, true)) own_.loop_entered = own_.entered;
    settle_polls(own_.entered);
    return lasted;
  }
  // Whether the present call, if it succeeds, ends a loop: then found() matters.
  static bool ends_loop() { return own_.loop_entered != own_.entered; }
  // No loop of this thread goes on from here.
  static void interrupt_loop() {
    own_.poll_left = 0;
    if (own_.polls.go_on()) end_polls(Ticks::now());
  }
  // The call is not in the table of times after all.
  static void not_timed() {
    own_.entered = 0;
    own_.parts = 0;
  }
  // A collective of the program; `request`: of a non-blocking one. Before left().
  static void collective(std::uint32_t communicator, int root, void* request);
  // A collective that begins while the program has paused counting.
  static void passed_collective(std::uint32_t function, std::uint32_t communicator);
  // The present call has made this communicator with all of its members (MPI_Intercomm_create).
  static void constructed(std::uint32_t function, std::uint32_t communicator);
  // The collective noted last by this thread has made this window or file.
  static void object_made(const void* handle);
  // As collective() and passed_collective() for those of a window or file; that of a request has its
  // place, but nobody waits for it. They also forget one that the call frees.
  static void collective_on(const void* handle, bool has_request);
  static void frees_object(const void* handle);
  static void passed_collective_on(std::uint32_t function, const void* handle);
  // A persistent collective: made, even while the program has paused counting; started, after the call
  // that was entered then; freed.
  static void persistent_made(std::uint32_t function, std::uint32_t communicator, int root,
                              const void* request);
  static bool has_persistent() { return has_persistent_.load(std::memory_order_relaxed); }
  static void persistent_started(int count, void* const* requests, std::uint64_t ticks);
  static void persistent_freed(const void* request);

  // ---- the program's thread outside its calls ----

  // The thread that called MPI_Init, which a path follows.
  static bool is_main_thread() { return own_.is_main; }
  // Here a stretch ends and the next begins. On the main thread.
  static void end_stretch(std::uint64_t ticks);

  // ---- its messages ----

  // What a request keeps until it is complete: its part and kHasPart, or the moment at which a
  // receive with a wildcard was posted. 0: nothing.
  using Note = std::uint64_t;
  static constexpr Note kHasPart = Note{1} << 63;

  static bool is_of_program(const Live& live, int tag) {
    return tag >= 0 && classify(live, tag) == kPointToPoint;
  }
  // Handed to the PML. Returns its part.
  static Part sent(const Live& live, int tag, int destination);
  // A receive was posted; either may be a wildcard (negative).
  static Note posted(const Live& live, int tag, int source);
  // Its message has arrived, and the present call completes it. Without a note it was posted by
  // this call.
  static void received(const Live& live, int tag, int source, Note note) {
    const Part part =
        (note & kHasPart) != 0 ? Part{note & ~kHasPart} : received_part(live, tag, source, note);
    count_completed(part);
    completed(part);
  }
  // The present call says that it has arrived, and another completes it. Returns its note from now on.
  static Note seen(const Live& live, int tag, int source, Note note) {
    const Part part = received_part(live, tag, source, note);
    completed(part);
    return part.bits | kHasPart;
  }
  // The same for another request than a receive, if it is a send or collective that is followed; else
  // false.
  static bool saw_complete(void* request);
  // A persistent request is complete. The present call may be another that makes progress.
  static void persistent_received(const Live& live, int tag, int source, Note note,
                                  const void* request) {
    const Part part = received_part(live, tag, source, note);
    count_completed(part);
    if (is_awaited(request)) completed(part);
  }
  [[gnu::noinline]] static void persistent_sent(void* request);
  // The same if a request of the PML cannot keep a note: nobody knows when it was posted.
  static void received_at_unknown_post(const Live& live, int tag, int source);
  // A probe, the present call, has found this message. `message`: it has also taken it (MPI_Mprobe).
  static void found(const Live& live, int tag, int source, const void* message = nullptr);
  // The present call receives a message that a probe has taken. Returns its note; 0 if nobody saw that.
  static Note posted_matched(const void* message);
  static void cancelled(Note note);
  // The part is completed by the call that frees the request, or that completes it if it is
  // persistent; at once if it is complete already.
  [[gnu::noinline]] static void watch_send(void* request, Part part);
  // The completion callback that the library which traces sets; it calls persistent_sent().
  static void set_tracer(int (*callback)(void*)) { tracer_ = callback; }
  // The present call completes this part.
  static void completed(Part part) {
    if (!is_in_call()) return;
    if (own_.parts == own_.room && !grow()) return;
    own_.list[own_.parts++] = part.bits;
  }

  // ---- at the end ----

  using Sum = CallLog::Sum;
  using Stretch = CallLog::Stretch;
  using Record = CallLog::Record;
  static constexpr std::uint64_t kIsFacts = CallLog::kIsFacts;  // a word with CollectiveFacts
  static CollectiveFacts facts_of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32) & 0x7FFFFFFF, static_cast<std::int32_t>(word)};
  }

  // Calls f(record, number, at): which record it is, and where its stretch is found again. What the record
  // points to is valid until f returns, or asks for another stretch.
  template <typename F>
  static void for_each_record(F&& f) {
    CallLog::Reader reader(memory_->calls);
    Record record;
    for (std::uint32_t number = 0; reader.next(record); ++number) f(record, number, reader.at());
  }
  static std::size_t record_count() { return memory_->calls.count(); }
  static std::size_t record_bytes() { return memory_->calls.used(); }  // as they are kept
  // Valid until the next call.
  static Stretch stretch_at(std::size_t at) { return memory_->calls.stretch_at(at); }
  // What follows the last record of the main thread. Valid until the next call.
  static Stretch present_stretch();
  // When MPI_Init was left, and MPI_Finalize entered.
  static std::uint64_t opened_at() { return opened_at_; }
  static std::uint64_t closed_at() { return closed_at_; }
  static const base::ReservedArray<Channel>& channels() { return memory_->channels.rows(); }
  // Whether some channel found no room.
  static bool has_unknown_channels() { return unknown_channels_; }
  static const TimeLog& times() { return memory_->times; }
  static const char* name_of(std::uint32_t function) { return names_[function]; }
  static bool waits_for_first(std::uint32_t function) { return roles_[function].first; }
  static bool polls(std::uint32_t function) { return roles_[function].polls; }

  // Calls that may have waited and were left out, and how long they took.
  static std::uint64_t threshold_ticks() { return threshold_; }
  static std::uint64_t left_out() { return left_out_; }
  static std::uint64_t left_out_ticks() { return left_out_ticks_; }

 private:
  struct Role {
    bool never;  // a call alone waits for nothing
    bool first;  // waits for the first of what it completes; otherwise for the last
    bool polls;  // tests or probes: only a loop waits
  };
  static constexpr std::uint32_t kFailedPoll = ~0u;  // in place of a function
  static constexpr std::uint32_t kMostFunctions = 1024;
  static constexpr std::uint32_t kFew = 32;
  static constexpr int kRecentBits = 6, kStretchBits = 6;

  struct Own {
    std::uint64_t entered;  // the outermost call; 0: none, or a test that goes untimed
    bool is_main;
    std::uint32_t function;   // of the present call, or the last; kFailedPoll if that found nothing
    std::uint64_t last_left;  // the call before, on the main thread
    std::uint64_t loop_entered, poll_left;  // of the loop of the last call that polled,
    FailingPolls polls;                     // and which of its tests go untimed
    int request_count;
    void* const* requests;
    std::uint32_t made_on;  // the communicator of the collective noted last,
    std::uint64_t made_at;  // and its place in its sequence
    ChannelKey freed;       // the sequence of what the present call frees
    std::uint32_t parts, room;
    std::uint64_t* list;
    std::uint64_t few[kFew];
  };
  static inline thread_local constinit Own own_ __attribute__((tls_model("initial-exec"))) = {};

  // One thread at a time. `needed`: for what only MPI calls reach, which may not overlap unless
  // threads share MPI; windows of the path are opened and closed beside them.
  class Turn {
   public:
    explicit Turn(bool needed = true) : needed_(needed) {
      if (needed_) take();
    }
    ~Turn() {
      if (needed_) taken_.store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;

   private:
    const bool needed_;
    // The thread whose turn it is may have no processor.
    static void take() {
      constexpr int kSpins = 64;
      for (int spins = 0; taken_.exchange(true, std::memory_order_acquire); ++spins)
        if (spins >= kSpins) sched_yield();
    }
  };

  static void begin_call(std::uint32_t function, std::uint64_t ticks) {
    own_.entered = ticks;
    own_.function = function;
    own_.request_count = 0;
  }
  static void settle_polls(std::uint64_t ticks) { own_.last_left += own_.polls.settle(ticks); }
  [[gnu::noinline]] static void end_polls(std::uint64_t ticks) {
    settle_polls(ticks);
    own_.polls.end();
  }
  // Whether this thread is in a call that is noted. A test that goes untimed says so by nothing else than that
  // it is an MPI call, and that no other can have begun.
  static bool is_in_call() {
    return own_.entered != 0 || (own_.polls.go_untimed() && call_depth() == 1 &&
                                 !paused_.load(std::memory_order_relaxed));
  }
  static std::uint64_t moment() { return own_.entered != 0 ? own_.entered : Ticks::now(); }
  static void count_completed(Part part) {
    if (part.is_known()) memory_->channels.row(part.channel()).completed += 1;
  }
  static Channel* channel(const ChannelKey& key, const void* group);
  static Channel* find_channel(const ChannelKey& key, const void* group);
  // Looks at the first requests of a call only; those of a longer list are believed to be in it.
  static bool is_awaited(const void* request) {
    constexpr int kLooks = 64;
    if (!is_in_call()) return false;  // no call is noted: its requests may be gone
    for (int i = 0; i < own_.request_count && i < kLooks; ++i)
      if (own_.requests[i] == request) return true;
    return own_.request_count > kLooks;
  }
  // `may_be_earlier`: than what was appended last (PostedOrder::posted_earlier()).
  static Part append(const ChannelKey& key, const void* group, std::uint64_t ticks,
                     bool may_be_earlier);
  [[gnu::noinline]] static Part appended(const ChannelKey& key, const void* group,
                                         std::uint64_t ticks);
  static void find_blocking_forms(const char* const* names, std::uint32_t functions);
  static ChannelKey sequence_of(const void* handle, bool frees);
  static Part next_in(const ChannelKey& key, std::uint64_t ticks);
  static Part received_part(const Live& live, int tag, int source, Note note);
  static void left_slowly(std::uint64_t ticks, const profile::CallRow* row, std::uint64_t bytes);
  static void loop_left(std::uint64_t ticks, const profile::CallRow* row, std::uint64_t bytes);
  // A call that may have waited, but is too short to be kept.
  static void leave_out(std::uint64_t duration) {
    left_out_ += 1;
    left_out_ticks_ += duration;
  }
  static bool keep(std::uint64_t ticks, const profile::CallRow* row, std::uint64_t bytes);
  static bool make_room(std::size_t bytes);
  static bool make_room(std::uint32_t parts, std::uint32_t sums) {
    return make_room(CallLog::most_bytes(parts, sums));
  }
  static void times_grew();
  static void write_record(Record record);
  static std::uint32_t place_in_stretch(const profile::CallRow* row) {
    static_assert(sizeof(profile::CallRow) >= 64);  // rows lie one after the other
    return reinterpret_cast<std::uintptr_t>(row) / 64 % (1 << kStretchBits);
  }
  // A place in the present stretch.
  struct alignas(64) Place {
    Sum sum;
    // For the loop that was entered then: the sum's ticks and the row's calls when it came here.
    std::uint64_t loop, ticks_before, calls_before;
  };
  // Null if nothing was added.
  static Place* add_place(const profile::CallRow* row, std::uint64_t ticks, std::uint64_t bytes,
                          std::uint64_t program_ticks);
  // Hot: most calls that poll fail, and repeat a place. Null if nothing was added.
  static Place* add_failed_poll(const profile::CallRow* row, std::uint64_t ticks,
                                std::uint64_t bytes) {
    Place* place = &places_[place_in_stretch(row)];
    // Between the polls of a loop the program does nothing else.
    const std::uint64_t program_ticks = ends_loop() ? 0 : own_.entered - own_.last_left;
    if (place->sum.row == row && place->sum.ticks != 0) [[likely]] {
      place->sum.ticks += ticks;
      place->sum.program_ticks += program_ticks;
    } else {
      place = add_place(row, ticks, bytes, program_ticks);
      if (place == nullptr) return nullptr;
    }
    if (place->loop != own_.loop_entered)
      *place = {place->sum, own_.loop_entered, place->sum.ticks - ticks, row->calls - 1};
    return place;
  }
  // Whether so much time has passed since the last poll that the loop has ended. `untimed`: the present one is.
  static bool ends_loop_before(std::uint64_t ticks, bool untimed = false) {
    return ticks - own_.poll_left > longest_poll_ &&
           (own_.poll_left == 0 || !own_.polls.had_no_processor(untimed));
  }
  static void take_out_loop(const profile::CallRow* present);
  static Sum before(const Record& present, const Sum& sum);
  // The sums of the present stretch, before the call of `present`.
  template <typename F>
  static void for_each_sum(const Record& present, F&& f) {
    for (std::uint32_t i = 0; i < place_count_; ++i) {
      const Sum& sum = places_[used_places_[i]].sum;
      if (sum.ticks != 0) f(before(present, sum));
    }
  }
  static std::uint64_t next_threshold(std::size_t most);
  static void drop_short();
  static bool grow();
  static bool saw_collective(const void* request);
  static int on_collective_freed(void** request);
  static int on_persistent_collective_completed(void* request);
  static int on_send_freed(void** request);
  static int on_persistent_send_completed(void* request);
  struct ListMemory;

  static inline std::atomic<bool> on_{false}, paused_{false};
  static inline bool threads_share_ = true;
  static inline bool unknown_channels_ = false;
  static inline std::atomic<bool> taken_{false};
  static inline const char* const* names_ = nullptr;
  static inline Role roles_[kMostFunctions] = {};
  static inline bool in_sequence_[kMostFunctions] = {};
  enum class OnObject : std::uint8_t { kNo, kYes, kFrees };
  static inline OnObject on_object_[kMostFunctions] = {};
  static inline std::uint32_t blocking_form_[kMostFunctions] = {};  // of a persistent collective
  static inline std::atomic<bool> has_persistent_{false};
  static inline int (*tracer_)(void*) = nullptr;
  static inline Channel* recent_[1 << kRecentBits] = {};
  // Never destroyed: threads may outlive everything else.
  struct Memory {
    RowTable<Channel> channels;
    TimeLog times;
    CallLog calls;
    base::ReservedArray<Sum> carried;  // by drop_short()
  };
  static inline Memory* memory_ = nullptr;
  // The present stretch: a table of places, and which of its entries are used. Their calls and bytes
  // are those of their rows when the stretch began, so that a call adds nothing to them.
  static inline Place places_[1 << kStretchBits] = {};
  static inline std::uint8_t used_places_[1 << kStretchBits] = {};
  static inline std::uint32_t place_count_ = 0;
  static inline Sum present_[1 << kStretchBits] = {};  // of write_record(), present_stretch()
  static inline std::uint64_t short_waits_ = 0;        // ticks of the calls left out in it
  static inline std::uint64_t opened_at_ = 0, closed_at_ = 0;
  static inline std::uint64_t longest_poll_ = 0;  // mpi::kLongestPoll_ns in ticks
  static inline End init_ = {}, finalize_ = {};
  static inline std::uint64_t threshold_ = 0, left_out_ = 0, left_out_ticks_ = 0;
};

}  // namespace fathom::profiler
