// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/ibnetdiscover.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text_lines.h"

namespace fathom::simulator {
namespace {

// Bytes/s of one lane after encoding: 8b/10b up to QDR, 64b/66b from FDR10 on. InfiniBand Trade
// Association, roadmap rates: FDR 14.0625 Gb/s, EDR 25.78125 Gb/s, HDR 53.125, NDR 106.25 with
// PAM4.
struct Speed {
  const char* name;
  double lane_Bps;
};
constexpr Speed kSpeeds[] = {{"SDR", 2.5e9 * 8 / 10 / 8},
                             {"DDR", 5e9 * 8 / 10 / 8},
                             {"QDR", 10e9 * 8 / 10 / 8},
                             {"FDR10", 10.3125e9 * 64 / 66 / 8},
                             {"FDR", 14.0625e9 * 64 / 66 / 8},
                             {"EDR", 25.78125e9 * 64 / 66 / 8},
                             {"HDR", 50e9 / 8},
                             {"NDR", 100e9 / 8},
                             {"XDR", 200e9 / 8}};

// "4xEDR" as bytes/s; 0 if the word is not a speed.
double speed_of(const std::string& word) {
  int lanes = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), lanes);
  if (failed != std::errc() || lanes < 1 || *end != 'x') return 0;
  for (const Speed& speed : kSpeeds) {
    if (word.substr(static_cast<std::size_t>(end - word.data()) + 1) == speed.name) {
      return lanes * speed.lane_Bps;
    }
  }
  return 0;
}

// The text in the first pair of double quotes.
std::string quoted_in(const std::string& text) {
  const std::size_t open = text.find('"');
  if (open == std::string::npos) return "";
  const std::size_t close = text.find('"', open + 1);
  return close == std::string::npos ? "" : text.substr(open + 1, close - open - 1);
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

// What firmware calls a device until someone gives it a name: it tells the model, not the device.
bool is_model_name(const std::string& description) {
  return description.empty() || description.find("Mellanox Technologies") != std::string::npos ||
         description.find("NVIDIA Technologies") != std::string::npos;
}

// The host named in an adapter's description, "node01 HCA-1" or "node01 mlx5_0"; empty if there is
// none. QLogic's driver writes the host behind its own name.
std::string host_in(const std::string& description) {
  if (is_model_name(description)) return "";
  for (const char* driver : {"QLogic Infiniband HCA ", "Intel Infiniband HCA "}) {
    if (description.starts_with(driver)) return description.substr(description.rfind(' ') + 1);
  }
  const std::string word = first_word(description);
  return word.starts_with("localhost") || word == "(none)" ? "" : word;
}

// A switch's description without the prefix of managed switches: "MF0;leaf1:SX6036/U1".
std::string long_switch_name(const std::string& description) {
  if (is_model_name(description)) return "";
  return description.starts_with("MF0;") ? description.substr(4) : description;
}

// A managed switch's name before the colon; parts of one chassis have it in common.
std::string short_switch_name(const std::string& description) {
  const std::string name = long_switch_name(description);
  return description.starts_with("MF0;") ? name.substr(0, name.find(':')) : name;
}

struct LinkLine {
  std::size_t line = 0;
  std::string source, target;  // GUID names
  std::int32_t port = kNoPort;
  double capacity_Bps = 0;
};

// A Switch or a Ca, as the file describes it.
struct Described {
  std::string guid_name;     // "S-…" or "H-…"
  std::string system_image;  // GUID of the machine or card that it is part of; empty if unknown
  std::string description;
  bool is_switch = false;
};

// Which adapters are one host, as the head of ibnetdiscover.h says.
class Hosts {
 public:
  explicit Hosts(const std::vector<Described>& nodes) : nodes_(nodes) {
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      parent_.push_back(at);
      if (!nodes[at].is_switch) by_name_[host_in(nodes[at].description)].push_back(at);
    }
    for (const auto& [name, adapters] : by_name_) join(name, adapters);
    join_unnamed();
    name_hosts();
  }

  // The first adapter of the host to which this one belongs.
  std::size_t first_of(std::size_t adapter) const {
    while (parent_[adapter] != adapter) adapter = parent_[adapter];
    return adapter;
  }

  // The host's name if no other host has it; otherwise the GUID name of its first adapter.
  const std::string& name_of(std::size_t first) const {
    const auto named = names_.find(first);
    return named == names_.end() ? nodes_[first].guid_name : named->second;
  }

 private:
  void unite(std::size_t one, std::size_t other) {
    one = first_of(one), other = first_of(other);
    parent_[std::max(one, other)] = std::min(one, other);
  }

  void join(const std::string& name, const std::vector<std::size_t>& adapters) {
    std::map<std::string, std::size_t> cards, descriptions;  // the first adapter of each
    bool is_shared = name.empty();
    for (const std::size_t at : adapters) {
      const std::string& image = nodes_[at].system_image;
      if (!image.empty()) unite(cards.try_emplace(image, at).first->second, at);
    }
    for (const std::size_t at : adapters) {
      const auto [same, is_new] = descriptions.try_emplace(nodes_[at].description, at);
      is_shared = is_shared || (!is_new && first_of(same->second) != first_of(at));
    }
    for (const std::size_t at : adapters) {
      if (!is_shared) unite(adapters.front(), at);
    }
  }

  // An adapter without a name belongs to the host of its card, if that is one host.
  void join_unnamed() {
    std::map<std::string, std::set<std::size_t>> named;  // hosts by card
    for (const auto& [name, adapters] : by_name_) {
      for (const std::size_t at : adapters) {
        if (!name.empty()) named[nodes_[at].system_image].insert(first_of(at));
      }
    }
    for (const std::size_t at : by_name_[""]) {
      const auto card = named.find(nodes_[at].system_image);
      if (!nodes_[at].system_image.empty() && card != named.end() && card->second.size() == 1)
        unite(*card->second.begin(), at);
    }
  }

  void name_hosts() {
    for (const auto& [name, adapters] : by_name_) {
      std::set<std::size_t> hosts;
      for (const std::size_t at : adapters) hosts.insert(first_of(at));
      if (!name.empty() && hosts.size() == 1) names_[*hosts.begin()] = name;
    }
  }

  const std::vector<Described>& nodes_;
  std::vector<std::size_t> parent_;  // in the union-find forest; a root is its host's first adapter
  std::map<std::string, std::vector<std::size_t>> by_name_;  // adapters, "" without a name
  std::map<std::size_t, std::string> names_;  // of hosts that share theirs with no other
};

