// SPDX-License-Identifier: BSD-3-Clause
// The traffic of a profile by class, as the analyses of structure and patterns need it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace fathom::analysis {

// One class, of one communicator or of all.
struct ClassTraffic {
  std::string class_name;
  bool hidden = false;
  std::set<std::int64_t> communicators;
  std::vector<profile::PairCount>
      pairs;  // summed, by (source, destination); includes messages to oneself
  std::uint64_t bytes = 0, messages = 0;
};

// Most bytes first, then most messages.
std::vector<ClassTraffic> traffic_by_class(const profile::Profile& profile);
std::vector<ClassTraffic> traffic_by_communicator(const profile::Profile& profile,
                                                  const std::string& class_name, bool hidden);

// Collectives with a root (MPI 3.1, chapter 5), barriers, and collectives in which all ranks
// exchange data; the non-blocking forms count like the blocking ones.
bool is_rooted_collective(std::string_view class_name);
bool is_barrier(std::string_view class_name);
bool is_global_collective(std::string_view class_name);

// How the roots of a rooted collective are distributed: the most frequent root, weighted by bytes
// (by messages if there are none), and its share. A rank that is never the root of a broadcast
// receives each one once, whatever the algorithm; one that always is receives none. For a reduction
// the same holds for what is sent. For gathers and scatters, the balance between received and sent
// data gives the share; it assumes that at least one rank is never the root.
struct RootShare {
  std::int64_t rank = profile::kNone;
  double share = 0;         // 0 to 1
  double ranks = 0;         // that take part
  std::uint64_t count = 0;  // messages of that rank
};
RootShare root_share(const ClassTraffic& traffic);

}  // namespace fathom::analysis
