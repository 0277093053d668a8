// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/reference_names.h"

#include <utility>

namespace fathom::scenario {
namespace {

constexpr std::pair<const char*, const char*> kNames[] = {
    {"FCFSScheduler", "fcfs"},         {"LinearHostSelector", "linear"},
    {"RandomHostSelector", "random"},  {"LinearProcessMapper", "block"},
    {"CyclicProcessMapper", "cyclic"}, {"RandomProcessMapper", "random"},
    {"RandomRouter", "random"},        {"DmodKRouter", "dmodk"},
    {"GreedyRouter", "greedy-sum"},    {"GreedyRouter2", "greedy-max"},
    {"FileTopology", "file"},          {"NDTorusTopology", "torus"},
    {"XGFTTopology", "xgft"},          {"ExponentialDistribution", "exponential"},
};

}  // namespace

std::string our_name(const std::string& name) {
  const std::string last = name.substr(name.rfind('.') + 1);
  for (const auto& [theirs, ours] : kNames) {
    if (last == theirs) return ours;
  }
  return name;
}

}  // namespace fathom::scenario
