// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/slurm_tree.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/text_lines.h"

namespace fathom::simulator {
namespace {

// Splits at commas outside brackets.
std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char character : list) {
    depth += character == '[' ? 1 : character == ']' ? -1 : 0;
    if (character == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

base::Error too_many_names(double names) {
  char text[80];
  std::snprintf(text, sizeof text, "names %.15g nodes; at most %u can be simulated", names,
                kMostNodes);
  return {text};
}

// "07" or "1-3" as numbers with their leading zeros.
base::Status append_range(const std::string& range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string first = range.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
  std::size_t low = 0, high = 0;
  const auto parse = [](const std::string& text, std::size_t& number) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size();
  };
  if (!parse(first, low) || !parse(last, high) || high < low)
    return base::Error{"'" + range + "' is not a range of numbers"};
  const double all = static_cast<double>(high - low) + 1 + static_cast<double>(numbers.size());
  if (all > kMostNodes) return too_many_names(all);
  for (std::size_t number = low; number <= high; ++number) {
    const std::string digits = std::to_string(number);
    numbers.push_back(std::string(first.size() - std::min(first.size(), digits.size()), '0') +
                      digits);
  }
  return base::Done{};
}

// Expands one part of a list: text with any number of brackets, the last running fastest.
base::Status expand_part(const std::string& part, std::vector<std::string>& names) {
  std::vector<std::string> made = {""};
  for (std::size_t at = 0; at < part.size();) {
    if (part[at] == ']') return base::Error{"']' without '['"};
    if (part[at] != '[') {
      for (std::string& name : made) name += part[at];
      ++at;
      continue;
    }
    const std::size_t end = part.find(']', at);
    if (end == std::string::npos) return base::Error{"'[' without ']'"};
    std::vector<std::string> numbers;
    for (const std::string& range : base::split(part.substr(at + 1, end - at - 1), ',')) {
      if (auto status = append_range(range, numbers); !status) return status;
    }
    const double all = static_cast<double>(made.size()) * static_cast<double>(numbers.size());
    if (all > kMostNodes) return too_many_names(all);
    std::vector<std::string> longer;
    for (const std::string& name : made) {
      for (const std::string& number : numbers) longer.push_back(name + number);
    }
    made.swap(longer);
    at = end + 1;
  }
  const double all = static_cast<double>(names.size()) + static_cast<double>(made.size());
  if (all > kMostNodes) return too_many_names(all);
  names.insert(names.end(), made.begin(), made.end());
  return base::Done{};
}

}  // namespace

base::Error SlurmTree::error(std::size_t line, const std::string& what) const {
  return base::line_error(path_, line, what);
}

base::Status SlurmTree::add_named(const Switch& added) {
  if (!numbers_.emplace(added.name, builder_.add_switch(added.name)).second)
    return error(added.line, "switch '" + added.name + "' is defined twice");
  Child line{added.line, added.name, {}, {}};
  for (const auto& [list, names] :
       {std::pair{&added.switches, &line.switches}, std::pair{&added.nodes, &line.nodes}}) {
    if (list->empty()) continue;
    auto expanded = expand_host_list(*list);
    if (!expanded) return error(added.line, "'" + *list + "': " + expanded.error().message);
    named_ += expanded->size();
    if (named_ > kMostNodes)
      return error(added.line, "up to this line, the file " +
                                   too_many_names(static_cast<double>(named_)).message);
    *names = std::move(*expanded);
  }
  lines_.push_back(std::move(line));
  return base::Done{};
}

base::Status SlurmTree::add_switch(const Switch& added) {
  if (!blocks_.empty()) return error(added.line, "a file has either switches or blocks");
  return add_named(added);
}

base::Status SlurmTree::add_block(const Switch& block) {
  if (blocks_.size() != lines_.size())
    return error(block.line, "a file has either switches or blocks");
  blocks_.push_back(block.name);
  return add_named(block);
}

base::Status SlurmTree::add_children(const Child& line) {
  const std::uint32_t parent = numbers_.at(line.parent);
  for (const std::string& name : line.switches) {
    const auto child = numbers_.find(name);
    if (child == numbers_.end() || hosts_.contains(name))
      return error(line.line, "there is no switch '" + name + "'");
    if (child->second == parent) return error(line.line, "switch '" + name + "' is its own child");
    builder_.add_cable(child->second, parent, defaults_.capacity_Bps, defaults_.latency_s);
  }
  for (const std::string& name : line.nodes) {
    if (numbers_.contains(name)) return error(line.line, "'" + name + "' is a switch, not a node");
    auto [host, is_new] = hosts_.try_emplace(name, 0);
    if (is_new) host->second = builder_.add_host(name, defaults_.slots);
    builder_.add_cable(host->second, parent, defaults_.capacity_Bps, defaults_.latency_s);
  }
  return base::Done{};
}

// Repeatedly removes switches whose children are all removed. What remains is part of a cycle or
// above one. Without this check, a mistake in a name would give a network that is no tree.
base::Status SlurmTree::check_tree() const {
  std::unordered_map<std::string, std::vector<std::string>> parents;
  std::unordered_map<std::string, std::size_t> open;  // children not yet removed
  std::vector<std::string> ready;
  for (const Child& line : lines_) {
    for (const std::string& child : line.switches) parents[child].push_back(line.parent);
    open[line.parent] = line.switches.size();
    if (line.switches.empty()) ready.push_back(line.parent);
  }
  while (!ready.empty()) {
    const std::string name = ready.back();
    ready.pop_back();
    open.erase(name);
    for (const std::string& parent : parents[name]) {
      if (--open[parent] == 0) ready.push_back(parent);
    }
  }
  for (const Child& line : lines_) {
    if (open.contains(line.parent))
      return error(line.line,
                   "switch '" + line.parent + "' is part of a cycle of switches, or above one");
  }
  return base::Done{};
}

base::Status SlurmTree::join_blocks(const std::vector<std::uint32_t>& sizes, std::size_t line) {
  struct Block {
    std::string first, last;
    std::uint32_t number;
  };
  std::vector<Block> blocks;
  for (const std::string& name : blocks_) blocks.push_back({name, name, numbers_.at(name)});
  // `name`: of the switch above these; empty: after its first and last block.
  const auto join = [&](std::size_t count, const std::string& name) {
    std::vector<Block> larger;
    for (std::size_t at = 0; at < blocks.size(); at += count) {
      const std::size_t end = std::min(at + count, blocks.size());
      Block block{blocks[at].first, blocks[end - 1].last, blocks[at].number};
      if (end - at > 1) {
        block.number = builder_.add_switch(name.empty() ? block.first + "-" + block.last : name);
        for (std::size_t child = at; child < end; ++child)
          builder_.add_cable(blocks[child].number, block.number, defaults_.capacity_Bps,
                             defaults_.latency_s);
      }
      larger.push_back(std::move(block));
    }
    blocks = std::move(larger);
  };
  for (std::size_t level = 1; level < sizes.size(); ++level) {
    const std::uint32_t count = sizes[level] / std::max(sizes[level - 1], 1u);
    if (sizes[level] % std::max(sizes[level - 1], 1u) != 0 || (count & (count - 1)) != 0 ||
        count < 2) {
      return error(line, "block size " + std::to_string(sizes[level]) +
                             " is not 2, 4, 8, … times " + std::to_string(sizes[level - 1]));
    }
    if (blocks.size() > count) join(count, "");
  }
  join(std::max<std::size_t>(blocks.size(), 1), "blocks");
  return base::Done{};
}

base::Result<Network> SlurmTree::build(const std::vector<std::uint32_t>& block_sizes,
                                       std::size_t line) {
  for (const Child& child : lines_) {
    if (auto status = add_children(child); !status) return status.error();
  }
  if (auto status = check_tree(); !status) return status.error();
  if (auto status = join_blocks(block_sizes, line); !status) return status.error();
  return builder_.build_from(path_);
}

base::Result<std::vector<std::string>> expand_host_list(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string& part : split_list(list)) {
    if (part.empty()) return base::Error{"an empty name"};
    if (auto status = expand_part(part, names); !status) return status.error();
  }
  return names;
}

}  // namespace fathom::simulator
