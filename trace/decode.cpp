// SPDX-License-Identifier: BSD-3-Clause
#include "trace/decode.h"

#include <algorithm>

namespace fathom::trace {
namespace {

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }

class Record {
 public:
  Record(const std::uint64_t* record, const DecodeTables& tables, Event& event)
      : payload_(record + 1),
        words_(words_of(*record)),
        small_(small_of(*record)),
        tables_(tables),
        event_(event) {}

  bool decode(RecordKind kind) {
    switch (kind) {
      case RecordKind::kEnter: return call(EventKind::kEnter);
      case RecordKind::kLeave: return call(EventKind::kLeave);
      case RecordKind::kMessageSent: return message(EventKind::kMessageSent);
      case RecordKind::kMessageReceived: return message(EventKind::kMessageReceived);
      case RecordKind::kRequestCompleted:
        event_.kind = EventKind::kRequestCompleted;
        event_.flag = small_ & 1;
        event_.request = word(0);
        return true;
      case RecordKind::kTransfer:
        event_.kind = EventKind::kTransfer;
        event_.code = small_ & (kReceiving - 1);  // ThreadStream adds those that followed
        event_.receiving = (small_ & kReceiving) != 0;
        event_.request = word(0);
        return true;
      case RecordKind::kUnexpected: return unexpected();
      case RecordKind::kLost:
        event_.kind = EventKind::kLost;
        event_.count = word(0);
        return true;
      case RecordKind::kPhaseBegin: return phase(EventKind::kPhaseBegin);
      case RecordKind::kPhaseEnd: return phase(EventKind::kPhaseEnd);
      case RecordKind::kPause: return plain(EventKind::kPause);
      case RecordKind::kResume: return plain(EventKind::kResume);
      case RecordKind::kProcessor: return plain(EventKind::kProcessor);
      case RecordKind::kSampled: return sampled();
      case RecordKind::kTime:
      case RecordKind::kValues:
      case RecordKind::kVoid: break;
    }
    return false;
  }

 private:
  // Missing words read as 0, because a damaged record may be too short.
  std::uint64_t word(std::uint32_t i) const { return i < words_ ? payload_[i] : 0; }

  std::uint32_t half(std::uint32_t i) const {
    return i % 2 == 0 ? low(payload_[i / 2]) : high(payload_[i / 2]);
  }

  bool plain(EventKind kind) {
    event_.kind = kind;
    event_.code = small_;
    return true;
  }

  bool phase(EventKind kind) {
    event_.kind = kind;
    event_.code = small_ < tables_.phases.size() ? tables_.phases[small_] : DecodeTables::kUnknown;
    return event_.code != DecodeTables::kUnknown;
  }

  bool unexpected() {
    event_.kind = EventKind::kUnexpected;
    event_.receiving = small_ != 0;
    communicator(low(word(0)));
    event_.peer = world_rank(high(word(0)), event_.comm_peer);
    event_.tag = static_cast<std::int32_t>(low(word(1)));
    return true;
  }

  bool message(EventKind kind) {
    event_.kind = kind;
    if (small_ >= tables_.classes.size() || tables_.classes[small_] == DecodeTables::kUnknown)
      return false;
    event_.code = tables_.classes[small_];
    communicator(low(word(0)));
    event_.peer = world_rank(high(word(0)), event_.comm_peer);
    event_.tag = static_cast<std::int32_t>(low(word(1)));
    event_.bytes = high(word(1));
    const bool is_long = event_.bytes == kLongBytes && words_ > 2;
    if (is_long) event_.bytes = payload_[words_ - 1];
    const std::uint32_t short_words = words_ - (is_long ? 1u : 0u);
    if (short_words > 2) event_.request = payload_[2];
    if (short_words > 3) event_.object = payload_[3];
    return true;
  }

  bool sampled() {
    if (!function(small_)) return false;
    event_.kind = EventKind::kSampled;
    event_.count = word(0);
    const double ns = static_cast<double>(word(1)) * tables_.ns_per_tick;
    event_.offset = ns < 1.8e19 ? static_cast<std::uint64_t>(ns) : ~std::uint64_t{0};
    return true;
  }

  bool function(std::uint32_t number) {
    if (number >= tables_.functions.size()) return false;
    event_.function = tables_.functions[number].function;
    return event_.function != DecodeTables::kUnknown;
  }

