// SPDX-License-Identifier: BSD-3-Clause
// Joins the messages sent to one process with their receives, in the order that MPI prescribes. It
// does not matter in which order sends and receives are reported.
//
// The join is exact because MPI orders matching (MPI 3.1, section 3.5). A channel is a communicator,
// a source and a tag. Its messages are matched in the order in which they were sent, and the
// receives that took from it, wildcard receives included, match in the order in which they were
// posted. So the n-th send belongs to the n-th posted of these receives. A receive is reported when
// its message arrives, which may be in another order. One that was posted later than a receive that
// may still take from the channel is therefore kept back until that one has its message. A message
// that MPI_Mprobe took was matched there (section 3.8.2), so its place in the order is the probe's.
//
// The result depends on the order of sends at each source and of receives here, not on which side
// is reported first, so an analysis gives the same result for any number of analysis processes.
//
// Losses. loss_at_source() and loss_here() cut the channels: sends before a loss here are joined
// only with receives before it, receives before a loss at the source only with sends before it. A
// message in flight across a cut may stay unmatched, or be joined wrongly until its channel is
// empty again; results say that records were lost.
// Cost: O(1) for a message that arrives in order, O(posted receives) for one that is kept back.
// Memory: the messages in flight and the receives that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "trace/event.h"

namespace fathom::trace {

// One end of a message.
struct ChannelEnd {
  std::uint64_t time_ns = 0;   // of a send: handed to the library; of a receive: arrived
  std::uint64_t begin_ns = 0;  // the sending call was entered; the receive was posted
  std::uint32_t process = 0;
  std::uint32_t step = 0;
};

struct JoinedEnds {
  ChannelEnd sent, received;
};

class Channels {
 public:
  struct Key {
    std::int32_t communicator = 0, source = 0, tag = 0;
    bool operator==(const Key&) const = default;
    // Whether a receive that was posted with this key may take a message of that one.
    bool covers(const Key& key) const {
      return communicator == key.communicator && (source == kAnySource || source == key.source) &&
             (tag == kAnyTag || tag == key.tag);
    }
  };
  // A receive of the program that waits for its message, or a probe that has taken one (MPI_Mprobe),
  // until the message is received.
  struct Posted {
    std::uint64_t order = 0;  // from 1; 0: nothing
    Key key;                  // source kAnySource, tag kAnyTag as posted
    bool wild() const { return key.source == kAnySource || key.tag == kAnyTag; }
  };

  // Joins found by the call are appended to `joined`.
  using Joined = std::vector<JoinedEnds>;

  void send(const Key& key, const ChannelEnd& end, Joined& joined);

  // A receive takes its place in the order of posting. withdraw() it if it was cancelled or freed.
  Posted post(const Key& key);
  void withdraw(const Posted& posted, Joined& joined);
  // A probe has taken its message, but nobody sees it received. If what it may have taken is one channel, that
  // message has no other receive; else nothing that waits for it is joined any longer.
  void never_received(const Posted& posted, Joined& joined);

  // `key`: where the message came from; `posted`: the receive that took it.
  void receive(const Key& key, const Posted& posted, const ChannelEnd& end, Joined& joined);
  // A receive of the library's own or of a blocking call: none posted later can match before it.
  // `by_request`: of a request that nobody saw posted. Where the trace began late, it was posted before
  // the trace, and so before every receive that is known.
  void receive_now(const Key& key, const ChannelEnd& end, Joined& joined, bool by_request = false);

  // Before anything else: how many of a channel's messages were sent, and how many received, before
  // the traces of the two processes began. As many ends at the other side have no partner.
  void open(const Key& key, std::uint64_t sent, std::uint64_t received);
  // The trace of the process that receives began late, when probes held messages for it: as many as the first
  // calls of post(). Other messages of the channel that it had received by then, or a receive that was posted
  // before the trace, too, may have come before or after them. Then such a message is not joined: it takes
  // the place of one of the next that were sent, nobody knows which.
  void begins_late(std::uint64_t held = 0) {
    begins_late_ = true;
    held_before_ = held;
  }

  void loss_at_source(std::int32_t source, std::uint64_t time_ns, Joined& joined);
  void loss_here(std::uint64_t time_ns, Joined& joined);

  struct Unmatched {
    std::uint64_t sends = 0, receives = 0;
  };
  Unmatched unmatched() const;  // final once every send and receive has been reported

 private:
  // Marks a cut in a queue of messages.
  static constexpr std::uint32_t kCutStep = ~std::uint32_t{0};
  // In the place of a receive that nobody has seen.
  static constexpr std::uint32_t kUnseenStep = kCutStep - 1;

  // First in, first out.
  class Queue {
   public:
    bool empty() const { return first_ == items_.size(); }
    std::size_t size() const { return items_.size() - first_; }
    const ChannelEnd& front() const { return items_[first_]; }
    void push(const ChannelEnd& end) { items_.push_back(end); }
    void pop();
    std::size_t messages() const;

   private:
    std::vector<ChannelEnd> items_;
    std::size_t first_ = 0;
  };
  struct KeptBack {
    std::uint64_t order = 0;
    ChannelEnd end;
  };
  struct Channel {
    Key key;
    Queue sends, receives;
    std::vector<std::uint64_t> posted;  // orders of receives that name this channel and wait
    std::vector<KeptBack> kept_back;    // by order
    // How many of the next ends at the other side belong to ends that came before the traces.
    std::uint64_t early_sends = 0, early_receives = 0;
    bool order_unknown = false;  // of what was matched before the trace
    bool idle() const {
      return sends.empty() && receives.empty() && posted.empty() && kept_back.empty() &&
             early_sends == 0 && early_receives == 0 && !order_unknown;
    }
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const {
      const auto high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32;
      return base::mixed((high | static_cast<std::uint32_t>(key.tag)) ^
                         static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.communicator)) *
                             0x9e3779b97f4a7c15u);
    }
  };

  Channel& channel(const Key& key);
  void sweep();
  void take(Channel& from, const ChannelEnd& end, Joined& joined);
  void take_unknown(Channel& from, Joined& joined);
  void join(Channel& channel, Joined& joined);
  bool may_come_before(const Channel& channel, std::uint64_t order) const;
  void release(Channel& channel, Joined& joined);
  void release_like(const Key& key, Joined& joined);
  void forget_posted(const Posted& posted);

  base::FlatMap<Key, std::uint32_t, KeyHash> numbers_;  // into channels_
  std::vector<Channel> channels_;
  std::size_t sweep_at_ = 1 << 12;
  std::vector<Posted> wild_;  // wildcard receives that wait, by order
  std::uint64_t last_order_ = 0, held_before_ = 0;
  bool begins_late_ = false;
  std::size_t kept_back_ = 0;                                               // in all channels
  base::FlatMap<std::uint64_t, std::vector<std::uint64_t>> source_losses_;  // source -> times
  std::vector<std::uint64_t> own_losses_;
  Unmatched cut_off_;
};

}  // namespace fathom::trace
