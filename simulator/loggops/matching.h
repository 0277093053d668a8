// SPDX-License-Identifier: BSD-3-Clause
// Decides which receive gets which message, by MPI's rules (MPI 4.0, section 3.5): messages of one
// sender and communicator in the order they were sent, receives in the order they were posted.
//
// Posted receives and unexpected messages wait in queues by channel, so each finds its match
// without a search, however many are waiting. A message looks at the queues of up to four channels.
// The wildcard ones (any source, any tag, both) exist only if the program has such receives. An
// unexpected message waits in each of these queues; once taken, the others skip it.
//
// Messages and receives are identified by their operations; each arrives or is posted once.
// Threading: one thread at a time. Memory: 8 bytes per operation, 16 per channel, and 8 for each
// wildcard queue in which an unexpected message waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/loggops/program.h"

namespace fathom::simulator {

class Matching {
 public:
  explicit Matching(const Program& program);

  // Returns the first posted receive that matches this message. Without one, keeps the message and
  // returns kNoOperation.
  OperationId arrive(OperationId send);
  // Returns the first kept message that matches this receive. Without one, keeps the receive and
  // returns kNoOperation.
  OperationId post(OperationId receive);

  std::size_t unexpected() const { return unexpected_; }  // messages kept

 private:
  // Kinds of channels, as bits: 0 specific source and tag, 1 any source, 2 any tag, 3 both.
  static constexpr std::uint32_t kKinds = 4;

  struct Queue {
    std::uint32_t first = kNoOperation;
    std::uint32_t last = kNoOperation;
  };
  struct Cell {  // in a queue of unexpected messages on a wildcard channel
    OperationId send;
    std::uint32_t next;
  };

  std::array<std::uint32_t, kKinds> channels_of(OperationId send) const;
  void append(Queue& queue, OperationId operation);
  void keep(OperationId send, const std::array<std::uint32_t, kKinds>& channels);
  OperationId first_unexpected(std::uint32_t channel, bool wildcard);

  const Program& program_;
  std::vector<std::uint8_t> kinds_;  // by rank: a bit for each kind of channel it receives from
  std::vector<Queue> posted_, unexpected_in_;  // by channel
  std::vector<std::uint32_t> next_;            // by operation: the next one in its queue
  std::vector<std::uint32_t> order_;  // by operation: order of posting; kKept or kTaken for a
                                      // message
  std::vector<Cell> cells_;
  std::uint32_t posted_count_ = 0;
  std::size_t unexpected_ = 0;
};

}  // namespace fathom::simulator
