// SPDX-License-Identifier: BSD-3-Clause
#include "trace/fields.h"

#include <algorithm>

namespace fathom::trace {
namespace {

constexpr Field kFields[] = {
    {Attribute::kCommunicator, "comm", false}, {Attribute::kPeer, "peer", false},
    {Attribute::kTag, "tag", false},           {Attribute::kBytes, "bytes", true},
    {Attribute::kRoot, "root", false},         {Attribute::kPeer2, "peer2", false},
    {Attribute::kTag2, "tag2", false},         {Attribute::kBytes2, "bytes2", true},
    {Attribute::kCount, "count", true},        {Attribute::kNewCommunicator, "newcomm", false},
    {Attribute::kFlag, "flag", false},         {Attribute::kCompleted, "completed", true},
    {Attribute::kRequest, "request", true},    {Attribute::kWindow, "win", true},
    {Attribute::kFile, "file", true},          {Attribute::kOffset, "offset", true},
    {Attribute::kLock, "lock", false},         {Attribute::kMessage, "message", true},
};

std::uint64_t extended(std::int32_t value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

}  // namespace

std::span<const Field> fields() { return kFields; }

const Field* field_of(Attribute attribute) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const Field& row) { return row.attribute == attribute; });
  return found == std::end(kFields) ? nullptr : found;
}

std::uint64_t get_field(const Event& event, Attribute attribute) {
  switch (attribute) {
    case Attribute::kCommunicator: return extended(event.communicator);
    case Attribute::kPeer: return extended(event.peer);
    case Attribute::kTag: return extended(event.tag);
    case Attribute::kBytes: return event.bytes;
    case Attribute::kRoot: return extended(event.root);
    case Attribute::kPeer2: return extended(event.peer2);
    case Attribute::kTag2: return extended(event.tag2);
    case Attribute::kBytes2: return event.bytes2;
    case Attribute::kCount:
    case Attribute::kCompleted: return event.count;
    case Attribute::kNewCommunicator: return extended(event.new_communicator);
    case Attribute::kFlag: return extended(event.flag);
    case Attribute::kLock: return event.kind == EventKind::kEnter ? event.code : 0;
    case Attribute::kRequest: return event.request;
    case Attribute::kWindow:
    case Attribute::kMessage:
    case Attribute::kFile: return event.object;
    case Attribute::kOffset: return event.offset;
    case Attribute::kRequests:
    case Attribute::kMembers: break;
  }
  return 0;
}

void set_field(Event& event, Attribute attribute, std::uint64_t value) {
  const auto narrow = static_cast<std::int32_t>(value);
  switch (attribute) {
    case Attribute::kCommunicator: event.communicator = narrow; break;
    case Attribute::kPeer: event.peer = narrow; break;
    case Attribute::kTag: event.tag = narrow; break;
    case Attribute::kBytes: event.bytes = value; break;
    case Attribute::kRoot: event.root = narrow; break;
    case Attribute::kPeer2: event.peer2 = narrow; break;
    case Attribute::kTag2: event.tag2 = narrow; break;
    case Attribute::kBytes2: event.bytes2 = value; break;
    case Attribute::kCount:
    case Attribute::kCompleted: event.count = value; break;
    case Attribute::kNewCommunicator: event.new_communicator = narrow; break;
    case Attribute::kFlag: event.flag = narrow; break;
    case Attribute::kLock: event.code = static_cast<std::uint32_t>(value); break;
    case Attribute::kRequest: event.request = value; break;
    case Attribute::kWindow:
    case Attribute::kMessage:
    case Attribute::kFile: event.object = value; break;
    case Attribute::kOffset: event.offset = value; break;
    case Attribute::kRequests:
    case Attribute::kMembers: break;
  }
}

// Compares with a default Event, because the default of a field is not always 0.
bool is_set(const Event& event, Attribute attribute) {
  return get_field(event, attribute) != get_field(Event{}, attribute);
}

}  // namespace fathom::trace
