// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/keeper/before_window.h"

#include <algorithm>

#include "mpi/meaning.h"
#include "trace/meanings.h"

namespace fathom::profiler {
namespace {

using trace::RecordKind;

// Its place among the 4-byte attributes.
int place_of(trace::Attribute attribute, const std::vector<trace::Attribute>& attributes) {
  int place = 0;
  for (const trace::Attribute each : attributes) {
    if (each == attribute) return place;
    if (!trace::is_wide(each)) ++place;
  }
  return -1;
}

// The word, from 1, that holds the handle of a message; 0: none does.
std::uint32_t word_of_message(const std::vector<trace::Attribute>& attributes) {
  std::uint32_t narrow = 0, wide = 0;
  for (const trace::Attribute each : attributes) {
    if (each == trace::Attribute::kMessage) return 1 + (narrow + 1) / 2 + wide;
    if (trace::is_list(each)) continue;
    ++(trace::is_wide(each) ? wide : narrow);
  }
  return 0;
}

std::uint32_t four_bytes(const std::uint64_t* payload, int place) {
  return static_cast<std::uint32_t>(payload[place / 2] >> (place % 2 * 32));
}

}  // namespace

void BeforeWindow::learn(const trace::ProcessDefinitions& definitions) {
  for (const auto& [number, function] : definitions.functions) {
    if (functions_.size() <= number) functions_.resize(number + 1);
    const mpi::Meaning& means = trace::meaning_of(function);
    Function& known = functions_[number];
    known.counts =
        means.sequence == mpi::Sequence::kJob || means.sequence == mpi::Sequence::kCommunicator;
    if (means.sequence != mpi::Sequence::kJob)
      known.communicator = place_of(trace::Attribute::kCommunicator, function.enter);
    known.peer = place_of(trace::Attribute::kPeer, function.enter);
    known.tag = place_of(trace::Attribute::kTag, function.enter);
    if (means.takes_message) known.takes = word_of_message(function.leave);
    if (means.group == mpi::Group::kReceive) known.receives = word_of_message(function.enter);
  }
  for (const auto& [number, name] : definitions.classes) {
    if (has_own_tags_.size() <= number) has_own_tags_.resize(number + 1);
    has_own_tags_[number] =
        name.second && mpi::meaning_of(name.first).requests != mpi::Requests::kNone;
  }
}

void BeforeWindow::take(const KeptChunk& dropped) {
  const std::uint32_t thread = dropped.frame.thread;
  const std::uint64_t* const end = dropped.words.data() + dropped.words.size();
  for (const std::uint64_t* at = dropped.words.data(); at < end;) {
    const auto words = static_cast<std::uint32_t>(*at >> trace::kWordsShift & trace::kMaxWords);
    const auto small = static_cast<std::uint32_t>(*at >> trace::kSmallShift & trace::kMaxSmall);
    switch (static_cast<RecordKind>(*at & 0xff)) {
      case RecordKind::kMessageSent: message(at, small, false); break;
      case RecordKind::kMessageReceived:
        message(at, small, true);
        received(at, thread);
        break;
      case RecordKind::kEnter:
        entered(at, words, thread, small & (trace::kHasSite - 1));
        if ((small & trace::kSends) != 0 && words >= 2) message(at, 0, false);
        break;
      case RecordKind::kLeave: left(at, words, thread, small & (trace::kHasSite - 1)); break;
      case RecordKind::kPhaseBegin: open_phases_[thread].push_back(small); break;
      case RecordKind::kPhaseEnd: phase_ended(thread, small); break;
      case RecordKind::kLost:
      case RecordKind::kPause:
      case RecordKind::kSampled: exact_ = false; break;
      default: break;
    }
    at += 1 + words;
  }
  records_ += dropped.frame.records;
}

void BeforeWindow::message(const std::uint64_t* record, std::uint32_t message_class,
                           bool receives) {
  if (!exact_ || (message_class < has_own_tags_.size() && has_own_tags_[message_class])) return;
  const Key key{record[1], static_cast<std::uint32_t>(record[2])};
  Counts* counts = channels_.find(key);
  if (counts == nullptr) {
    // Counts of some channels alone would join the others wrongly, so then there are none.
    if (channel_count_++ == kMostChannels) {
      channels_.clear();
      exact_ = false;
      return;
    }
    counts = &channels_[key];
  }
  ++(receives ? counts->received : counts->sent);
}

// The window may begin between the message that a probe held and the end of the call that received it.
void BeforeWindow::received(const std::uint64_t* record, std::uint32_t thread) {
  if (open_receives_.empty()) return;
  const auto open = open_receives_.find(thread);
  if (open == open_receives_.end()) return;
  constexpr std::int32_t kAny = -1;
  const trace::OpeningHeldRow& row = open->second.row;
  const auto peer = static_cast<std::int32_t>(record[1] >> 32);
  const auto tag = static_cast<std::int32_t>(record[2]);
  if (row.communicator == static_cast<std::uint32_t>(record[1]) &&
      (row.peer == kAny || row.peer == peer) && (row.tag == tag || (row.tag == kAny && tag >= 0)))
    open_receives_.erase(open);
}

void BeforeWindow::entered(const std::uint64_t* record, std::uint32_t words, std::uint32_t thread,
                           std::uint32_t function) {
  if (function >= functions_.size()) return;
  const Function& facts = functions_[function];
  if (facts.takes + facts.receives != 0) [[unlikely]]
    follow_held(record, words, thread, facts);
  if (!facts.counts) return;
  const int place = facts.communicator;
  if (place / 2 >= static_cast<int>(words)) return;
  const std::uint32_t communicator = place < 0 ? trace::kWholeJob : four_bytes(record + 1, place);
  if (place < 0 || communicator != trace::kWholeJob) ++sequences_[communicator];
}

void BeforeWindow::follow_held(const std::uint64_t* record, std::uint32_t words,
                               std::uint32_t thread, const Function& function) {
  if (function.receives != 0) {
    const auto held =
        function.receives > words ? held_.end() : held_.find(record[function.receives]);
    if (held == held_.end()) return;
    Held& receives = open_receives_[thread] = held->second;
    receives.row.state = trace::HeldState::kReceived;
    receives.row.thread = thread;
    held_.erase(held);
    return;
  }
  const auto asked = [&](int place) {
    return place < 0 || place / 2 >= static_cast<int>(words) ? ~std::uint32_t{0}
                                                             : four_bytes(record + 1, place);
  };
  open_probes_[thread] = {asked(function.communicator),
                          static_cast<std::int32_t>(asked(function.peer)),
                          static_cast<std::int32_t>(asked(function.tag)),
                          thread,
                          trace::HeldState::kProbed,
                          0,
                          0};
}

void BeforeWindow::left(const std::uint64_t* record, std::uint32_t words, std::uint32_t thread,
                        std::uint32_t function) {
  if (function >= functions_.size()) return;
  if (functions_[function].receives != 0) open_receives_.erase(thread);
  if (functions_[function].takes == 0) return;
  const auto probe = open_probes_.find(thread);
  if (probe == open_probes_.end()) return;
  constexpr std::int32_t kNullProcess = -2;
  const std::uint32_t at = functions_[function].takes;
  const std::uint64_t message = at <= words ? record[at] : 0;
  if (message != 0 && probe->second.peer != kNullProcess) {
    Held& held = held_[message];
    held = {++held_so_far_, probe->second};
    held.row.message = message;
    held.row.state = trace::HeldState::kHeld;
    exact_ = exact_ && held_.size() <= kMostHeld;
    if (!exact_) held_.clear();
  }
  open_probes_.erase(probe);
}

void BeforeWindow::phase_ended(std::uint32_t thread, std::uint32_t phase) {
  std::vector<std::uint32_t>& open = open_phases_[thread];
  const auto last = std::find(open.rbegin(), open.rend(), phase);
  if (last != open.rend()) open.erase(std::next(last).base(), open.end());
}

std::vector<trace::OpeningChannelRow> BeforeWindow::channels() {
  std::vector<trace::OpeningChannelRow> rows;
  channels_.for_each([&rows](const Key& key, const Counts& counts) {
    rows.push_back({static_cast<std::uint32_t>(key.communicator_and_peer),
                    static_cast<std::uint32_t>(key.communicator_and_peer >> 32),
                    static_cast<std::int32_t>(key.tag), 0, counts.sent, counts.received});
  });
  return rows;
}

std::vector<trace::OpeningSequenceRow> BeforeWindow::sequences() const {
  std::vector<trace::OpeningSequenceRow> rows;
  for (const auto& [communicator, operations] : sequences_)
    rows.push_back({communicator, 0, operations});
  return rows;
}

std::vector<trace::OpeningHeldRow> BeforeWindow::held() const {
  std::vector<Held> in_order;
  for (const auto& [message, held] : held_) in_order.push_back(held);
  for (const auto& [thread, held] : open_receives_) in_order.push_back(held);
  std::sort(in_order.begin(), in_order.end(),
            [](const Held& a, const Held& b) { return a.order < b.order; });
  std::vector<trace::OpeningHeldRow> rows;
  for (const Held& held : in_order) rows.push_back(held.row);
  for (const auto& [thread, probe] : open_probes_) rows.push_back(probe);
  return rows;
}

}  // namespace fathom::profiler
