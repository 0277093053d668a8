// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's communicators, groups and processes as byte arrays: only what Fathom reads of them, at
// the offsets of the layout in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankmap/communicator_view.h"

namespace fathom::test {

class FakeObject {
 public:
  template <typename T>
  void set(std::ptrdiff_t offset, T value) {
    std::memcpy(bytes_ + offset, &value, sizeof value);
  }
  void set_text(std::ptrdiff_t offset, std::string_view text) {
    std::memcpy(bytes_ + offset, text.data(), text.size());
  }
  const void* address() const { return bytes_; }

 private:
  alignas(16) char bytes_[1024] = {};
};

// The processes of any number of worlds; one object each, as in the library.
inline const void* fake_process(rankmap::Identity who) {
  static std::map<std::pair<std::uint32_t, std::uint32_t>, std::unique_ptr<FakeObject>> known;
  auto& process = known[{who.job, who.rank}];
  if (process == nullptr) {
    process = std::make_unique<FakeObject>();
    process->set(openmpi::kProcJob, who.job);
    process->set(openmpi::kProcRank, who.rank);
  }
  return process->address();
}

// One not contacted yet (ompi_proc_sentinel_to_name): bit 0 set, 1-15 local job, 16-31 job family,
// 32-63 rank.
inline const void* fake_sentinel(rankmap::Identity who) {
  const std::uint64_t family = who.job >> 16;
  const std::uint64_t local_job = who.job & 0x7fff;
  const std::uint64_t bits = std::uint64_t{who.rank} << 32 | family << 16 | local_job << 1 | 1;
  return reinterpret_cast<const void*>(bits);
}

class FakeGroup {
 public:
  explicit FakeGroup(const std::vector<rankmap::Identity>& members) {
    for (const rankmap::Identity who : members) processes_.push_back(fake_process(who));
    publish(openmpi::kGroupFlagDense);
  }
  // As given, sentinels among them.
  explicit FakeGroup(std::vector<const void*> processes) : processes_(std::move(processes)) {
    publish(openmpi::kGroupFlagDense);
  }
  enum Sparse { kSparse };  // its members follow from those of its parent
  FakeGroup(const FakeGroup& parent, Sparse) {
    publish(0);
    object_.set(openmpi::kGroupParent, parent.address());
  }
  FakeGroup(const FakeGroup&) = delete;
  FakeGroup& operator=(const FakeGroup&) = delete;

  const void* address() const { return object_.address(); }

 private:
  void publish(std::uint32_t flags) {
    object_.set(openmpi::kGroupSize, static_cast<int>(processes_.size()));
    object_.set(openmpi::kGroupFlags, flags);
    object_.set(openmpi::kGroupProcs, processes_.data());
  }

  std::vector<const void*> processes_;
  FakeObject object_;
};

class FakeCommunicator {
 public:
  FakeCommunicator(const FakeGroup& group, int my_rank)
      : FakeCommunicator(group, group, my_rank, 0) {}
  FakeCommunicator(const FakeGroup& local, const FakeGroup& remote, int my_rank)
      : FakeCommunicator(local, remote, my_rank, openmpi::kCommFlagInter) {}

  void name(std::string_view text) {
    flags_ |= openmpi::kCommFlagNamed;
    object_.set(layout().comm_flags, flags_);
    default_name(text);
  }
  // What Open MPI itself writes there, for debuggers.
  void default_name(std::string_view text) {
    if (layout().comm_name_inside > 0) return object_.set_text(layout().comm_name, text);
    outside_ = text;
    object_.set(layout().comm_name, outside_.c_str());
  }
  void index(std::uint32_t index) { object_.set(layout().comm_index, index); }
  const void* address() const { return object_.address(); }

 private:
  FakeCommunicator(const FakeGroup& local, const FakeGroup& remote, int my_rank,
                   std::uint32_t flags)
      : flags_(flags) {
    object_.set(layout().comm_local_group, local.address());
    object_.set(layout().comm_remote_group, remote.address());
    object_.set(layout().comm_my_rank, my_rank);
    object_.set(layout().comm_flags, flags);
  }

  static const openmpi::Layout& layout() { return openmpi::layout(); }

  std::uint32_t flags_;
  std::string outside_;  // the name, where the communicator holds a pointer
  FakeObject object_;
};

// Ranks 0 .. size-1 of one world.
inline std::vector<rankmap::Identity> fake_world(std::uint32_t job, std::uint32_t size) {
  std::vector<rankmap::Identity> members;
  for (std::uint32_t i = 0; i < size; ++i) members.push_back({job, i});
  return members;
}

}  // namespace fathom::test
