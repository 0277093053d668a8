// SPDX-License-Identifier: BSD-3-Clause
// Sums up the records that a flight recorder drops, so that what is left can be joined with what is
// left of other processes (trace/format/opening.h), and knows which phases are open.
//
// Memory is bounded: a program that uses more channels than kMostChannels, whose probes hold more than
// kMostHeld messages, or that lost records, has no exact opening, and readers then treat the beginning
// of the window as a loss.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "profiler/keeper/kept_memory.h"
#include "trace/format/opening.h"
#include "trace/process_definitions.h"

namespace fathom::profiler {

class BeforeWindow {
 public:
  static constexpr std::size_t kMostChannels = 1 << 16, kMostHeld = 1 << 16;

  // What the numbers in records mean; needed before the first take().
  void learn(const trace::ProcessDefinitions& definitions);
  bool has_learnt() const { return !functions_.empty(); }

  void take(const KeptChunk& dropped);

  std::uint64_t records() const { return records_; }
  bool exact() const { return exact_; }
  std::vector<trace::OpeningChannelRow> channels();
  std::vector<trace::OpeningSequenceRow> sequences() const;
  std::vector<trace::OpeningHeldRow> held() const;
  // By thread, outermost first.
  const std::map<std::uint32_t, std::vector<std::uint32_t>>& open_phases() const {
    return open_phases_;
  }

 private:
  struct Function {
    bool counts = false;    // a position in a sequence
    int communicator = -1;  // place among the 4-byte attributes of its enter; -1: the whole job
    // Of a probe that takes a message, in words: where its leave names it. Of a receive of such a message:
    // where its enter does. 0: not such a function.
    std::uint32_t takes = 0, receives = 0;
    int peer = -1, tag = -1;  // as communicator
  };
  struct Held {
    std::uint64_t order = 0;
    trace::OpeningHeldRow row{};
  };
  struct Key {
    std::uint64_t communicator_and_peer = 0;
    std::uint32_t tag = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::uint64_t operator()(const Key& key) const {
      return base::mixed(key.communicator_and_peer ^ key.tag * 0x9e3779b97f4a7c15u);
    }
  };
  struct Counts {
    std::uint64_t sent = 0, received = 0;
  };

  void message(const std::uint64_t* record, std::uint32_t message_class, bool receives);
  void received(const std::uint64_t* record, std::uint32_t thread);
  void entered(const std::uint64_t* record, std::uint32_t words, std::uint32_t thread,
               std::uint32_t function);
  void left(const std::uint64_t* record, std::uint32_t words, std::uint32_t thread,
            std::uint32_t function);
  void follow_held(const std::uint64_t* record, std::uint32_t words, std::uint32_t thread,
                   const Function& function);
  void phase_ended(std::uint32_t thread, std::uint32_t phase);

  std::vector<Function> functions_;  // by number
  std::vector<bool> has_own_tags_;   // by class
  base::FlatMap<Key, Counts, KeyHash> channels_;
  std::size_t channel_count_ = 0;
  std::map<std::uint32_t, std::uint64_t> sequences_;  // by communicator
  std::map<std::uint32_t, std::vector<std::uint32_t>> open_phases_;
  std::map<std::uint32_t, trace::OpeningHeldRow> open_probes_;  // by thread
  std::map<std::uint64_t, Held> held_;                          // by handle
  std::map<std::uint32_t, Held> open_receives_;                 // by thread
  std::uint64_t records_ = 0, held_so_far_ = 0;
  bool exact_ = true;
};

}  // namespace fathom::profiler
