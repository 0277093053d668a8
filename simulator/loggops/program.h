// SPDX-License-Identifier: BSD-3-Clause
// What each rank does, as a graph of operations (compute, send, receive) and the order between
// them.
//
// An operation starts when every operation before it has started or ended, as the dependency says:
//
//     operation  has started when                     has ended when
//     compute    it has got a processor of its rank   `amount` ns have passed since
//     send       its overhead o is over and the       its buffer may be reused (see replay.h)
//                network has the message
//     receive    it is posted, which takes no time    its message has arrived
//
// This represents MPI programs (Script below: one operation after the other; the next operation
// follows the start of a non-blocking one, and waits follow its end) and GOAL schedules
// (goal_reader.h: requires, irequires).
//
// Receives match messages by (source, tag, communicator), in MPI's order; kAnySource and kAnyTag
// match all (MPI 4.0, section 3.5). The triple is looked up when an operation is added, so the
// replay needs no hash table for messages that no wildcard can match.
//
// Memory: 32 bytes per operation, 12 per dependency beyond the first on the same operation, about
// 32 per distinct (receiver, source, tag, communicator).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fathom::simulator {

inline constexpr std::uint32_t kAnySource = 0xffffffff;
inline constexpr std::int32_t kAnyTag = -1;

using OperationId = std::uint32_t;
inline constexpr OperationId kNoOperation = 0xffffffff;

enum class OperationKind : std::uint8_t { kCompute, kSend, kReceive };
enum class When : std::uint8_t { kStarted, kEnded };

struct Operation {
  OperationKind kind = OperationKind::kCompute;
  std::uint8_t processor = 0;
  std::uint32_t rank = 0;
  std::uint32_t channel = 0;  // sends and receives
  double amount = 0;          // bytes, or nanoseconds to compute
};

// What a receive matches and a message carries: (receiving rank, source, tag, communicator).
struct Channel {
  std::uint32_t rank = 0;
  std::uint32_t source = 0;
  std::int32_t tag = 0;
  std::uint32_t communicator = 0;
  bool operator==(const Channel&) const = default;
};

// Numbers distinct channels in order of first use. Open addressing, at most half full.
class ChannelTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  std::uint32_t number(const Channel& channel);      // adds it if it is new
  std::uint32_t find(const Channel& channel) const;  // kNone if it is unknown
  const Channel& operator[](std::uint32_t number) const { return channels_[number]; }
  std::size_t size() const { return channels_.size(); }

 private:
  std::size_t slot_of(const Channel& channel) const;
  void grow();

  std::vector<Channel> channels_;
  std::vector<std::uint32_t> slots_;
};

class Program {
 public:
  explicit Program(std::uint32_t ranks) : ranks_(ranks) {}

  // Not checked: ranks below rank_count(), amounts >= 0.
  OperationId compute(std::uint32_t rank, double nanoseconds, std::uint8_t processor = 0);
  OperationId send(std::uint32_t rank, std::uint32_t to, double bytes, std::int32_t tag,
                   std::uint32_t communicator, std::uint8_t processor = 0);
  OperationId receive(std::uint32_t rank, std::uint32_t from, double bytes, std::int32_t tag,
                      std::uint32_t communicator, std::uint8_t processor = 0);

  // `after` does not start until `before`, on the same rank, has started or ended.
  void require(OperationId after, OperationId before, When when);

  std::uint32_t rank_count() const { return ranks_; }
  std::size_t size() const { return operations_.size(); }
  const Operation& operator[](OperationId operation) const { return operations_[operation]; }
  const ChannelTable& channels() const { return channels_; }

  struct Dependency {
    OperationId before, after;
    When when;
  };
  const std::vector<Dependency>& dependencies() const { return dependencies_; }
  // Most operations have exactly one that depends on them: the next. The first dependency on each
  // is here.
  struct Successor {
    OperationId operation = kNoOperation;
    When when = When::kEnded;
  };
  const Successor& successor(OperationId before) const { return successors_[before]; }

 private:
  OperationId add(const Operation& operation);

  std::uint32_t ranks_;
  std::vector<Operation> operations_;
  std::vector<Successor> successors_;     // by operation
  std::vector<Dependency> dependencies_;  // beyond the first on each operation
  ChannelTable channels_;
};

// One rank's operations in the order of an MPI program.
class Script {
 public:
  Script(Program& program, std::uint32_t rank) : program_(program), rank_(rank) {}

  void compute(double nanoseconds);
  void send(std::uint32_t to, double bytes, std::int32_t tag = 0, std::uint32_t communicator = 0);
  void receive(std::uint32_t from, double bytes, std::int32_t tag = 0,
               std::uint32_t communicator = 0);
  OperationId isend(std::uint32_t to, double bytes, std::int32_t tag = 0,
                    std::uint32_t communicator = 0);
  OperationId ireceive(std::uint32_t from, double bytes, std::int32_t tag = 0,
                       std::uint32_t communicator = 0);
  void wait(OperationId request) { wait_all({&request, 1}); }
  void wait_all(std::span<const OperationId> requests);

 private:
  OperationId follow(OperationId operation, When next_when);

  Program& program_;
  std::uint32_t rank_;
  OperationId last_ = kNoOperation;
  When next_when_ = When::kEnded;  // what the next operation waits for in last_
};

}  // namespace fathom::simulator
