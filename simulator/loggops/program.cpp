// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/loggops/program.h"

namespace fathom::simulator {
namespace {

// Mixes all bits of the four numbers: MurmurHash3's finaliser (A. Appleby) on two words.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccdull;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53ull;
  return word ^ (word >> 33);
}

std::uint64_t hash(const Channel& channel) {
  const auto tag = static_cast<std::uint32_t>(channel.tag);
  const std::uint64_t first = (std::uint64_t{channel.rank} << 32) | channel.source;
  const std::uint64_t second = (std::uint64_t{channel.communicator} << 32) | tag;
  return mix(first ^ mix(second));
}

}  // namespace

std::size_t ChannelTable::slot_of(const Channel& channel) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash(channel) & mask;
  while (slots_[slot] != kNone && !(channels_[slots_[slot]] == channel)) slot = (slot + 1) & mask;
  return slot;
}

std::uint32_t ChannelTable::find(const Channel& channel) const {
  return slots_.empty() ? kNone : slots_[slot_of(channel)];
}

std::uint32_t ChannelTable::number(const Channel& channel) {
  if (2 * channels_.size() >= slots_.size()) grow();
  std::uint32_t& slot = slots_[slot_of(channel)];
  if (slot == kNone) {
    slot = static_cast<std::uint32_t>(channels_.size());
    channels_.push_back(channel);
  }
  return slot;
}

void ChannelTable::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNone);
  for (std::uint32_t number = 0; number < channels_.size(); ++number) {
    slots_[slot_of(channels_[number])] = number;
  }
}

OperationId Program::add(const Operation& operation) {
  operations_.push_back(operation);
  successors_.emplace_back();
  return static_cast<OperationId>(operations_.size() - 1);
}

OperationId Program::compute(std::uint32_t rank, double nanoseconds, std::uint8_t processor) {
  return add({OperationKind::kCompute, processor, rank, 0, nanoseconds});
}

OperationId Program::send(std::uint32_t rank, std::uint32_t to, double bytes, std::int32_t tag,
                          std::uint32_t communicator, std::uint8_t processor) {
  const std::uint32_t channel = channels_.number({to, rank, tag, communicator});
  return add({OperationKind::kSend, processor, rank, channel, bytes});
}

OperationId Program::receive(std::uint32_t rank, std::uint32_t from, double bytes, std::int32_t tag,
                             std::uint32_t communicator, std::uint8_t processor) {
  const std::uint32_t channel = channels_.number({rank, from, tag, communicator});
  return add({OperationKind::kReceive, processor, rank, channel, bytes});
}

void Program::require(OperationId after, OperationId before, When when) {
  Successor& successor = successors_[before];
  if (successor.operation == kNoOperation) {
    successor = {after, when};
  } else {
    dependencies_.push_back({before, after, when});
  }
}

void Script::compute(double nanoseconds) {
  follow(program_.compute(rank_, nanoseconds), When::kEnded);
}

void Script::send(std::uint32_t to, double bytes, std::int32_t tag, std::uint32_t communicator) {
  follow(program_.send(rank_, to, bytes, tag, communicator), When::kEnded);
}

void Script::receive(std::uint32_t from, double bytes, std::int32_t tag,
                     std::uint32_t communicator) {
  follow(program_.receive(rank_, from, bytes, tag, communicator), When::kEnded);
}

OperationId Script::isend(std::uint32_t to, double bytes, std::int32_t tag,
                          std::uint32_t communicator) {
  return follow(program_.send(rank_, to, bytes, tag, communicator), When::kStarted);
}

OperationId Script::ireceive(std::uint32_t from, double bytes, std::int32_t tag,
                             std::uint32_t communicator) {
  return follow(program_.receive(rank_, from, bytes, tag, communicator), When::kStarted);
}

void Script::wait_all(std::span<const OperationId> requests) {
  // An empty computation joins the requests, so that the next operation follows just one.
  const OperationId all = follow(program_.compute(rank_, 0), When::kEnded);
  for (OperationId request : requests) program_.require(all, request, When::kEnded);
}

OperationId Script::follow(OperationId operation, When next_when) {
  if (last_ != kNoOperation) program_.require(operation, last_, next_when_);
  last_ = operation;
  next_when_ = next_when;
  return operation;
}

}  // namespace fathom::simulator