  bool call(EventKind kind) {
    const std::uint32_t number = small_ & (kHasSite - 1);
    if (!function(number)) return false;
    event_.kind = kind;
    const bool enters = kind == EventKind::kEnter;
    if (!enters) event_.code = small_ >> 12;
    const DecodeTables::FunctionPlan& of_function = tables_.functions[number];
    const DecodeTables::CallPlan& plan = enters ? of_function.enter : of_function.leave;
    if (plan.communicator / 2 < words_) communicator(half(plan.communicator));
    const auto narrow = static_cast<std::uint32_t>(plan.narrow.size());
    for (std::uint32_t i = 0, there = std::min(narrow, 2 * words_); i < there; ++i)
      narrow_value(plan.narrow[i], half(i));
    std::uint32_t next = (narrow + 1) / 2;
    for (const Attribute attribute : plan.wide) wide_value(attribute, word(next++));
    if (enters && (small_ & kHasSite) != 0) event_.site = word(next++);
    if (long_bytes_) event_.bytes = word(next++);
    if (long_bytes2_) event_.bytes2 = word(next);
    return true;
  }

  void narrow_value(Attribute attribute, std::uint32_t value) {
    const auto number = static_cast<std::int32_t>(value);
    std::int32_t unused = kNobody;
    switch (attribute) {
      case Attribute::kPeer: event_.peer = world_rank(value, event_.comm_peer); break;
      case Attribute::kTag: event_.tag = number; break;
      case Attribute::kBytes:
        event_.bytes = value;
        long_bytes_ |= value == kLongBytes;
        break;
      case Attribute::kRoot: event_.root = number < 0 ? number : world_rank(value, unused); break;
      case Attribute::kPeer2: event_.peer2 = world_rank(value, unused); break;
      case Attribute::kTag2: event_.tag2 = number; break;
      case Attribute::kBytes2:
        event_.bytes2 = value;
        long_bytes2_ |= value == kLongBytes;
        break;
      case Attribute::kCount:
      case Attribute::kCompleted: event_.count = value; break;
      case Attribute::kNewCommunicator:
        if (value < tables_.communicators.size()) {
          event_.new_communicator = tables_.communicators[value].communicator;
        }
        break;
      case Attribute::kFlag: event_.flag = number; break;
      case Attribute::kLock: event_.code = value; break;
      default: break;
    }
  }

  void wide_value(Attribute attribute, std::uint64_t value) {
    switch (attribute) {
      case Attribute::kRequest: event_.request = value; break;
      case Attribute::kWindow:
      case Attribute::kMessage:
      case Attribute::kFile: event_.object = value; break;
      case Attribute::kOffset: event_.offset = value; break;
      default: break;
    }
  }

  void communicator(std::uint32_t position) {
    if (position >= tables_.communicators.size()) return;
    plan_ = &tables_.communicators[position];
    event_.communicator = plan_->communicator;
  }

  // The world rank for a rank in the record's communicator.
  std::int32_t world_rank(std::uint32_t value, std::int32_t& comm_rank) const {
    const auto number = static_cast<std::int32_t>(value);
    if (number < 0) return number == -1 ? kAnySource : number == -2 ? kNullProcess : kNobody;
    comm_rank = number;
    if (plan_ == nullptr) return kNobody;
    if (plan_->per_process) return value == 0 ? tables_.own_rank : kNobody;
    return value < plan_->peers->size() ? (*plan_->peers)[value] : kNobody;
  }

  const std::uint64_t* payload_;
  std::uint32_t words_, small_;
  const DecodeTables& tables_;
  Event& event_;
  const DecodeTables::CommunicatorPlan* plan_ = nullptr;
  bool long_bytes_ = false, long_bytes2_ = false;  // follow the other words of a call
};

}  // namespace

DecodeTables::CallPlan::CallPlan(const std::vector<Attribute>& attributes) {
  for (const Attribute attribute : attributes) {
    if (is_list(attribute)) continue;
    if (attribute == Attribute::kCommunicator && communicator == kUnknown)
      communicator = static_cast<std::uint32_t>(narrow.size());
    (is_wide(attribute) ? wide : narrow).push_back(attribute);
  }
}

bool decode(const std::uint64_t* record, const DecodeTables& tables, Event& event) {
  event = {};
  return Record(record, tables, event).decode(kind_of(*record));
}

}  // namespace fathom::trace
