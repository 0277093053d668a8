// SPDX-License-Identifier: BSD-3-Clause
// Decodes one record of a process into an Event of the run: translates its numbers into those of
// the Definitions.
//
// Any words are safe to decode: attributes beyond the end of a short record keep their default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "trace/event.h"
#include "trace/format/format.h"

namespace fathom::trace {

// How to read the records of one process.
struct DecodeTables {
  static constexpr std::uint32_t kUnknown = ~0u;

  struct CallPlan {
    CallPlan() = default;
    explicit CallPlan(const std::vector<Attribute>& attributes);

    std::vector<Attribute> narrow, wide;  // of 4 and of 8 bytes in the payload, each in its order
    // The position in `narrow` of the communicator that peers are ranks in.
    std::uint32_t communicator = kUnknown;
  };
  struct FunctionPlan {
    std::uint32_t function = kUnknown;  // in the Definitions
    CallPlan enter, leave;
  };
  struct CommunicatorPlan {
    std::int32_t communicator = kNobody;
    bool per_process = false;
    std::shared_ptr<const std::vector<std::int32_t>> peers;  // world ranks by comm_rank; never null
  };

  std::int32_t own_rank = 0;
  double ns_per_tick = 1;
  std::vector<FunctionPlan> functions;  // by the process's number
  std::vector<CommunicatorPlan> communicators;
  std::vector<std::uint32_t> classes, phases;  // kUnknown where not defined
  // For a flight recorder, by thread: the phases that are open at its first record.
  std::map<std::uint32_t, std::vector<std::uint32_t>> open_phases;
};

// `record`: a whole record, head and payload. Writes everything except time and thread. False if it
// is not an event by itself (kTime, kValues), or if it refers to something that is not defined.
bool decode(const std::uint64_t* record, const DecodeTables& tables, Event& event);

inline RecordKind kind_of(std::uint64_t head) { return static_cast<RecordKind>(head & 0xff); }
inline std::uint32_t words_of(std::uint64_t head) { return head >> kWordsShift & kMaxWords; }
inline std::uint32_t small_of(std::uint64_t head) { return head >> kSmallShift & kMaxSmall; }
inline std::uint32_t ticks_of(std::uint64_t head) {
  return static_cast<std::uint32_t>(head >> kTimeShift);
}

}  // namespace fathom::trace
