// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/slurm_topology.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text_lines.h"
#include "simulator/formats/slurm_tree.h"

namespace fathom::simulator {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  return lower;
}

struct Setting {
  std::string key, value;  // the key in lower case
};

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Removes "Key = value" from the beginning of `rest`; the key is empty if it does not begin so.
Setting take_setting(std::string_view& rest) {
  const std::size_t equals = rest.find('=');
  const std::string_view key = base::trimmed(rest.substr(0, equals));
  if (equals == std::string_view::npos || key.empty() ||
      key.find_first_of(kBlanks) != std::string_view::npos)
    return {};
  rest.remove_prefix(equals + 1);
  skip_blanks(rest);
  const bool is_quoted = rest.starts_with('"');
  if (is_quoted) rest.remove_prefix(1);
  const std::size_t end =
      std::min(is_quoted ? rest.find('"') : rest.find_first_of(kBlanks), rest.size());
  Setting setting{in_lower_case(key), std::string(rest.substr(0, end))};
  rest.remove_prefix(std::min(end + (is_quoted ? 1 : 0), rest.size()));
  skip_blanks(rest);
  return setting;
}

class SlurmConfReader {
 public:
  SlurmConfReader(const std::string& path, const ClusterDefaults& defaults)
      : path_(path), tree_(path, defaults) {}

  base::Result<Network> read() {
    std::string whole;  // of a line that continues
    std::size_t first = 0;
    const auto parsed =
        base::for_each_line(path_, [&](const std::string& line, std::size_t number) {
          if (whole.empty()) first = number;
          whole += line.substr(0, line.find('#'));
          while (whole.ends_with(' ') || whole.ends_with('\t')) whole.pop_back();
          if (whole.ends_with('\\')) {
            whole.back() = ' ';
            return base::Status(base::Done{});
          }
          const std::string complete = std::exchange(whole, {});
          return parse_line(complete, first);
        });
    if (!parsed) return parsed.error();
    if (auto status = parse_line(whole, first); !status) return status.error();
    if (!any_) return base::Error{path_ + ": has no line with SwitchName= or BlockName="};
    return tree_.build(block_sizes_, block_sizes_line_);
  }

 private:
  base::Status parse_line(const std::string& line, std::size_t number) {
    std::string_view rest = base::trimmed(line);
    if (rest.empty()) return base::Done{};
    SlurmTree::Switch parsed{number, {}, {}, {}};
    bool is_block = false, is_sizes = false;
    while (!rest.empty()) {
      const std::string word(rest.substr(0, rest.find_first_of(kBlanks)));
      const Setting setting = take_setting(rest);
      if (setting.key.empty())
        return tree_.error(number, "'" + word + "' is not of the form Key=value");
      is_block = is_block || setting.key == "blockname";
      if (setting.key == "switchname" || setting.key == "blockname") {
        parsed.name = setting.value;
      } else if (setting.key == "switches") {
        parsed.switches = setting.value;
      } else if (setting.key == "nodes") {
        parsed.nodes = setting.value;
      } else if (setting.key == "blocksizes") {
        if (auto status = take_block_sizes(setting.value, number); !status) return status;
        is_sizes = true;
      } else if (setting.key != "linkspeed") {
        return tree_.error(number,
                           "'" + word.substr(0, word.find('=')) +
                               "' is unknown; topology/tree and topology/block can be read");
      }
    }
    if (parsed.name.empty()) {
      if (is_sizes && parsed.switches.empty() && parsed.nodes.empty()) return base::Done{};
      return tree_.error(number, "the line names no switch and no block");
    }
    any_ = true;
    if (is_block && !parsed.switches.empty())
      return tree_.error(number, "a block has nodes, no switches");
    return is_block ? tree_.add_block(parsed) : tree_.add_switch(parsed);
  }

  base::Status take_block_sizes(const std::string& text, std::size_t number) {
    block_sizes_.clear();
    block_sizes_line_ = number;
    for (const std::string& word : base::split(text, ',')) {
      std::uint32_t size = 0;
      const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), size);
      if (failed != std::errc() || end != word.data() + word.size() || size == 0)
        return tree_.error(number, "block size '" + word + "' is not a whole number above zero");
      block_sizes_.push_back(size);
    }
    return base::Done{};
  }

  const std::string path_;
  SlurmTree tree_;
  bool any_ = false;
  std::vector<std::uint32_t> block_sizes_;
  std::size_t block_sizes_line_ = 0;
};

}  // namespace

bool is_slurm_conf_line(std::string_view line) {
  const std::string key = take_setting(line).key;
  for (const char* known :
       {"switchname", "blockname", "blocksizes", "switches", "nodes", "linkspeed", "ringname"}) {
    if (key == known) return true;
  }
  return false;
}

base::Result<Network> read_slurm_conf(const std::string& path, const ClusterDefaults& defaults) {
  return SlurmConfReader(path, defaults).read();
}

}  // namespace fathom::simulator
