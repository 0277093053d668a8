// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/ibnetdiscover.h"

#include <charconv>
#include <cstddef>
#include <set>
#include <unordered_map>
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

struct LinkLine {
  std::size_t line = 0;
  std::string source, target;  // GUID names
  std::int32_t port = kNoPort;
  double capacity_Bps = 0;
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
    if (nodes_.empty()) return base::Error{path_ + ": holds no Switch and no Ca of ibnetdiscover"};
    for (const LinkLine& link : links_) {
      if (left_out_.contains(link.source) || left_out_.contains(link.target)) continue;
      const auto target = nodes_.find(link.target);
      if (target == nodes_.end()) return error(link.line, "'" + link.target + "' is not described");
      builder_.add_link(nodes_.at(link.source), target->second, link.capacity_Bps,
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
    const std::size_t space = line.find_first_of(" \t");
    const std::string kind = line.substr(0, space);
    if (kind != "Switch" && kind != "Ca" && kind != "Rt") return base::Done{};
    const std::size_t comment = line.find('#');
    current_ = quoted_in(line.substr(0, comment));
    if (current_.empty()) return error(number, "the " + kind + " has no name in double quotes");
    const std::string about = comment == std::string::npos ? "" : quoted_in(line.substr(comment));
    if (kind == "Rt" || about.find("Aggregation Node") != std::string::npos) {
      left_out_.insert(current_);
      return base::Done{};
    }
    if (nodes_.contains(current_)) return error(number, "'" + current_ + "' is described twice");
    nodes_[current_] = kind == "Switch" ? builder_.add_switch(current_) : host_of(about);
    return base::Done{};
  }

  std::uint32_t host_of(const std::string& about) {
    const std::string name = first_word(about).empty() ? current_ : first_word(about);
    auto [host, is_new] = hosts_.try_emplace(name, 0);
    if (is_new) host->second = builder_.add_host(name, defaults_.slots);
    return host->second;
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
  std::string current_;                                   // the node whose ports are listed
  std::unordered_map<std::string, std::uint32_t> nodes_;  // by GUID name
  std::unordered_map<std::string, std::uint32_t> hosts_;  // by host name
  std::set<std::string> left_out_;
  std::vector<LinkLine> links_;
};

}  // namespace

base::Result<Network> read_ibnetdiscover(const std::string& path, const ClusterDefaults& defaults) {
  return IbnetdiscoverReader(path, defaults).read();
}

}  // namespace fathom::simulator
