// SPDX-License-Identifier: BSD-3-Clause
#include "trace/encode.h"

#include <algorithm>

namespace fathom::trace {
namespace {

constexpr std::uint32_t kNoPosition = ~0u;
constexpr std::uint32_t kUnknownRank = static_cast<std::uint32_t>(-3);

constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{low} | std::uint64_t{high} << 32;
}
constexpr std::uint32_t short_bytes(std::uint64_t bytes) {
  return bytes < kLongBytes ? static_cast<std::uint32_t>(bytes) : kLongBytes;
}

}  // namespace

Encoder::Encoder(const Definitions& definitions,
                 const std::vector<ProcessCommunicators>& communicators)
    : definitions_(definitions), communicators_(communicators) {}

void Encoder::begin(RecordKind kind, std::uint32_t small) {
  record_.assign(1, 0);
  head_ = head(static_cast<std::uint32_t>(kind), 0, small & kMaxSmall, 0);
}

// Cuts the record to the 15 words that a head can count, because readers could not step over more.
void Encoder::finish() {
  if (record_.size() > 1 + kMaxWords) record_.resize(1 + kMaxWords);
  record_[0] = head_ | std::uint64_t{record_.size() - 1} << kWordsShift;
}

const std::vector<std::uint64_t>& Encoder::encode(std::size_t process, const Event& event) {
  process_ = process;
  record_.clear();
  const auto simple = [&](RecordKind kind, std::uint32_t small) { begin(kind, small); };
  const auto valued = [&](RecordKind kind, std::uint32_t small, std::uint64_t word) {
    begin(kind, small);
    record_.push_back(word);
  };
  switch (event.kind) {
    case EventKind::kEnter: call(event, true); break;
    case EventKind::kLeave: call(event, false); break;
    case EventKind::kMessageSent: message(event, RecordKind::kMessageSent); break;
    case EventKind::kMessageReceived: message(event, RecordKind::kMessageReceived); break;
    case EventKind::kRequestCompleted:
      valued(RecordKind::kRequestCompleted, event.flag == 1 ? 1 : 0, event.request);
      break;
    case EventKind::kTransfer:
      valued(RecordKind::kTransfer,
             (event.code & (kReceiving - 1)) | (event.receiving ? kReceiving : 0), event.request);
      break;
    case EventKind::kUnexpected:
      valued(RecordKind::kUnexpected, event.receiving ? 1 : 0,
             pair(position(event.communicator),
                  comm_rank(event.communicator, event.peer, event.comm_peer)));
      record_.push_back(pair(static_cast<std::uint32_t>(event.tag), 0));
      break;
    case EventKind::kPhaseBegin: simple(RecordKind::kPhaseBegin, event.code); break;
    case EventKind::kPhaseEnd: simple(RecordKind::kPhaseEnd, event.code); break;
    case EventKind::kPause: simple(RecordKind::kPause, event.code); break;
    case EventKind::kResume: simple(RecordKind::kResume, event.code); break;
    case EventKind::kProcessor: simple(RecordKind::kProcessor, event.code); break;
    case EventKind::kLost: valued(RecordKind::kLost, 0, event.count); break;
    case EventKind::kSampled:
      valued(RecordKind::kSampled, event.function, event.count);
      record_.push_back(event.offset);
      break;
    case EventKind::kRequestGiven:
      valued(RecordKind::kValues, static_cast<std::uint32_t>(Attribute::kRequests), event.request);
      break;
    case EventKind::kMemberGiven:
      valued(RecordKind::kValues, static_cast<std::uint32_t>(Attribute::kMembers),
             static_cast<std::uint64_t>(event.peer));
      break;
  }
  if (!record_.empty()) finish();
  return record_;
}

void Encoder::message(const Event& event, RecordKind kind) {
  begin(kind, event.code);
  record_.push_back(pair(position(event.communicator),
                         comm_rank(event.communicator, event.peer, event.comm_peer)));
  record_.push_back(pair(static_cast<std::uint32_t>(event.tag), short_bytes(event.bytes)));
  if (event.request != kNoRequest || event.object != 0) record_.push_back(event.request);
  if (event.object != 0) record_.push_back(event.object);
  if (event.bytes >= kLongBytes) record_.push_back(event.bytes);
}

