// SPDX-License-Identifier: BSD-3-Clause
#include "view/pyramid/row_groups.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

namespace fathom::view {
namespace {

// One bin of a key: how much each key is among the members, which are few.
class KeySums {
 public:
  void clear() { sums_.clear(); }
  void add(std::uint64_t key, std::uint64_t weight) {
    const auto known = std::find_if(sums_.begin(), sums_.end(),
                                    [key](const auto& sum) { return sum.first == key; });
    if (known == sums_.end()) {
      sums_.emplace_back(key, weight);
    } else {
      known->second += weight;
    }
  }
  // The key and its sum; of equal ones, the first that was added. 0 if there is none.
  std::pair<std::uint64_t, std::uint64_t> largest() const {
    std::pair<std::uint64_t, std::uint64_t> found{0, 0};
    for (const auto& sum : sums_) {
      if (found.first == 0 || sum.second > found.second) found = sum;
    }
    return found;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sums_;
};

using Packed = LayerWriter::Packed;

// Chunks are combined one by one, as they are packed, so that little is unpacked at a time.
Packed combined_lines(const std::vector<Packed>& members, const Geometry& geometry,
                      std::span<const ColumnRule> rules) {
  Packed line;
  std::size_t chunk = 0;
  for (std::uint32_t level = 0; level < geometry.levels; ++level) {
    const std::uint64_t bins = geometry.bins(level);
    for (std::uint64_t begin = 0; begin < bins; begin += kBins, ++chunk) {
      std::vector<Columns> unpacked;
      unpacked.reserve(members.size());
      for (const Packed& member : members)
        unpacked.push_back(
            unpack_columns(member.chunks[chunk], rules.size(), std::min(kBins, bins - begin)));
      line.chunks.push_back(pack_columns(combined(unpacked, rules)));
    }
  }
  return line;
}

// What the threads of write_lines() share.
class LineWriter {
 public:
  LineWriter(LayerWriter& writer, const Geometry& geometry, std::span<const ColumnRule> rules,
             BuildState& state, const MakeLine& make)
      : writer_(writer),
        geometry_(geometry),
        rules_(rules),
        state_(state),
        make_(make),
        grouped_(geometry.depths() > 1),
        blocks_(grouped_ ? geometry.lines(1) : geometry.processes),
        groups_(grouped_ ? blocks_ : 0) {}

  // A thread makes all members of a group, and then the group.
  void work() {
    const std::uint64_t size = grouped_ ? kGroup : 1;
    for (std::uint64_t block = next_++; block < blocks_ && !state_.stop; block = next_++) {
      const std::uint64_t first = block * size;
      const std::uint64_t end = std::min<std::uint64_t>(first + size, geometry_.processes);
      std::vector<Packed> members;
      for (std::uint64_t process = first; process < end; ++process) {
        const auto levels = make_(static_cast<std::uint32_t>(process));
        if (!levels) return;
        members.push_back(writer_.pack(*levels));
        ++state_.done;
      }
      if (grouped_) groups_[block] = combined_lines(members, geometry_, rules_);
      const std::lock_guard lock(mutex_);
      for (std::size_t member = 0; member < members.size(); ++member)
        writer_.add(first + member, members[member]);
      if (grouped_) writer_.add(geometry_.first_line(1) + block, groups_[block]);
    }
  }

  // After the last group of processes: groups of groups.
  void finish() {
    for (std::uint32_t depth = 2; depth < geometry_.depths(); ++depth) {
      std::vector<Packed> lines(geometry_.lines(depth));
      for (std::size_t line = 0; line < lines.size(); ++line) {
        const auto first = groups_.begin() + static_cast<std::ptrdiff_t>(line * kGroup);
        const auto size = std::min<std::size_t>(kGroup, groups_.size() - line * kGroup);
        const std::vector<Packed> members(first, first + static_cast<std::ptrdiff_t>(size));
        lines[line] = combined_lines(members, geometry_, rules_);
        writer_.add(geometry_.first_line(depth) + line, lines[line]);
      }
      groups_ = std::move(lines);
    }
  }

 private:
  LayerWriter& writer_;
  const Geometry& geometry_;
  const std::span<const ColumnRule> rules_;
  BuildState& state_;
  const MakeLine& make_;
  const bool grouped_;
  const std::uint64_t blocks_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;            // of the writer's file
  std::vector<Packed> groups_;  // of the depth that was made last
};

}  // namespace

Columns combined(const std::vector<Columns>& members, std::span<const ColumnRule> rules) {
  std::size_t bins = 0;
  std::vector<const Columns*> present;
  for (const Columns& member : members) {
    if (member.empty()) continue;
    bins = std::max(bins, member.front().size());
    present.push_back(&member);
  }
  Columns line(rules.size(), std::vector<std::uint64_t>(bins));
  KeySums sums;
  for (std::size_t column = 0; column < rules.size(); ++column) {
    const ColumnRule& rule = rules[column];
    if (rule.kind == ColumnRule::kSum) {
      for (const Columns* member : present) {
        for (std::size_t bin = 0; bin < (*member)[column].size(); ++bin)
          line[column][bin] += (*member)[column][bin];
      }
    }
    if (rule.kind != ColumnRule::kKey) continue;
    const bool alike = rule.weight == ColumnRule::kAlike;
    for (std::size_t bin = 0; bin < bins; ++bin) {
      sums.clear();
      for (const Columns* member : present) {
        const std::uint64_t key = (*member)[column][bin];
        if (key != 0) sums.add(key, alike ? 1 : (*member)[rule.weight][bin]);
      }
      const auto [key, sum] = sums.largest();
      line[column][bin] = key;
      if (!alike && rules[rule.weight].kind == ColumnRule::kSumOfKey) line[rule.weight][bin] = sum;
    }
  }
  return line;
}

bool write_lines(LayerWriter& writer, const Geometry& geometry, std::span<const ColumnRule> rules,
                 unsigned threads, BuildState& state, const MakeLine& make) {
  LineWriter lines(writer, geometry, rules, state, make);
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < threads; ++i) workers.emplace_back([&lines] { lines.work(); });
  lines.work();
  for (std::thread& worker : workers) worker.join();
  if (state.stop) return false;
  lines.finish();
  return !state.stop;
}

}  // namespace fathom::view