class IbnetdiscoverReader {
 public:
  IbnetdiscoverReader(const std::string& path, const ClusterDefaults& defaults)
      : path_(path), defaults_(defaults), builder_(path) {}

  base::Result<Network> read() {
    const auto parsed = base::for_each_line(
        path_,
        [this](const std::string& line, std::size_t number) { return parse_line(line, number); });
    if (!parsed) return parsed.error();
    if (nodes_.empty())
      return base::Error{path_ + ": has no Switch or Ca line; give the output of ibnetdiscover"};
    leave_out_adapters_of_switches();
    add_nodes();
    for (const LinkLine& link : links_) {
      if (left_out_.contains(link.source) || left_out_.contains(link.target)) continue;
      const auto target = numbers_.find(link.target);
      if (target == numbers_.end())
        return error(link.line, "'" + link.target + "' is not described");
      builder_.add_link(numbers_.at(link.source), target->second, link.capacity_Bps,
                        defaults_.latency_s, link.port);
    }
    return builder_.build_from(path_);
  }

 private:
  base::Error error(std::size_t line, const std::string& what) const {
    return base::line_error(path_, line, what);
  }

  base::Status parse_line(const std::string& line, std::size_t number) {
    if (line.starts_with('[')) return add_link(line, number);
    if (line.starts_with("sysimgguid=")) {
      system_image_ = line.substr(line.find('=') + 1);
      system_image_.resize(std::min(system_image_.find_first_of(" \t#"), system_image_.size()));
      if (system_image_.find_first_not_of("0x") == std::string::npos) system_image_.clear();
      return base::Done{};
    }
    const std::size_t space = line.find_first_of(" \t");
    const std::string kind = line.substr(0, space);
    if (kind != "Switch" && kind != "Ca" && kind != "Rt") return base::Done{};
    const std::size_t comment = line.find('#');
    current_ = quoted_in(line.substr(0, comment));
    if (current_.empty()) return error(number, "the " + kind + " has no name in double quotes");
    if (!described_.insert(current_).second)
      return error(number, "'" + current_ + "' is described twice");
    const std::string about = comment == std::string::npos ? "" : quoted_in(line.substr(comment));
    if (kind == "Rt") {
      left_out_.insert(current_);
    } else {
      nodes_.push_back({current_, system_image_, about, kind == "Switch"});
    }
    system_image_.clear();
    return base::Done{};
  }

