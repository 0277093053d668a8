// SPDX-License-Identifier: BSD-3-Clause
// Where the traces of flight recorders begin: what was sent and received before, on each channel
// (Opening in trace/definitions.h). A process that was recorded from the start, or whose beginning
// is a loss, has nothing before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "trace/definitions.h"
#include "trace/join/channels.h"

namespace fathom::trace {

// `channels_of(process)`: those of a receiving process, or null if another one joins them.
template <typename ChannelsOf>
void open_channels(const Definitions& definitions, ChannelsOf&& channels_of) {
  struct Ends {
    std::uint64_t sent = 0, received = 0;
  };
  struct Hash {
    std::uint64_t operator()(const Channels::Key& key) const {
      return base::mixed(static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32 ^
                         static_cast<std::uint32_t>(key.tag) * 0x9e3779b97f4a7c15u ^
                         static_cast<std::uint32_t>(key.communicator));
    }
  };
  const auto& processes = definitions.processes;
  const auto is_known = [](const Process& process) {
    return process.opening || process.dropped_records.value_or(0) == 0;
  };
  base::FlatMap<std::uint64_t, std::uint32_t> process_of_rank;
  for (std::uint32_t i = 0; i < processes.size(); ++i)
    process_of_rank[static_cast<std::uint64_t>(processes[i].rank)] = i;
  std::vector<base::FlatMap<Channels::Key, Ends, Hash>> all(processes.size());
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    if (!processes[i].opening) continue;
    for (const Opening::Channel& channel : processes[i].opening->channels) {
      all[i][{channel.communicator, channel.peer, channel.tag}].received += channel.received;
      const std::uint32_t* to = process_of_rank.find(static_cast<std::uint64_t>(channel.peer));
      if (channel.peer < 0 || to == nullptr) continue;
      all[*to][{channel.communicator, static_cast<std::int32_t>(processes[i].rank), channel.tag}]
          .sent += channel.sent;
    }
  }
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    Channels* const own = channels_of(i);
    if (own == nullptr) continue;
    if (processes[i].opening) {
      const auto& held = processes[i].opening->held;
      own->begins_late(static_cast<std::uint64_t>(std::count_if(
          held.begin(), held.end(),
          [](const Opening::Held& each) { return each.state != HeldState::kProbed; })));
    }
    all[i].for_each([&](const Channels::Key& key, const Ends& ends) {
      const std::uint32_t* from = process_of_rank.find(static_cast<std::uint64_t>(key.source));
      if (key.source >= 0 && from != nullptr && is_known(processes[i]) &&
          is_known(processes[*from]))
        own->open(key, ends.sent, ends.received);
    });
  }
}

}  // namespace fathom::trace
