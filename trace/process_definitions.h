// SPDX-License-Identifier: BSD-3-Clause
// The content of one process's definitions frames (format/format.h), in its own numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/rows.h"
#include "trace/attributes.h"
#include "trace/definitions.h"
#include "trace/format/opening.h"

namespace fathom::trace {

struct ProcessDefinitions {
  std::optional<profile::RowsHeader>
      header;  // the last one; absent: there was no definitions frame
  std::map<std::uint32_t, Function> functions;
  std::map<std::uint32_t, std::pair<std::string, bool>> classes;  // name, hidden
  std::map<std::uint32_t, std::string> phases;
  std::vector<profile::CommunicatorRow> communicators;  // by position, as records name them
  std::vector<profile::ForeignMemberRow> foreign_members;
  std::vector<ClockRow> moments;
  Process process;  // host, affinity, threads, code and clock.kind
  profile::Application application;
  std::string level, source;
  std::vector<std::string> chosen_communicators, selection;
  bool opening_exact = false;  // the next four say all
  std::vector<OpeningChannelRow> opening_channels;
  std::vector<OpeningSequenceRow> opening_sequences;
  std::vector<OpeningHeldRow> opening_held;
  std::map<std::uint32_t, std::vector<std::uint32_t>> open_phases;  // by thread, outermost first
  std::optional<std::uint64_t> epoch_unix_ns;  // set by tools that kept another trace's time 0

  // Adds one frame's payload. Any bytes are safe: what makes no sense is left out.
  void add(const char* payload, std::size_t size);
};

}  // namespace fathom::trace
