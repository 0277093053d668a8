// SPDX-License-Identifier: BSD-3-Clause
#include "trace/process_definitions.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "profile/rows_reader.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kMostThreads = 1 << 16;

// "NUMBER REST".
struct Numbered {
  std::uint32_t number = 0;
  std::string rest;
  bool good = false;
};

Numbered numbered(const std::string& value) {
  Numbered result;
  std::istringstream words(value);
  result.good = static_cast<bool>(words >> result.number);
  std::getline(words >> std::ws, result.rest);
  return result;
}

std::optional<CodeSegment> parse_code(const std::string& value) {
  CodeSegment segment;
  std::istringstream words(value);
  words >> std::hex >> segment.base >> segment.size >> segment.offset >> segment.build_id;
  if (!words) return std::nullopt;
  std::getline(words >> std::ws, segment.path);
  if (segment.build_id == "-") segment.build_id.clear();
  return segment;
}

std::int32_t small_number(const std::string& value) {
  return static_cast<std::int32_t>(std::strtol(value.c_str(), nullptr, 10));
}

class Lines {
 public:
  explicit Lines(ProcessDefinitions& definitions) : to_(definitions) {}

  void take(const std::string& key, const std::string& value) {
    if (key == "function") {
      if (auto function = parse_function(value)) {
        to_.functions[function->number] = std::move(function->function);
      }
    } else if (key == "class") {
      take_class(value);
    } else if (key == "phase") {
      if (const Numbered phase = numbered(value); phase.good) to_.phases[phase.number] = phase.rest;
    } else if (key == "thread") {
      take_thread(value);
    } else if (key == "code") {
      take_code(value);
    } else if (key == "site") {
      take_site(value);
    } else if (key == "executable") {
      to_.application.executable = value;
      to_.application.arguments.clear();
    } else if (key == "argument") {
      to_.application.arguments.push_back(value);
    } else if (key == "epoch") {
      to_.epoch_unix_ns = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "lost" || key == "lost-records") {  // lost-records: by the first Fathom
      to_.process.lost_records = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "dropped") {
      to_.process.dropped_records = std::strtoull(value.c_str(), nullptr, 10);
    } else if (key == "opening") {
      to_.opening_exact = value == "exact";
    } else if (key == "open-phase") {
      take_open_phase(value);
    } else {
      take_fact(key, value);
    }
  }

 private:
  void take_class(const std::string& value) {
    std::istringstream words(value);
    std::uint32_t number = 0;
    int hidden = 0;
    std::string name;
    if (words >> number >> hidden && std::getline(words >> std::ws, name)) {
      to_.classes[number] = {name, hidden != 0};
    }
  }

  void take_thread(const std::string& value) {
    const Numbered thread = numbered(value);
    if (!thread.good || thread.number >= kMostThreads) return;
    auto& threads = to_.process.threads;
    if (threads.size() <= thread.number) threads.resize(thread.number + 1);
    threads[thread.number] = thread.rest;
  }

  void take_open_phase(const std::string& value) {
    std::istringstream words(value);
    std::uint32_t thread = 0, phase = 0;
    if (words >> thread >> phase) to_.open_phases[thread].push_back(phase);
  }

  void take_code(const std::string& value) {
    auto segment = parse_code(value);
    if (!segment) return;
    for (CodeSegment& known : to_.process.code) {
      if (known.base == segment->base) {
        known = *segment;
        return;
      }
    }
    to_.process.code.push_back(std::move(*segment));
  }

  // "4011f6 120 solver.c<tab>solve"
  void take_site(const std::string& value) {
    std::istringstream words(value);
    std::uint64_t address = 0;
    NamedSite site;
    if (!(words >> std::hex >> address >> std::dec >> site.line) || words.get() != ' ' ||
        !std::getline(words, site.file, '\t'))
      return;
    std::getline(words, site.function);
    to_.process.sites[address] = std::move(site);
  }

  void take_fact(const std::string& key, const std::string& value) {
    if (key == "host") to_.process.host = value;
    if (key == "affinity") to_.process.affinity = value;
    if (key == "socket") to_.process.socket = small_number(value);
    if (key == "numa") to_.process.numa_node = small_number(value);
    if (key == "clock") to_.process.clock.kind = value;
    if (key == "own-clock") {
      ClockSummary& clock = to_.process.clock;
      clock.own = true;
      clock.bounded = value != "unbounded";
      clock.uncertainty_ns = clock.bounded ? std::strtoull(value.c_str(), nullptr, 10) : 0;
    }
    if (key == "level") to_.level = value;
    if (key == "source") to_.source = value;
    if (key == "selection") choose(value);
    if (key == "sample") choose("sample " + value);
    if (key == "chosen-communicators") to_.chosen_communicators.push_back(value);
  }

  // Several frames of a process may repeat a line.
  void choose(const std::string& what) {
    auto& known = to_.selection;
    if (std::find(known.begin(), known.end(), what) == known.end()) known.push_back(what);
  }

  ProcessDefinitions& to_;
};

template <typename Bytes, typename Row>
void add_rows(const Bytes& bytes, std::vector<Row>& rows) {
  for (std::size_t at = 0; bytes.size() - at >= sizeof(Row); at += sizeof(Row))
    std::memcpy(&rows.emplace_back(), bytes.data() + at, sizeof(Row));
}

// A row with a known key replaces the earlier one in its place, because records refer to positions.
// Returns the position of each row of the frame.
std::vector<std::uint32_t> add_communicators(const std::vector<profile::CommunicatorRow>& rows,
                                             std::vector<profile::CommunicatorRow>& known) {
  std::map<std::uint64_t, std::uint32_t> places;
  for (std::uint32_t i = 0; i < known.size(); ++i) places.emplace(known[i].key, i);
  std::vector<std::uint32_t> positions;
  for (const profile::CommunicatorRow& row : rows) {
    const auto [place, is_new] = places.emplace(row.key, static_cast<std::uint32_t>(known.size()));
    if (is_new) {
      known.push_back(row);
    } else {
      known[place->second] = row;
    }
    positions.push_back(place->second);
  }
  return positions;
}

}  // namespace

void ProcessDefinitions::add(const char* payload, std::size_t size) {
  profile::RowsReader reader(payload, size);
  for (profile::ProcessRows rows; reader.next(rows);) {
    if (rows.header.world_size > (1u << profile::kPeerBits)) continue;  // damaged: no such world
    header = rows.header;
    Lines lines(*this);
    for (const auto& [key, value] : rows.text) lines.take(key, value);
    const std::vector<std::uint32_t> positions =
        add_communicators(rows.communicators, communicators);
    for (profile::ForeignMemberRow member : rows.foreign_members) {
      if (member.communicator < positions.size())
        member.communicator = positions[member.communicator];
      foreign_members.push_back(member);
    }
    for (const auto& [kind, bytes] : rows.others) {
      if (kind == kClockSection) add_rows(bytes, moments);
      if (kind == kOpeningChannelSection) add_rows(bytes, opening_channels);
      if (kind == kOpeningSequenceSection) add_rows(bytes, opening_sequences);
      if (kind == kOpeningHeldSection) add_rows(bytes, opening_held);
    }
  }
}

}  // namespace fathom::trace
