// SPDX-License-Identifier: BSD-3-Clause
// Which receive gets which message, by MPI's rules (MPI 4.0, section 3.5): messages of one sender
// and communicator in the order in which they were sent, receives in the order in which they were
// posted.
//
// Posted receives and unexpected messages wait in queues by channel, so that both find each other
// without a search, however many are waiting. A message looks at the queues of up to four channels,
// of which the wildcard ones (any source, any tag, both) exist only where the program has such
// receives; an unexpected message waits in as many queues, and is skipped in the others once it is
// taken.
//
// Messages and receives are known by their operations; each arrives, or is posted, once.
// Threading: one thread at a time. Memory: 8 bytes per operation, 16 per channel, and 8 per queue
// that an unexpected message for a rank with wildcards waits in.
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

  // The receive that was posted for this message, first of all that match, or kNoOperation: then
  // the message is kept.
  OperationId arrive(OperationId send);
  // The message that this receive gets, first of all that match, or kNoOperation: then the receive
  // is kept.
  OperationId post(OperationId receive);

  std::size_t unexpected() const { return unexpected_; }  // messages that are kept

 private:
  // Kinds of channels, as bits: 0 names source and tag, 1 any source, 2 any tag, 3 both.
  static constexpr std::uint32_t kKinds = 4;

  struct Queue {
    std::uint32_t first = kNoOperation;
    std::uint32_t last = kNoOperation;
  };
  struct Cell {  // of a queue of unexpected messages on a wildcard channel
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
  std::vector<std::uint32_t> next_;            // by operation: behind it in its queue
  std::vector<std::uint32_t> order_;  // by operation: of posting; a message that is kept: kKept
  std::vector<Cell> cells_;
  std::uint32_t posted_count_ = 0;
  std::size_t unexpected_ = 0;
};

}  // namespace fathom::simulator
