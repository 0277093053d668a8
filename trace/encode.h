// SPDX-License-Identifier: BSD-3-Clause
// Encodes an Event as a record (format/format.h): the reverse of decode.h. Numbers are those of the
// Definitions, except for communicators, which are positions in the process's own section.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/communicator_rows.h"
#include "trace/definitions.h"
#include "trace/event.h"

namespace fathom::trace {

class Encoder {
 public:
  // Both arguments must outlive the encoder.
  Encoder(const Definitions& definitions, const std::vector<ProcessCommunicators>& communicators);

  // The record without its time (0 in the head), at most 1 + kMaxWords words. Empty if the event
  // refers to something that is not defined.
  const std::vector<std::uint64_t>& encode(std::size_t process, const Event& event);

 private:
  void call(const Event& event, bool enters);
  void message(const Event& event, RecordKind kind);
  void begin(RecordKind kind, std::uint32_t small);
  void finish();
  std::uint32_t narrow_value(Attribute attribute, const Event& event);
  static std::uint64_t wide_value(Attribute attribute, const Event& event);
  std::uint32_t position(std::int32_t communicator) const;
  std::uint32_t comm_rank(std::int32_t communicator, std::int32_t world_rank,
                          std::int32_t comm_rank);
  const std::unordered_map<std::int32_t, std::uint32_t>& ranks_in(std::int32_t communicator,
                                                                  bool remote);

  const Definitions& definitions_;
  const std::vector<ProcessCommunicators>& communicators_;
  std::size_t process_ = 0;
  std::uint64_t head_ = 0;
  std::vector<std::uint64_t> record_;
  // World rank -> rank in the group, by communicator and group; made on first use.
  std::unordered_map<std::int64_t, std::unordered_map<std::int32_t, std::uint32_t>> ranks_;
};

}  // namespace fathom::trace
