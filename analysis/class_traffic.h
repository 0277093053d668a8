// The traffic of a profile by class, as analyses of structure and patterns take it.
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
  std::vector<profile::PairCount> pairs;  // summed, by (source, destination); with messages to oneself
  std::uint64_t bytes = 0, messages = 0;
};

// Most bytes first, then most messages.
std::vector<ClassTraffic> traffic_by_class(const profile::Profile& profile);
std::vector<ClassTraffic> traffic_by_communicator(const profile::Profile& profile, const std::string& class_name,
                                                  bool hidden);

// Collectives with a root (MPI 3.1, chapter 5), barriers, and those in which all ranks exchange data; the
// non-blocking forms count like the blocking ones.
bool is_rooted_collective(std::string_view class_name);
bool is_barrier(std::string_view class_name);
bool is_global_collective(std::string_view class_name);

// Was the communicator made by MPI_Cart_create or MPI_Cart_sub?
bool is_cartesian(const profile::Profile& profile, std::int64_t communicator);

// The rank whose messages, in and out, make the largest part of the traffic of these pairs. Messages to
// oneself are left out.
struct RootShare {
  std::int64_t rank = profile::kNone;
  double share = 0;         // 0 to 1
  double ranks = 0;         // that take part
  std::uint64_t count = 0;  // messages of that rank
};
RootShare root_share(const std::vector<profile::PairCount>& pairs, bool by_bytes);

}  // namespace fathom::analysis