void Encoder::call(const Event& event, bool enters) {
  if (event.function >= definitions_.functions.size() || event.function >= kHasSite) return;
  const Function& function = definitions_.functions[event.function];
  std::uint32_t small = event.function;
  if (enters && event.site != 0) small |= kHasSite;
  if (!enters) small |= std::min(event.code, 255u) << 12;
  begin(enters ? RecordKind::kEnter : RecordKind::kLeave, small);
  bool long_bytes = false, long_bytes2 = false, low_half = true;
  for (const Attribute attribute : enters ? function.enter : function.leave) {
    if (is_wide(attribute)) continue;
    const std::uint32_t value = narrow_value(attribute, event);
    long_bytes |= attribute == Attribute::kBytes && value == kLongBytes;
    long_bytes2 |= attribute == Attribute::kBytes2 && value == kLongBytes;
    if (low_half) {
      record_.push_back(value);
    } else {
      record_.back() |= std::uint64_t{value} << 32;
    }
    low_half = !low_half;
  }
  for (const Attribute attribute : enters ? function.enter : function.leave) {
    if (is_wide(attribute) && !is_list(attribute)) record_.push_back(wide_value(attribute, event));
  }
  if (enters && event.site != 0) record_.push_back(event.site);
  if (long_bytes) record_.push_back(event.bytes);
  if (long_bytes2) record_.push_back(event.bytes2);
}

std::uint32_t Encoder::narrow_value(Attribute attribute, const Event& event) {
  switch (attribute) {
    case Attribute::kCommunicator: return position(event.communicator);
    case Attribute::kPeer: return comm_rank(event.communicator, event.peer, event.comm_peer);
    case Attribute::kTag: return static_cast<std::uint32_t>(event.tag);
    case Attribute::kBytes: return short_bytes(event.bytes);
    case Attribute::kRoot:
      return event.root < 0 ? static_cast<std::uint32_t>(event.root)
                            : comm_rank(event.communicator, event.root, kNobody);
    case Attribute::kPeer2: return comm_rank(event.communicator, event.peer2, kNobody);
    case Attribute::kTag2: return static_cast<std::uint32_t>(event.tag2);
    case Attribute::kBytes2: return short_bytes(event.bytes2);
    case Attribute::kCount:
    case Attribute::kCompleted: return static_cast<std::uint32_t>(event.count);
    case Attribute::kNewCommunicator: return position(event.new_communicator);
    case Attribute::kFlag: return static_cast<std::uint32_t>(event.flag);
    case Attribute::kLock: return event.code;
    default: return 0;
  }
}

std::uint64_t Encoder::wide_value(Attribute attribute, const Event& event) {
  switch (attribute) {
    case Attribute::kRequest: return event.request;
    case Attribute::kWindow:
    case Attribute::kMessage:
    case Attribute::kFile: return event.object;
    case Attribute::kOffset: return event.offset;
    default: return 0;
  }
}

std::uint32_t Encoder::position(std::int32_t communicator) const {
  const auto& positions = communicators_[process_].positions;
  const auto found = positions.find(communicator);
  return found == positions.end() ? kNoPosition : found->second;
}

std::uint32_t Encoder::comm_rank(std::int32_t communicator, std::int32_t world_rank,
                                 std::int32_t comm_rank) {
  if (world_rank == kAnySource) return static_cast<std::uint32_t>(-1);
  if (world_rank == kNullProcess) return static_cast<std::uint32_t>(-2);
  if (comm_rank >= 0) return static_cast<std::uint32_t>(comm_rank);
  if (world_rank < 0 || communicator < 0 ||
      communicator >= static_cast<std::int32_t>(definitions_.communicators.size())) {
    return kUnknownRank;
  }
  const auto& described = definitions_.communicators[static_cast<std::size_t>(communicator)];
  if (described.world_ranks.empty()) {  // such as MPI_COMM_SELF: each process has its own
    return world_rank == definitions_.processes[process_].rank ? 0 : kUnknownRank;
  }
  const auto& sides = communicators_[process_].in_remote_group;
  const auto side = sides.find(communicator);
  const bool in_remote = side != sides.end() && side->second;
  const auto& ranks = ranks_in(communicator, !described.remote_world_ranks.empty() && !in_remote);
  const auto found = ranks.find(world_rank);
  return found == ranks.end() ? kUnknownRank : found->second;
}

const std::unordered_map<std::int32_t, std::uint32_t>& Encoder::ranks_in(std::int32_t communicator,
                                                                         bool remote) {
  auto& ranks = ranks_[std::int64_t{communicator} * 2 + (remote ? 1 : 0)];
  if (ranks.empty()) {
    const auto& described = definitions_.communicators[static_cast<std::size_t>(communicator)];
    const auto& side = remote ? described.remote_world_ranks : described.world_ranks;
    for (std::uint32_t place = 0; place < side.size(); ++place) {
      ranks.emplace(static_cast<std::int32_t>(side[place]), place);
    }
  }
  return ranks;
}

}  // namespace fathom::trace
