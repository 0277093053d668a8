// SPDX-License-Identifier: BSD-3-Clause
#include "live/verdict/near_misses.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "live/verdict/phrases.h"
#include "mpi/meaning.h"

namespace fathom::live {
namespace {

// How far a message is from what the receive asks for; 0: it is no near miss.
int distance(const UnmatchedMessages& message, std::int32_t receiver, const Pending& receive) {
  const bool tag = receive.tag == kAnyone || receive.tag == message.tag;
  const bool communicator = receive.communicator == message.communicator;
  if (message.to == receiver && communicator && !tag) return 1;
  if (message.to == receiver && !communicator && tag) return 2;
  if (message.to != receiver && communicator && tag && receive.tag != kAnyone) return 3;
  if (message.to == receiver && !communicator) return 4;
  return 0;
}

// Messages that wait for a receiver: counted ones, and those of blocking sends, which are counted when they return.
std::vector<UnmatchedMessages> sent_in_vain(const JobView& view, std::int32_t sender) {
  std::vector<UnmatchedMessages> found = view.unmatched_from(sender);
  const RankState* state = view.rank(sender);
  if (state == nullptr) return found;
  for (const ThreadState& thread : state->threads) {
    if (mpi::meaning_of(thread.function).group != mpi::Group::kSend) continue;
    for (const Pending& pending : thread.pending) {
      if (pending.kind != RequestKind::kReceive && pending.peer >= 0)
        found.push_back({sender, pending.peer, pending.communicator, pending.tag, 1});
    }
  }
  return found;
}

std::string described(const JobView& view, const UnmatchedMessages& message, const Pending& receive,
                      int distance) {
  const std::string communicator = view.name_of_communicator(message.communicator);
  std::string how = fmt::format("with tag {}", message.tag);
  if (distance == 2) how = "on " + communicator;
  if (distance == 4) how += " on " + communicator;
  if (distance == 3) how += fmt::format(" to rank {}", message.to);
  std::string text =
      fmt::format("rank {} has sent {} {} {} instead, which {} not been received", message.from,
                  spelled_count(message.count), message.count == 1 ? "message" : "messages", how,
                  message.count == 1 ? "has" : "have");
  if (distance != 3 && distance != 1)
    text += ", where the receive is on " + view.name_of_communicator(receive.communicator);
  return text;
}

}  // namespace

std::optional<NearMiss> near_miss(const JobView& view, std::int32_t receiver,
                                  const Pending& receive) {
  std::vector<std::int32_t> senders = {receive.peer};
  if (receive.peer == kAnyone) {
    const Communicator* members = view.communicator(receive.communicator);
    if (members == nullptr) return std::nullopt;
    senders = members->remote.empty() ? members->members : members->remote;
  }
  std::optional<NearMiss> best;
  int least = 5;
  for (const std::int32_t sender : senders) {
    for (const UnmatchedMessages& message : sent_in_vain(view, sender)) {
      const int far = distance(message, receiver, receive);
      if (far == 0 || far >= least) continue;
      least = far;
      best = NearMiss{message, described(view, message, receive, far)};
    }
  }
  return best;
}

}  // namespace fathom::live
