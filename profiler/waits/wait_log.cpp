// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/wait_log.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "mpi/meaning.h"
#include "mpi/wait_kind.h"
#include "profiler/waits/matched_messages.h"
#include "profiler/waits/posted_order.h"
#include "rankmap/communicator_view.h"
#include "rankmap/layouts/all.h"

namespace fathom::profiler {
namespace {

using FreeFunction = int (*)(void**);
using rankmap::field_ref;
using rankmap::is_complete;

constexpr std::uint64_t kHighestThreshold = std::uint64_t{1} << 62;  // no call takes so long

std::atomic<FreeFunction> library_send_free{nullptr};

// The part that a watched send keeps; also removes it.
std::optional<Part> take_part(void* request) {
  auto& data = field_ref<std::uint64_t>(request, openmpi::kRequestCallbackData);
  const std::uint64_t bits = std::exchange(data, 0);
  if ((bits & WaitLog::kHasPart) == 0) return std::nullopt;
  return Part{bits & ~WaitLog::kHasPart};
}

}  // namespace

// Gives the memory of a thread's list back when the thread ends.
struct WaitLog::ListMemory {
  void* memory = nullptr;
  std::size_t bytes = 0;
  ~ListMemory() {
    own_ = {};
    if (memory != nullptr) munmap(memory, bytes);
  }
};

bool WaitLog::open(std::size_t bytes, bool threads_share, const char* const* names,
                   std::uint32_t functions, double ns_per_tick) {
  for (std::uint32_t i = 0; i < std::min(functions, kMostFunctions); ++i) {
    const mpi::Meaning& meaning = mpi::meaning_of(names[i]);
    roles_[i] = {.never = meaning.polls || meaning.requests == mpi::Requests::kFrees,
                 .first = meaning.waits_for_first(),
                 .polls = meaning.polls};
    in_sequence_[i] = meaning.in_sequence() && !meaning.persistent();
    const bool on_object =
        meaning.sequence == mpi::Sequence::kWindow || meaning.sequence == mpi::Sequence::kFile;
    on_object_[i] = !on_object             ? OnObject::kNo
                    : meaning.frees_object ? OnObject::kFrees
                                           : OnObject::kYes;
  }
  find_blocking_forms(names, std::min(functions, kMostFunctions));
  bytes = std::max<std::size_t>(bytes, 8192);
  // A program that gives each message a tag of its own has as many channels as messages.
  const std::size_t most_channels =
      std::clamp<std::size_t>(bytes / 4 / sizeof(Channel), 256, Part::kMostChannels);
  auto memory = std::make_unique<Memory>();
  if (!memory->times.open(bytes / 2, times_grew) || !memory->calls.open(bytes) ||
      !memory->channels.open(most_channels) ||
      !memory->carried.reserve(memory->calls.most_sums()) || !PostedOrder::open(bytes / 32))
    return false;
  memory_ = memory.release();
  names_ = names;
  threads_share_ = threads_share;
  threshold_ = static_cast<std::uint64_t>(mpi::kShortestWait_ns / ns_per_tick);
  follow_polls(ns_per_tick);
  own_.is_main = true;
  on_.store(true);
  return true;
}

void WaitLog::follow_polls(double ns_per_tick) {
  longest_poll_ = static_cast<std::uint64_t>(mpi::kLongestPoll_ns / ns_per_tick);
}

Channel* WaitLog::find_channel(const ChannelKey& key, const void* group) {
  Channel* found = memory_->channels.find(key);
  if (found != nullptr) return found;
  found = memory_->channels.add(key);
  if (found == nullptr) {
    unknown_channels_ = true;
    return nullptr;
  }
  found->number = static_cast<std::uint32_t>(memory_->channels.rows().size() - 1);
  if (key.kind == ChannelKind::kCollectives) return found;
  const rankmap::Identity peer = rankmap::member(group, key.peer);
  found->peer_job = peer.job;
  found->peer_rank = peer.rank;
  return found;
}

[[gnu::always_inline]] inline Channel* WaitLog::channel(const ChannelKey& key, const void* group) {
  Channel*& recent = recent_[hash_of(key) & ((1 << kRecentBits) - 1)];
  if (recent == nullptr || !(recent->key == key)) [[unlikely]] {
    Channel* found = find_channel(key, group);
    if (found == nullptr) return nullptr;
    recent = found;
  }
  return recent;
}

// The next of this channel's times; unknown if there is no room for the channel.
[[gnu::always_inline]] inline Part WaitLog::append(const ChannelKey& key, const void* group,
                                                   std::uint64_t ticks, bool may_be_earlier) {
  const Turn turn(threads_share_);
  Channel* own = channel(key, group);
  if (own == nullptr) return {Part::kUnknown};
  if (own->held > 0) MatchedMessages::make_way(*own, memory_->times);
  if (may_be_earlier && ticks >> TimeLog::kUnitBits < own->times.last) {
    memory_->times.repeat(own->times);
    PostedOrder::posted_earlier(*own, ticks);
  } else {
    memory_->times.append(own->times, ticks);
  }
  return Part::of(*own, own->times.count - 1);
}

Part WaitLog::appended(const ChannelKey& key, const void* group, std::uint64_t ticks) {
  return append(key, group, ticks, false);
}

Part WaitLog::sent(const Live& live, int tag, int destination) {
  return appended({live.kind, ChannelKind::kSent, destination, tag}, live.group, moment());
}

WaitLog::Note WaitLog::posted(const Live& live, int tag, int source) {
  if (tag < 0 || source < 0) return moment() & ~kHasPart;
  return appended({live.kind, ChannelKind::kReceived, source, tag}, live.group, moment()).bits |
         kHasPart;
}

Part WaitLog::received_part(const Live& live, int tag, int source, Note note) {
  if ((note & kHasPart) != 0) return {note & ~kHasPart};
  return append({live.kind, ChannelKind::kReceived, source, tag}, live.group,
                note != 0 ? note : moment(), true);
}

void WaitLog::received_at_unknown_post(const Live& live, int tag, int source) {
  Part part{Part::kUnknown};
  {
    const Turn turn(threads_share_);
    if (Channel* own = channel({live.kind, ChannelKind::kReceived, source, tag}, live.group)) {
      own->posts_unknown = true;
      MatchedMessages::make_way(*own, memory_->times);
      memory_->times.repeat(own->times);
      part = Part::of(*own, own->times.count - 1);
    }
  }
  count_completed(part);
  completed(part);
}

void WaitLog::found(const Live& live, int tag, int source, const void* message) {
  Part part{Part::kUnknown};
  {
    const Turn turn(threads_share_);
    if (Channel* own = channel({live.kind, ChannelKind::kReceived, source, tag}, live.group))
      part = Part::of(*own, message == nullptr ? own->times.count + own->held
                                               : MatchedMessages::hold(*own, message));
  }
  completed(part);
}

WaitLog::Note WaitLog::posted_matched(const void* message) {
  const Turn turn(threads_share_);
  const auto place = MatchedMessages::receive(message, moment(), memory_->times);
  return place.channel == nullptr ? 0 : Part::of(*place.channel, place.ordinal).bits | kHasPart;
}

void WaitLog::watch_send(void* request, Part part) {
  if (!part.is_known() || is_complete(request)) return;
  if (field_ref<bool>(request, openmpi::kRequestPersistent)) {
    auto& callback = field_ref<int (*)(void*)>(request, openmpi::kRequestCallback);
    if (callback != nullptr && callback != tracer_ && callback != on_persistent_send_completed)
      return;  // its data are not ours
    field_ref<std::uint64_t>(request, openmpi::kRequestCallbackData) = part.bits | kHasPart;
    if (callback == nullptr) callback = on_persistent_send_completed;
    return;
  }
  auto& free = field_ref<FreeFunction>(request, openmpi::kRequestFree);
  FreeFunction none = nullptr;
  if (free != library_send_free.load(std::memory_order_relaxed) &&
      !library_send_free.compare_exchange_strong(none, free))
    return;
  field_ref<std::uint64_t>(request, openmpi::kRequestCallbackData) = part.bits | kHasPart;
  free = on_send_freed;
}

int WaitLog::on_send_freed(void** request) {
  const FreeFunction free = library_send_free.load(std::memory_order_relaxed);
  field_ref<FreeFunction>(*request, openmpi::kRequestFree) = free;
  const auto part = take_part(*request);
  if (part && is_complete(*request)) completed(*part);
  return free(request);
}

bool WaitLog::saw_complete(void* request) {
  if (!is_complete(request)) return false;
  const auto free = field_ref<FreeFunction>(request, openmpi::kRequestFree);
  if (free == on_collective_freed) return saw_collective(request);
  if (free != on_send_freed) return false;
  const auto bits = field_ref<std::uint64_t>(request, openmpi::kRequestCallbackData);
  if ((bits & kHasPart) != 0) completed({bits & ~kHasPart});
  return true;
}

int WaitLog::on_persistent_send_completed(void* request) {
  persistent_sent(request);
  return 0;
}

void WaitLog::persistent_sent(void* request) {
  const auto part = take_part(request);
  if (part && is_awaited(request)) completed(*part);
}

void WaitLog::cancelled(Note note) {
  if ((note & kHasPart) == 0) return;
  const Part part{note & ~kHasPart};
  if (!part.is_known()) return;
  const Turn turn(threads_share_);
  Channel& own = *const_cast<Channel*>(&memory_->channels.rows()[part.channel()]);
  if (part.ordinal() + 1 == own.times.count) {
    memory_->times.take_back(own.times);
  } else {
    PostedOrder::removed(own, part.ordinal());
  }
}

void WaitLog::left_slowly(std::uint64_t ticks, const profile::CallRow* row, std::uint64_t bytes) {
  const std::uint64_t duration = ticks - own_.entered;
  const bool may_wait = own_.parts > 0 && !roles_[own_.function].never;
  const bool is_kept = may_wait && keep(ticks, row, bytes);
  const std::uint64_t left_before = std::exchange(own_.last_left, ticks);
  if (own_.is_main && !is_kept) {
    add_place(row, duration, bytes, own_.entered - left_before);
    if (may_wait) short_waits_ += duration;
  }
  not_timed();
}

// A call that found something, after others that did not: the loop is one call from the first of
// them on. If it is not kept, its calls stay in the stretch.
void WaitLog::loop_left(std::uint64_t ticks, const profile::CallRow* row, std::uint64_t bytes) {
  const std::uint64_t last_entered = std::exchange(own_.entered, own_.loop_entered);
  if (!keep(ticks, row, bytes) && own_.is_main) {
    short_waits_ += ticks - own_.entered;
    own_.entered = last_entered;
    add_place(row, ticks - last_entered, bytes, 0);
  }
  own_.last_left = ticks;
  not_timed();
}

// The failed calls of the loop that the present call ends are no part of the stretch before it.
void WaitLog::take_out_loop(const profile::CallRow* present) {
  for (std::uint32_t i = 0; i < place_count_; ++i) {
    Place& place = places_[used_places_[i]];
    if (place.loop != own_.loop_entered) continue;
    const std::uint64_t calls = place.sum.row->calls - (place.sum.row == present ? 1 : 0);
    place.sum.ticks = place.ticks_before;
    place.sum.calls += calls - place.calls_before;
  }
}

// False if the call is too short, or becomes it because there is no room.
bool WaitLog::keep(std::uint64_t ticks, const profile::CallRow* row, std::uint64_t bytes) {
  const Turn turn;
  const std::uint64_t duration = ticks - own_.entered;
  const bool fits =
      duration >= threshold_ && make_room(own_.parts, own_.is_main ? place_count_ : 0);
  if (fits && duration >= threshold_) {
    if (own_.is_main && roles_[own_.function].polls) take_out_loop(row);
    write_record({own_.entered, ticks, row, bytes, own_.is_main, own_.list, own_.parts, Stretch{}});
    return true;
  }
  leave_out(duration);
  return false;
}

// May raise the threshold.
bool WaitLog::make_room(std::size_t bytes) {
  const CallLog& calls = memory_->calls;
  const std::size_t room = calls.most() - memory_->times.used();
  if (calls.used() + bytes <= room) return true;
  // Often enough stretches that end without a call fill the memory; then no call has to go.
  drop_short();
  const std::size_t most = room / 4 * 3;
  while (calls.used() > 0 && threshold_ < kHighestThreshold &&
         (calls.used() + bytes > room || calls.used() > most)) {
    threshold_ = next_threshold(most);
    drop_short();
  }
  return calls.used() + bytes <= room;
}

// The lowest for which calls that are not shorter take so many bytes at most; higher than the present one.
std::uint64_t WaitLog::next_threshold(std::size_t most) {
  // Eight classes of durations between a power of two and the next.
  constexpr int kBits = 3;
  static constexpr std::uint64_t kLowest = 1 << kBits;
  const auto class_of = [](std::uint64_t ticks) {
    const std::uint64_t at_least = std::max(ticks, kLowest);
    const int shift = std::bit_width(at_least) - 1 - kBits;
    return (static_cast<std::size_t>(shift) << kBits) + (at_least >> shift) - kLowest;
  };
  const auto shortest_of = [](std::size_t number) {
    return (kLowest + (number & (kLowest - 1))) << (number >> kBits);
  };
  std::size_t bytes[64 << kBits] = {};
  CallLog::Reader reader(memory_->calls);
  Record record;
  while (reader.next(record)) bytes[class_of(record.left - record.entered)] += reader.size();
  std::size_t first = std::size(bytes), stays = 0;
  const std::size_t next = class_of(threshold_) + 1;
  while (first > next && stays + bytes[first - 1] <= most) stays += bytes[--first];
  return first > class_of(kHighestThreshold) ? kHighestThreshold : shortest_of(first);
}

// Within append(), whose turn it is if there are turns.
void WaitLog::times_grew() {
  const Turn turn(!threads_share_);
  make_room(0);
}

void WaitLog::end_stretch(std::uint64_t ticks) {
  interrupt_loop();
  if (!on() || place_count_ == 0) return;
  const Turn turn;
  if (!make_room(0, place_count_)) return;
  write_record({ticks, ticks, nullptr, 0, true, nullptr, 0, Stretch{}});
  own_.last_left = ticks;
}

// What the calls of a place came to in the stretch before the call `present`.
WaitLog::Sum WaitLog::before(const Record& present, const Sum& sum) {
  const bool includes_present = sum.row == present.row;
  return {sum.row, sum.ticks, sum.program_ticks,
          sum.row->calls - sum.calls - (includes_present ? 1 : 0),
          sum.row->bytes - sum.bytes - (includes_present ? present.bytes : 0)};
}

// With the present stretch, if it is the main thread's. There must be room.
void WaitLog::write_record(Record record) {
  if (record.of_main) {
    std::uint32_t count = 0;
    for_each_sum(record, [&count](const Sum& sum) { present_[count++] = sum; });
    record.stretch = {present_, count, short_waits_};
  }
  memory_->calls.append(record);
  if (!record.of_main) return;
  for (std::uint32_t i = 0; i < place_count_; ++i) places_[used_places_[i]] = {};
  place_count_ = 0;
  short_waits_ = 0;
}

// The first of its place in the stretch; or another place is in its entry.
WaitLog::Place* WaitLog::add_place(const profile::CallRow* row, std::uint64_t ticks,
                                   std::uint64_t bytes, std::uint64_t program_ticks) {
  constexpr std::uint32_t kEntries = 1 << kStretchBits;
  if (ticks == 0) return nullptr;
  for (std::uint32_t step = 0; step < kEntries; ++step) {
    const std::uint32_t entry = (place_in_stretch(row) + step) % kEntries;
    Place& place = places_[entry];
    if (place.sum.ticks != 0 && place.sum.row != row) continue;
    if (place.sum.ticks == 0) {
      used_places_[place_count_++] = static_cast<std::uint8_t>(entry);
      place.sum = {row, 0, 0, row->calls - 1, row->bytes - bytes};
    }
    place.sum.ticks += ticks;
    place.sum.program_ticks += program_ticks;
    return &place;
  }
  // All entries are used: this stretch ends before the present call, and the next begins with it.
  {
    const Turn turn;
    if (!make_room(0, place_count_)) return nullptr;
    write_record({own_.entered, own_.entered, nullptr, 0, true, nullptr, 0, Stretch{}});
    own_.loop_entered = own_.entered;  // a loop goes on as one that begins here
  }
  return add_place(row, ticks, bytes, 0);
}

// Drops calls below the threshold. A call that goes becomes part of the stretch before the next one that
// stays; what follows the last is a stretch of its own. What the program did before it stays with it.
void WaitLog::drop_short() {
  std::uint32_t carried = 0;
  Sum* const sums = memory_->carried.data();
  std::uint64_t short_waits = 0;
  const auto carry = [&carried, sums](const Sum& more) {
    for (std::uint32_t i = 0; i < carried; ++i) {
      Sum& sum = sums[i];
      if (sum.row != more.row) continue;
      sum.ticks += more.ticks;
      sum.program_ticks += more.program_ticks;
      sum.calls += more.calls;
      sum.bytes += more.bytes;
      return;
    }
    if (carried < memory_->carried.capacity()) sums[carried++] = more;
  };
  CallLog& calls = memory_->calls;
  const auto write = [&](Record record) {
    if (record.of_main)
      record.stretch = {sums, std::exchange(carried, 0), std::exchange(short_waits, 0)};
    calls.append(record);
  };
  std::uint64_t end = 0, left_before = opened_at_;
  calls.rewrite([&](const Record& record) {
    const Stretch& stretch = record.stretch;
    short_waits += stretch.short_waits;
    std::uint64_t in_sums = 0;
    for (std::uint32_t i = 0; i < stretch.count; ++i) {
      in_sums += stretch.sums[i].ticks + stretch.sums[i].program_ticks;
      carry(stretch.sums[i]);
    }
    const std::uint64_t stretch_end = left_before + in_sums;
    const std::uint64_t program = record.entered > stretch_end ? record.entered - stretch_end : 0;
    if (record.of_main) left_before = record.left;
    const std::uint64_t duration = record.left - record.entered;
    if (duration >= threshold_) return write(record);
    if (record.of_main) end = record.left;
    if (record.row == nullptr) return;
    left_out_ += 1;
    left_out_ticks_ += duration;
    if (!record.of_main) return;
    carry({record.row, duration, program, 1, record.bytes});
    short_waits += duration;
  });
  if (carried > 0) write({end, end, nullptr, 0, true, nullptr, 0, Stretch{}});
}

WaitLog::Stretch WaitLog::present_stretch() {
  std::uint32_t count = 0;
  for_each_sum(Record{}, [&count](const Sum& sum) { present_[count++] = sum; });
  return {present_, count, short_waits_};
}

void WaitLog::close() {
  if (!on_.exchange(false)) return;
  closed_at_ = finalize_.entered != 0 ? finalize_.entered : Ticks::now();
}

bool WaitLog::grow() {
  if (own_.room == 0) {
    own_.list = own_.few;
    own_.room = kFew;
    return true;
  }
  const std::size_t bytes = 2 * std::max<std::size_t>(own_.room * sizeof(std::uint64_t), 4096);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  std::memcpy(memory, own_.list, own_.parts * sizeof(std::uint64_t));
  static thread_local ListMemory kept;
  if (kept.memory != nullptr) munmap(kept.memory, kept.bytes);
  kept.memory = memory;
  kept.bytes = bytes;
  own_.list = static_cast<std::uint64_t*>(memory);
  own_.room = static_cast<std::uint32_t>(bytes / sizeof(std::uint64_t));
  return true;
}

}  // namespace fathom::profiler
