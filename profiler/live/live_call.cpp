// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/live/live_call.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "base/reserved_array.h"
#include "profiler/calls/call_sites.h"
#include "profiler/calls/call_times.h"
#include "profiler/clocks/ticks.h"
#include "profiler/openmpi/next_function.h"
#include "profiler/openmpi/standard_abi.h"
#include "rankmap/communicator_view.h"

namespace fathom::profiler {
namespace {

constexpr std::size_t kMostLines = 4096;
constexpr std::size_t kMostKinds = 4096;  // communicators whose collectives are numbered
constexpr int kMostLooks = 1024;          // requests of one call that are looked at

// Requests by their address. An entry stays until another request takes its place: every function
// that makes a request is wrapped, so a request at the same address replaces it.
constexpr std::size_t kRequestBits = 16, kProbes = 4;
struct KnownRequest {
  const void* request;
  live::PendingLine pending;
};

// Never destroyed: threads may outlive everything else.
struct Memory {
  std::mutex lock;
  base::ReservedArray<live::ThreadLine> lines;
  std::vector<live::ThreadLine*> free_lines;
  std::atomic<std::uint64_t> collectives[kMostKinds] = {};
  std::atomic<bool> requests_taken{false};
  std::uint32_t next_probe = 0;
  KnownRequest requests[(std::size_t{1} << kRequestBits) + kProbes] = {};
};
Memory* memory = nullptr;

// Gives the line back when the thread ends.
struct OwnLine {
  live::ThreadLine* line = nullptr;
  ~OwnLine() {
    if (line == nullptr) return;
    line->function[0] = '\0';
    line->calls.store(0, std::memory_order_relaxed);
    const std::lock_guard guard(memory->lock);
    memory->free_lines.push_back(line);
    line = nullptr;
  }
};

// Of this thread; null if there is none left.
live::ThreadLine* own_line() {
  static thread_local OwnLine own;
  if (own.line != nullptr || memory == nullptr) [[likely]]
    return own.line;
  const std::lock_guard guard(memory->lock);
  if (!memory->free_lines.empty()) {
    own.line = memory->free_lines.back();
    memory->free_lines.pop_back();
    return own.line;
  }
  own.line = memory->lines.append();
  if (own.line != nullptr) own.line->is_used = 1;
  return own.line;
}

// The thread that counts writes it alone: no atomic addition.
void count_call(live::ThreadLine& line) {
  line.calls.store(line.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void note_site(const void* site) {
  live::ThreadLine* line = own_line();
  if (line == nullptr) return;
  line->site.store(reinterpret_cast<std::uint64_t>(site), std::memory_order_relaxed);
  count_call(*line);
}

void begin_writing(live::ThreadLine& line) {
  line.sequence.store(line.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

void end_writing(live::ThreadLine& line) {
  line.sequence.store(line.sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::uint64_t next_collective(std::uint32_t communicator) {
  if (memory == nullptr || communicator >= kMostKinds) return 0;
  return memory->collectives[communicator].fetch_add(1, std::memory_order_relaxed) + 1;
}

class RequestsTurn {
 public:
  RequestsTurn() {
    while (memory->requests_taken.exchange(true, std::memory_order_acquire)) {
    }
  }
  ~RequestsTurn() { memory->requests_taken.store(false, std::memory_order_release); }
  RequestsTurn(const RequestsTurn&) = delete;
};

KnownRequest* place_of(const void* request) {
  const std::uint64_t hash = reinterpret_cast<std::uintptr_t>(request) * 0x9e3779b97f4a7c15;
  return &memory->requests[hash >> (64 - kRequestBits)];
}

live::PendingLine known_pending(const void* request) {
  const RequestsTurn turn;
  const KnownRequest* place = place_of(request);
  for (std::size_t i = 0; i < kProbes; ++i)
    if (place[i].request == request) return place[i].pending;
  return {static_cast<std::uint32_t>(live::RequestKind::kOther), live::kNoCommunicator,
          live::kNoRank, live::kNoRank, 0};
}

void leave_asked_out(live::ThreadLine& line) {
  begin_writing(line);
  line.pending_left_out = 1;  // how many do not matter
  end_writing(line);
}

bool are_same(const live::PendingLine& a, const live::PendingLine& b) {
  return a.kind == b.kind && a.communicator == b.communicator && a.peer == b.peer &&
         a.tag == b.tag && a.bytes == b.bytes;
}

// Most polls repeat an earlier one, and write nothing.
void add_asked(live::ThreadLine& line, const live::PendingLine& asked) {
  const std::uint32_t count = line.pending_count;
  for (std::uint32_t i = 0; i < count; ++i)
    if (are_same(line.pending[i], asked)) return;
  if (count == live::kMostPendingLines) return leave_asked_out(line);
  begin_writing(line);
  line.pending[count] = asked;
  line.pending_count = count + 1;
  end_writing(line);
}

void* instead_of(const char* name, void* found) {
  for (std::uint32_t i = 0; found != nullptr && i < kLiveFunctionCount; ++i) {
    const LiveFunction& function = kLiveFunctions[i];
    if (std::strcmp(function.name, name) != 0) continue;
    *function.real = found;
    return function.instead;
  }
  return found;
}

}  // namespace

bool live_calls::open(LivePage& page) {
  if (kLiveFunctions == nullptr || memory != nullptr) return false;
  auto made = std::make_unique<Memory>();
  if (!made->lines.reserve(kMostLines, &page, live::kThreadLines)) return false;
  made->free_lines.reserve(kMostLines);  // so that the end of a thread allocates nothing
  memory = made.release();
  NextFunction::set_around(instead_of);
  CallSites::watch(note_site);
  return true;
}

LiveCall::LiveCall(const LiveName& function, std::uint32_t communicator)
    : line_(CallSites::is_inside_one() ? own_line() : nullptr) {
  if (line_ == nullptr) return;
  if (!CallTimes::on()) count_call(*line_);  // then nobody asks for its site
  begin_writing(*line_);
  std::memcpy(line_->function, function.characters, sizeof line_->function);
  line_->since_ns = nanoseconds_of(CLOCK_MONOTONIC_COARSE);
  line_->communicator = communicator;
  line_->root = live::kNoRank;
  line_->bytes = line_->collective = line_->pending_left_out = 0;
  line_->pending_count = line_->waits_for_all = 0;
}

void LiveCall::begun() { end_writing(*line_); }

void LiveCall::leave() {
  begin_writing(*line_);
  line_->function[0] = '\0';
  line_->since_ns = nanoseconds_of(CLOCK_MONOTONIC_COARSE);
  line_->pending_count = 0;
  line_->pending_left_out = 0;
  end_writing(*line_);
}

void LiveCall::add(const live::PendingLine& pending) {
  if (line_->pending_count == live::kMostPendingLines) {
    ++line_->pending_left_out;
    return;
  }
  line_->pending[line_->pending_count++] = pending;
}

void LivePoll::found() {
  live::ThreadLine* line = CallSites::is_inside_one() ? own_line() : nullptr;
  if (line == nullptr || (line->pending_count == 0 && line->pending_left_out == 0)) return;
  begin_writing(*line);
  line->pending_count = 0;
  line->pending_left_out = 0;
  end_writing(*line);
}

void LivePoll::found_nothing(int count, const MPI_Request* requests) {
  live::ThreadLine* line = CallSites::is_inside_one() ? own_line() : nullptr;
  if (line == nullptr || requests == nullptr || line->pending_left_out > 0) return;
  for (int i = 0; i < count && i < kMostLooks; ++i) {
    const void* request = native(requests[i]);
    if (request != nullptr && !rankmap::is_complete(request))
      add_asked(*line, known_pending(request));
  }
  if (count > kMostLooks) leave_asked_out(*line);
}

void LivePoll::found_nothing(std::uint32_t communicator, int source, int tag) {
  live::ThreadLine* line = CallSites::is_inside_one() ? own_line() : nullptr;
  if (line == nullptr || line->pending_left_out > 0) return;
  add_asked(*line, {static_cast<std::uint32_t>(live::RequestKind::kReceive), communicator, source,
                    tag, 0});
}

void LiveCall::waits_for(live::RequestKind kind, int peer, int tag, std::uint64_t bytes) {
  add({static_cast<std::uint32_t>(kind), line_->communicator, peer, tag, bytes});
}

void LiveCall::completes(int count, MPI_Request* requests, bool all) {
  line_->waits_for_all = all ? 1 : 0;
  if (requests == nullptr) return;
  for (int i = 0; i < count && i < kMostLooks; ++i) {
    const void* request = native(requests[i]);
    if (request != nullptr && !rankmap::is_complete(request)) add(known_pending(request));
  }
  if (count > kMostLooks) line_->pending_left_out += static_cast<std::uint64_t>(count - kMostLooks);
}

void LiveCall::is_collective(int root) {
  line_->root = root;
  line_->collective = next_collective(line_->communicator);
}

void LiveRequest::is_collective() const {
  if (CallSites::is_inside_one()) next_collective(pending_.communicator);
}

void LiveRequest::made(const void* request) const {
  if (request == nullptr || memory == nullptr) return;
  const RequestsTurn turn;
  KnownRequest* place = place_of(request);
  KnownRequest* chosen = nullptr;
  for (std::size_t i = 0; i < kProbes; ++i) {
    if (place[i].request == request) {
      chosen = &place[i];
      break;
    }
    if (chosen == nullptr && place[i].request == nullptr) chosen = &place[i];
  }
  if (chosen == nullptr) chosen = &place[memory->next_probe++ % kProbes];
  *chosen = {request, pending_};
}

}  // namespace fathom::profiler
