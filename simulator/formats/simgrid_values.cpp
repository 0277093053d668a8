// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/formats/simgrid_values.h"

#include <charconv>
#include <cmath>

#include "base/text_lines.h"
#include "simulator/network/network.h"

namespace fathom::simulator {
namespace {

struct Unit {
  const char* name;
  double factor;
};
constexpr Unit kBandwidths[] = {{"", 1}, {"Bps", 1}, {"bps", 1.0 / 8}};
constexpr Unit kPrefixes[] = {{"k", 1e3},     {"K", 1e3},     {"M", 1e6},     {"G", 1e9},
                              {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10},
                              {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}};
constexpr Unit kTimes[] = {{"", 1},       {"s", 1},  {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
                           {"ps", 1e-12}, {"m", 60}, {"h", 3600},  {"d", 86400}, {"w", 604800}};

// The number at the front; the text after it goes to `unit`.
bool take_number(const std::string& text, double& number, std::string& unit) {
  const std::string whole(base::trimmed(text));
  const auto [end, failed] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  if (failed != std::errc() || !std::isfinite(number)) return false;
  unit = base::trimmed(
      std::string_view(end, static_cast<std::size_t>(whole.data() + whole.size() - end)));
  return true;
}

bool parse_whole(const std::string& text, std::uint32_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

}  // namespace

base::Result<double> simgrid_bandwidth_Bps(const std::string& text) {
  double number = 0;
  std::string unit;
  if (take_number(text, number, unit)) {
    for (const Unit& one : kBandwidths) {
      if (unit == one.name) return number * one.factor;
      if (*one.name == '\0') continue;
      for (const Unit& prefix : kPrefixes) {
        if (unit == std::string(prefix.name) + one.name) return number * prefix.factor * one.factor;
      }
    }
  }
  return base::Error{"'" + text + "' is not a bandwidth such as 1.25GBps or 10Gbps"};
}

base::Result<double> simgrid_time_s(const std::string& text) {
  double number = 0;
  std::string unit;
  if (take_number(text, number, unit)) {
    for (const Unit& one : kTimes) {
      if (unit == one.name) return number * one.factor;
    }
  }
  return base::Error{"'" + text + "' is not a time such as 50us or 1.5E-6s"};
}

base::Result<std::vector<std::uint32_t>> simgrid_radical(const std::string& text) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& part : base::split(text, ',')) {
    const std::size_t dash = part.find('-');
    std::uint32_t low = 0, high = 0;
    const bool right =
        parse_whole(std::string(base::trimmed(std::string_view(part).substr(0, dash))), low) &&
        parse_whole(dash == std::string::npos
                        ? std::to_string(low)
                        : std::string(base::trimmed(std::string_view(part).substr(dash + 1))),
                    high);
    if (!right || high < low)
      return base::Error{"'" + part + "' is not a range of numbers such as 0-15"};
    const double all = 1.0 + high - low + static_cast<double>(numbers.size());
    if (all > kMostNodes) return base::Error{"'" + text + "': " + too_large(all, 0).message};
    for (std::uint32_t number = low;; ++number) {
      numbers.push_back(number);
      if (number == high) break;  // the highest of all numbers has none above it
    }
  }
  return numbers;
}

base::Result<std::vector<std::vector<std::uint32_t>>> simgrid_parameters(const std::string& text) {
  std::vector<std::vector<std::uint32_t>> lists;
  for (const std::string& part : base::split(text, ';')) {
    lists.emplace_back();
    for (const std::string& word : base::split(part, ',')) {
      std::uint32_t number = 0;
      if (!parse_whole(word, number) || number == 0 || number > kMostNodes) {
        return base::Error{"'" + word + "' in '" + text + "' is not a whole number above zero"};
      }
      lists.back().push_back(number);
    }
  }
  return lists;
}

}  // namespace fathom::simulator
