// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/loggops/matching.h"

namespace fathom::simulator {
namespace {

constexpr std::uint32_t kKept = 1, kTaken = 2;  // order_ of a message

std::uint32_t kind_of(const Channel& channel) {
  return (channel.source == kAnySource ? 1u : 0u) | (channel.tag == kAnyTag ? 2u : 0u);
}

}  // namespace

Matching::Matching(const Program& program)
    : program_(program),
      kinds_(program.rank_count()),
      posted_(program.channels().size()),
      unexpected_in_(program.channels().size()),
      next_(program.size(), kNoOperation),
      order_(program.size()) {
  for (std::uint32_t channel = 0; channel < program.channels().size(); ++channel) {
    const Channel& key = program.channels()[channel];
    kinds_[key.rank] = static_cast<std::uint8_t>(kinds_[key.rank] | (1u << kind_of(key)));
  }
}

// By kind; ChannelTable::kNone if no receive ever uses that channel.
std::array<std::uint32_t, Matching::kKinds> Matching::channels_of(OperationId send) const {
  std::array<std::uint32_t, kKinds> channels;
  channels.fill(ChannelTable::kNone);
  channels[0] = program_[send].channel;
  const Channel& own = program_.channels()[channels[0]];
  const unsigned kinds = kinds_[own.rank];
  if (kinds <= 1) return channels;
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) {
    if ((kinds & (1u << kind)) == 0) continue;
    Channel wildcard = own;
    if (kind & 1u) wildcard.source = kAnySource;
    if (kind & 2u) wildcard.tag = kAnyTag;
    channels[kind] = program_.channels().find(wildcard);
  }
  return channels;
}

OperationId Matching::arrive(OperationId send) {
  const auto channels = channels_of(send);
  Queue* earliest = nullptr;
  for (std::uint32_t channel : channels) {
    if (channel == ChannelTable::kNone || posted_[channel].first == kNoOperation) continue;
    Queue& queue = posted_[channel];
    if (earliest == nullptr || order_[queue.first] < order_[earliest->first]) earliest = &queue;
  }
  if (earliest == nullptr) {
    keep(send, channels);
    return kNoOperation;
  }
  const OperationId receive = earliest->first;
  earliest->first = next_[receive];
  return receive;
}

// Puts the message into each queue that a later receive may look in, so that post() looks in only
// one.
void Matching::keep(OperationId send, const std::array<std::uint32_t, kKinds>& channels) {
  order_[send] = kKept;
  ++unexpected_;
  append(unexpected_in_[channels[0]], send);
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) {
    if (channels[kind] == ChannelTable::kNone) continue;
    Queue& queue = unexpected_in_[channels[kind]];
    const auto cell = static_cast<std::uint32_t>(cells_.size());
    cells_.push_back({send, kNoOperation});
    (queue.first == kNoOperation ? queue.first : cells_[queue.last].next) = cell;
    queue.last = cell;
  }
}

void Matching::append(Queue& queue, OperationId operation) {
  (queue.first == kNoOperation ? queue.first : next_[queue.last]) = operation;
  queue.last = operation;
}

OperationId Matching::post(OperationId receive) {
  const std::uint32_t channel = program_[receive].channel;
  const bool wildcard = kind_of(program_.channels()[channel]) != 0;
  const OperationId send = first_unexpected(channel, wildcard);
  if (send != kNoOperation) {
    order_[send] = kTaken;
    --unexpected_;
    return send;
  }
  order_[receive] = posted_count_++;
  append(posted_[channel], receive);
  return kNoOperation;
}

// Removes and returns the first message still kept, and removes those before it, which are taken.
OperationId Matching::first_unexpected(std::uint32_t channel, bool wildcard) {
  Queue& queue = unexpected_in_[channel];
  while (queue.first != kNoOperation) {
    const OperationId send = wildcard ? cells_[queue.first].send : queue.first;
    queue.first = wildcard ? cells_[queue.first].next : next_[queue.first];
    if (order_[send] == kKept) return send;
  }
  return kNoOperation;
}

}  // namespace fathom::simulator