  void leave_out_adapters_of_switches() {
    std::set<std::string> switches;
    for (const Described& node : nodes_) {
      if (node.is_switch && !node.system_image.empty()) switches.insert(node.system_image);
    }
    std::erase_if(nodes_, [&](const Described& node) {
      const bool is_inside =
          !node.is_switch && (switches.contains(node.system_image) ||
                              node.description.find("Aggregation Node") != std::string::npos);
      if (is_inside) left_out_.insert(node.guid_name);
      return is_inside;
    });
  }

  void add_nodes() {
    const Hosts hosts(nodes_);
    std::map<std::string, std::size_t> names;  // how many nodes could have the name
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (nodes_[at].is_switch) {
        const std::string whole = long_switch_name(nodes_[at].description);
        const std::string part = short_switch_name(nodes_[at].description);
        ++names[whole];
        if (part != whole) ++names[part];
      } else if (hosts.first_of(at) == at) {
        ++names[hosts.name_of(at)];
      }
    }
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      const Described& node = nodes_[at];
      const std::size_t first = hosts.first_of(at);
      if (node.is_switch) {
        numbers_[node.guid_name] = builder_.add_switch(switch_name(node, names));
      } else if (first == at) {
        numbers_[node.guid_name] = builder_.add_host(hosts.name_of(at), defaults_.slots);
      } else {
        numbers_[node.guid_name] = numbers_.at(nodes_[first].guid_name);
      }
    }
  }

  static std::string switch_name(const Described& node,
                                 const std::map<std::string, std::size_t>& names) {
    for (const std::string& name :
         {short_switch_name(node.description), long_switch_name(node.description)}) {
      if (!name.empty() && names.at(name) == 1) return name;
    }
    return node.guid_name;
  }

  base::Status add_link(const std::string& line, std::size_t number) {
    if (current_.empty()) return error(number, "a port comes before the first Switch or Ca");
    LinkLine link{number, current_, {}, kNoPort, defaults_.capacity_Bps};
    const auto [end, failed] =
        std::from_chars(line.data() + 1, line.data() + line.size(), link.port);
    if (failed != std::errc() || end == line.data() + line.size() || *end != ']') {
      return error(number, "a line that begins with '[' must give a port number in brackets");
    }
    const std::size_t comment = line.find('#');
    link.target = quoted_in(line.substr(0, comment));
    if (link.target.empty()) return error(number, "the port's peer has no name in double quotes");
    if (comment != std::string::npos) {
      for (const std::string& word : base::split(line.substr(comment), ' ')) {
        if (const double speed = speed_of(word); speed > 0) link.capacity_Bps = speed;
      }
    }
    links_.push_back(std::move(link));
    return base::Done{};
  }

  const std::string path_;
  const ClusterDefaults defaults_;
  NetworkBuilder builder_;
  std::string current_;       // the node whose ports are listed
  std::string system_image_;  // of the node that comes next
  std::vector<Described> nodes_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // in the network, by GUID name
  std::set<std::string> described_, left_out_;              // GUID names
  std::vector<LinkLine> links_;
};

}  // namespace

bool is_ibnetdiscover_line(std::string_view line) {
  for (const char* start :
       {"Chassis ", "Non-Chassis Nodes", "vendid=", "devid=", "sysimgguid=", "switchguid=",
        "caguid=", "rtguid=", "Switch\t", "Switch ", "Ca\t", "Ca ", "Rt\t", "Rt ", "["}) {
    if (line.starts_with(start)) return true;
  }
  return false;
}

base::Result<Network> read_ibnetdiscover(const std::string& path, const ClusterDefaults& defaults) {
  return IbnetdiscoverReader(path, defaults).read();
}

}  // namespace fathom::simulator
