// SPDX-License-Identifier: BSD-3-Clause
#include "simulator/topology/topology.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "base/text_lines.h"

namespace fathom::simulator {
namespace {

// Of any count, so that products of two fit 64 bits. Slots may be as many.
constexpr std::uint32_t kMostCount = 1 << 26;

bool parse_number(const std::string& text, double& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size() && std::isfinite(number);
}

}  // namespace

base::Result<TopologyParameters> TopologyParameters::parse(const std::string& specification,
                                                           std::string_view rest,
                                                           std::uint32_t slots,
                                                           double capacity_Bps) {
  TopologyParameters parameters;
  parameters.slots_ = slots;
  parameters.capacity_Bps_ = capacity_Bps;
  parameters.specification_ = specification;
  for (const std::string& part : base::split(rest, ';')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const std::string key(base::trimmed(std::string_view(part).substr(0, equals)));
    if (equals == std::string::npos || key.empty()) {
      return parameters.error("'" + part + "' is not of the form key=value");
    }
    std::vector<double> numbers;
    for (const std::string& text : base::split(std::string_view(part).substr(equals + 1), ',')) {
      double number = 0;
      if (!parse_number(text, number))
        return parameters.error("'" + text + "' in '" + part + "' is not a number");
      numbers.push_back(number);
    }
    if (!parameters.values_.emplace(key, std::move(numbers)).second) {
      return parameters.error("'" + key + "' is given twice");
    }
  }
  parameters.read_common();
  return parameters;
}

base::Status TopologyParameters::check_size(double nodes, double cables) const {
  if (nodes <= most_nodes_ && 2 * cables <= most_links_) return base::Done{};
  if (nodes <= kMostNodes && 2 * cables <= kMostLinks)
    return error("it would have more than " + std::to_string(most_nodes_) + " nodes or " +
                 std::to_string(most_links_) + " links, the most that can be drawn");
  return error(too_large(nodes, 2 * cables).message);
}

base::Error TopologyParameters::error(const std::string& what) const {
  return {"'" + specification_ + "': " + what};
}

void TopologyParameters::complain(const std::string& what) {
  // Keep only the first complaint, because later ones may follow from it.
  if (complaint_.empty()) complaint_ = what;
}

const std::vector<double>* TopologyParameters::find(const std::string& key) {
  used_[key] = true;
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void TopologyParameters::read_common() {
  slots_ = count("slots", slots_);
  const auto one = [&](const char* key, double& value, bool may_be_zero) {
    const std::vector<double>* given = find(key);
    if (!given) return;
    value = given->front();
    if (given->size() == 1 && (value > 0 || (may_be_zero && value == 0))) return;
    complain(std::string("'") + key + "' must be one number " +
             (may_be_zero ? "not below" : "above") + " zero");
  };
  one("capacity", capacity_Bps_, false);
  one("latency", latency_s_, true);
  if (const std::vector<double>* taper = find("taper")) taper_ = *taper;
  if (std::any_of(taper_.begin(), taper_.end(), [](double value) { return !(value > 0); })) {
    complain("'taper' must be above zero");
  }
}

double TopologyParameters::switch_capacity_Bps(std::size_t level) const {
  return capacity_Bps_ / taper_[std::min(level, taper_.size() - 1)];
}

std::vector<std::uint32_t> TopologyParameters::list(const std::string& key) {
  const std::vector<double>* given = find(key);
  if (!given) {
    if (missing_.empty()) missing_ = "'" + key + "' is missing";
    return {1};
  }
  std::vector<std::uint32_t> numbers;
  for (const double number : *given) {
    if (!(number >= 1) || number != std::floor(number)) {
      complain("'" + key + "' must be whole numbers, at least 1");
      return {1};
    }
    if (number > kMostCount) {
      complain("'" + key + "' must not be above " + std::to_string(kMostCount));
      return {1};
    }
    numbers.push_back(static_cast<std::uint32_t>(number));
  }
  return numbers;
}

std::uint32_t TopologyParameters::count(const std::string& key) {
  const std::vector<std::uint32_t> numbers = list(key);
  if (numbers.size() != 1) complain("'" + key + "' must be one number");
  return numbers.front();
}

std::uint32_t TopologyParameters::count(const std::string& key, std::uint32_t otherwise) {
  return find(key) ? count(key) : otherwise;
}

base::Status TopologyParameters::finish() {
  if (!complaint_.empty()) return error(complaint_);
  for (const auto& [key, values] : values_) {
    if (used_.contains(key)) continue;
    std::string known;
    for (const auto& [name, used] : used_) base::add_to_list(known, name);
    return error("there is no '" + key + "'; there are " + known);
  }
  if (!missing_.empty()) return error(missing_);
  return base::Done{};
}

}  // namespace fathom::simulator
