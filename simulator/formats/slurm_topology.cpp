// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/slurm_topology.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <unordered_map>

#include "base/text_lines.h"

namespace fathom::simulator {
namespace {

constexpr std::size_t kMostNames = 1 << 24;

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

// "07" or "1-3" as numbers with their leading zeros. False if it is neither.
bool append_range(const std::string& range, std::vector<std::string>& numbers) {
  const std::size_t dash = range.find('-');
  const std::string first = range.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
  std::size_t low = 0, high = 0;
  const auto parse = [](const std::string& text, std::size_t& number) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size();
  };
  if (!parse(first, low) || !parse(last, high) || high < low || high - low >= kMostNames)
    return false;
  for (std::size_t number = low; number <= high; ++number) {
    const std::string digits = std::to_string(number);
    numbers.push_back(std::string(first.size() - std::min(first.size(), digits.size()), '0') +
                      digits);
  }
  return true;
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
      if (!append_range(range, numbers))
        return base::Error{"'" + range + "' is not a range of numbers"};
    }
    if (made.size() * numbers.size() > kMostNames)
      return base::Error{"more names than can be simulated"};
    std::vector<std::string> longer;
    for (const std::string& name : made) {
      for (const std::string& number : numbers) longer.push_back(name + number);
    }
    made.swap(longer);
    at = end + 1;
  }
  names.insert(names.end(), made.begin(), made.end());
  return base::Done{};
}

struct SwitchLine {
  std::size_t line = 0;
  std::string name;
  std::vector<std::string> switches, nodes;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  return text;
}

class SlurmReader {
 public:
  SlurmReader(const std::string& path, const ClusterDefaults& defaults)
      : path_(path), defaults_(defaults), builder_(path) {}

  base::Result<Network> read() {
    const auto parsed =
        base::for_each_line(path_, [this](const std::string& line, std::size_t number) {
          return parse_line(line.substr(0, line.find('#')), number);
        });
    if (!parsed) return parsed.error();
    if (switches_.empty()) return base::Error{path_ + ": has no line with SwitchName="};
    for (const SwitchLine& line : switches_) {
      if (auto status = add_children(line); !status) return status.error();
    }
    if (auto status = check_tree(); !status) return status.error();
    return builder_.build_from(path_);
  }

 private:
  base::Error error(std::size_t line, const std::string& what) const {
    return base::line_error(path_, line, what);
  }

  base::Status parse_line(const std::string& line, std::size_t number) {
    SwitchLine parsed{number, {}, {}, {}};
    std::string rest = line;
    std::replace(rest.begin(), rest.end(), '\t', ' ');
    for (const std::string& word : base::split(rest, ' ')) {
      if (word.empty()) continue;
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos)
        return error(number, "'" + word + "' is not of the form Key=value");
      const std::string key = lower(word.substr(0, equals)), value = word.substr(equals + 1);
      if (key == "switchname") {
        parsed.name = value;
      } else if (key == "switches" || key == "nodes") {
        const auto names = expand_host_list(value);
        if (!names) return error(number, "'" + value + "': " + names.error().message);
        (key == "nodes" ? parsed.nodes : parsed.switches) = *names;
      } else if (key != "linkspeed") {
        return error(number, "'" + word.substr(0, equals) +
                                 "' is unknown; only topology/tree files can be read");
      }
    }
    if (base::trimmed(line).empty()) return base::Done{};
    if (parsed.name.empty()) return error(number, "the line names no switch");
    if (!numbers_.emplace(parsed.name, builder_.add_switch(parsed.name)).second) {
      return error(number, "switch '" + parsed.name + "' is defined twice");
    }
    switches_.push_back(std::move(parsed));
    return base::Done{};
  }

  base::Status add_children(const SwitchLine& line) {
    const std::uint32_t parent = numbers_.at(line.name);
    for (const std::string& name : line.switches) {
      const auto child = numbers_.find(name);
      if (child == numbers_.end() || hosts_.contains(name)) {
        return error(line.line, "there is no switch '" + name + "'");
      }
      if (child->second == parent)
        return error(line.line, "switch '" + name + "' is its own child");
      builder_.add_cable(child->second, parent, defaults_.capacity_Bps, defaults_.latency_s);
    }
    for (const std::string& name : line.nodes) {
      if (numbers_.contains(name))
        return error(line.line, "'" + name + "' is a switch, not a node");
      auto [host, is_new] = hosts_.try_emplace(name, 0);
      if (is_new) host->second = builder_.add_host(name, defaults_.slots);
      builder_.add_cable(host->second, parent, defaults_.capacity_Bps, defaults_.latency_s);
    }
    return base::Done{};
  }

  // Repeatedly removes switches whose children are all removed. What remains is part of a cycle or
  // above one. Without this check, a mistake in a name would give a network that is no tree.
  base::Status check_tree() const {
    std::unordered_map<std::string, std::vector<std::string>> parents;
    std::unordered_map<std::string, std::size_t> open;  // children not yet removed
    std::vector<std::string> ready;
    for (const SwitchLine& line : switches_) {
      for (const std::string& child : line.switches) parents[child].push_back(line.name);
      open[line.name] = line.switches.size();
      if (line.switches.empty()) ready.push_back(line.name);
    }
    while (!ready.empty()) {
      const std::string name = ready.back();
      ready.pop_back();
      open.erase(name);
      for (const std::string& parent : parents[name]) {
        if (--open[parent] == 0) ready.push_back(parent);
      }
    }
    for (const SwitchLine& line : switches_) {
      if (open.contains(line.name))
        return error(line.line,
                     "switch '" + line.name + "' is part of a cycle of switches, or above one");
    }
    return base::Done{};
  }

  const std::string path_;
  const ClusterDefaults defaults_;
  NetworkBuilder builder_;
  std::vector<SwitchLine> switches_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of switches
  std::unordered_map<std::string, std::uint32_t> hosts_;
};

}  // namespace

base::Result<std::vector<std::string>> expand_host_list(std::string_view list) {
  std::vector<std::string> names;
  for (const std::string& part : split_list(list)) {
    if (part.empty()) return base::Error{"an empty name"};
    if (auto status = expand_part(part, names); !status) return status.error();
  }
  return names;
}

base::Result<Network> read_slurm_topology(const std::string& path,
                                          const ClusterDefaults& defaults) {
  return SlurmReader(path, defaults).read();
}

}  // namespace fathom::simulator
