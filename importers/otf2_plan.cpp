// SPDX-License-Identifier: BSD-3-Clause
#include "importers/otf2_plan.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/imported_function.h"
#include "trace/attributes.h"
#include "trace/fields.h"

namespace fathom::importers::otf2 {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t bar = text.find('|');
    parts.emplace_back(text.substr(0, bar));
    text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
  }
  return parts;
}

class Planner {
 public:
  Planner(const Archive& archive, const std::map<std::string, std::string>& properties)
      : archive_(archive), properties_(properties) {}

  base::Result<Plan> plan() {
    plan_.own = properties_.contains("FATHOM::WORLD_SIZE");
    classes();
    ranks();
    processes();
    if (plan_.definitions.processes.empty()) return base::Error{"it holds no processes"};
    functions();
    communicators();
    names();
    application();
    return std::move(plan_);
  }

 private:
  std::string property(const std::string& name) const {
    const auto found = properties_.find(name);
    return found == properties_.end() ? "" : found->second;
  }

  void classes() {
    trace::Definitions& all = plan_.definitions;
    for (std::string name : split(property("FATHOM::CLASSES"))) {
      const bool hidden = name.ends_with('*');
      if (hidden) name.pop_back();
      all.classes.push_back(name);
      all.class_hidden.push_back(hidden);
    }
    if (all.classes.empty()) {
      all.classes.push_back(profile::kPointToPoint);
      all.class_hidden.push_back(false);
    }
    all.phases = split(property("FATHOM::PHASES"));
    for (std::size_t phase = 0; phase < all.phases.size(); ++phase) {
      plan_.phases.emplace(all.phases[phase], static_cast<std::uint32_t>(phase));
    }
  }

  // The order of the locations in the COMM_LOCATIONS group gives the ranks of a job.
  void ranks() {
    comm_locations_ = archive_.comm_locations;
    std::map<std::uint64_t, std::uint32_t> group_of;
    for (const Archive::Location& location : archive_.locations)
      group_of[location.self] = location.group;
    for (std::size_t rank = 0; rank < comm_locations_.size(); ++rank) {
      const auto group = group_of.find(comm_locations_[rank]);
      if (group == group_of.end()) continue;
      rank_of_group_.emplace(group->second, static_cast<std::int64_t>(rank));
      const auto facts = archive_.location_groups.find(group->second);
      const bool unknown = facts != archive_.location_groups.end() &&
                           archive_.text(facts->second.name) == trace::kOtf2UnknownRank;
      if (plan_.own && unknown) unknown_rank_ = static_cast<std::int64_t>(rank);
    }
    auto next = static_cast<std::int64_t>(comm_locations_.size());
    for (const Archive::Location& location : archive_.locations) {
      if (rank_of_group_.try_emplace(location.group, next).second) ++next;
    }
    plan_.definitions.world_size = next;
    const std::string world_size = property("FATHOM::WORLD_SIZE");
    if (!world_size.empty()) {
      plan_.definitions.world_size =
          std::min<std::int64_t>(next, std::strtoll(world_size.c_str(), nullptr, 10));
    }
  }

  // Whether it is the location that Fathom gives to a rank without a trace: not a process.
  bool is_silent(const Archive::Location& location) const {
    return location.events == 0 || archive_.text(location.name) == trace::kOtf2NoEvents;
  }

  void processes() {
    std::map<std::uint32_t, std::vector<const Archive::Location*>> by_group;
    for (const Archive::Location& location : archive_.locations)
      by_group[location.group].push_back(&location);
    for (auto& [self, locations] : by_group) {
      const bool empty = std::all_of(locations.begin(), locations.end(),
                                     [this](const auto* location) { return is_silent(*location); });
      if (empty && plan_.own) continue;
      const auto found = archive_.location_groups.find(self);
      const Archive::LocationGroup group =
          found == archive_.location_groups.end() ? Archive::LocationGroup{} : found->second;
      trace::Process process;
      process.rank = rank_of_group_.at(self);
      const auto node = archive_.nodes.find(group.node);
      if (node != archive_.nodes.end()) process.host = archive_.text(node->second);
      process.pid = group.pid;
      process.socket = group.socket;
      process.numa_node = group.numa;
      process.affinity = archive_.text(group.affinity);
      process.lost_records = group.lost_records;
      process.clock.kind = "monotonic";
      process.complete = true;
      const std::size_t position = plan_.definitions.processes.size();
      std::sort(locations.begin(), locations.end(),
                [](const auto* left, const auto* right) { return left->self < right->self; });
      std::uint32_t next = 0;
      for (const Archive::Location* location : locations) {
        // Fathom's locations contain the thread's number; there may be gaps.
        const auto thread = plan_.own ? static_cast<std::uint32_t>(location->self >> 32) : next++;
        if (thread > kMostThreads) continue;
        if (process.threads.size() <= thread) process.threads.resize(thread + 1);
        if (!is_silent(*location)) process.threads[thread] = archive_.text(location->name);
        plan_.places[location->self] = {position, thread, static_cast<std::int32_t>(process.rank)};
      }
      plan_.definitions.processes.push_back(process);
    }
  }

  void functions() {
    trace::Definitions& all = plan_.definitions;
    for (const auto& [self, region] : archive_.regions) {
      const std::string_view name = archive_.text(region.name);
      const bool is_mpi = mpi::is_in_namespace(name) || region.paradigm == OTF2_PARADIGM_MPI;
      if (!is_mpi || name.empty() || all.functions.size() >= trace::kHasSite - 1) {
        ++plan_.other_regions;
        continue;
      }
      // Other tools define a region once per process.
      const auto [known, is_new] =
          by_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(all.functions.size()));
      plan_.functions.emplace(self, known->second);
      if (!is_new) continue;
      const auto numbered =
          plan_.own ? trace::parse_function(archive_.text(region.description)) : std::nullopt;
      all.functions.push_back(numbered ? numbered->function : imported_function(name));
    }
  }

  std::vector<std::int64_t> world_ranks(std::uint32_t self) const {
    std::vector<std::int64_t> ranks;
    const auto group = archive_.groups.find(self);
    if (group == archive_.groups.end() || group->second.type == OTF2_GROUP_TYPE_COMM_SELF)
      return ranks;
    const bool locations = group->second.type == OTF2_GROUP_TYPE_COMM_LOCATIONS ||
                           (group->second.flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
    for (std::size_t position = 0; position < group->second.members.size(); ++position) {
      const std::uint64_t member = group->second.members[position];
      if (!locations) {
        ranks.push_back(member < comm_locations_.size() ? static_cast<std::int64_t>(member) : 0);
        continue;
      }
      const auto place = std::find(comm_locations_.begin(), comm_locations_.end(), member);
      if (place != comm_locations_.end()) ranks.push_back(place - comm_locations_.begin());
    }
    return ranks;
  }

  // Recognises "NAME [CLASS, hidden]", where NAME is the parent's.
  bool twin(std::uint32_t self, const Archive::Comm& comm) {
    const auto parent = plan_.comms.find(comm.parent);
    if (!plan_.own || parent == plan_.comms.end()) return false;
    const auto& all = plan_.definitions;
    const std::string_view name = archive_.text(comm.name);
    const std::string parent_name(archive_.text(archive_.comms.at(comm.parent).name));
    for (std::size_t row = 0; row < all.classes.size(); ++row) {
      if (name != trace::otf2_twin_name(parent_name, all.classes[row], all.class_hidden[row]))
        continue;
      plan_.comms[self] = {parent->second.communicator, static_cast<std::uint32_t>(row),
                           parent->second.peers};
      return true;
    }
    return false;
  }

  // An entry of FATHOM::COMMUNICATORS.
  struct OwnCommunicator {
    std::string made_by;
    std::size_t local_size = 0, remote_size = 0;
  };

  std::map<std::uint32_t, OwnCommunicator> own_communicators() const {
    std::map<std::uint32_t, OwnCommunicator> all;
    std::uint32_t next = 0;
    for (const std::string& entry : split(property("FATHOM::COMMUNICATORS"))) {
      const std::uint32_t self = next++;
      const std::size_t remote = entry.rfind(':');
      if (remote == std::string::npos || remote == 0) continue;
      const std::size_t local = entry.rfind(':', remote - 1);
      if (local == std::string::npos) continue;
      all[self] = {entry.substr(0, local), std::strtoul(entry.c_str() + local + 1, nullptr, 10),
                   std::strtoul(entry.c_str() + remote + 1, nullptr, 10)};
    }
    return all;
  }

  // A communicator's group lists the members of both its groups, or all ranks.
  CommPlace own_place(std::uint32_t group, const OwnCommunicator& facts,
                      profile::Communicator& made) const {
    const std::vector<std::int64_t> listed = world_ranks(group);
    const std::size_t local_size = std::min(facts.local_size, listed.size());
    const std::size_t remote_size = std::min(facts.remote_size, listed.size() - local_size);
    const auto remote = listed.begin() + static_cast<std::ptrdiff_t>(local_size);
    made.made_by = facts.made_by;
    made.world_ranks.assign(listed.begin(), remote);
    made.remote_world_ranks.assign(remote, remote + static_cast<std::ptrdiff_t>(remote_size));
    auto peers = std::make_shared<std::vector<std::int32_t>>();
    for (const std::int64_t rank : listed) {
      peers->push_back(rank == unknown_rank_ ? trace::kNobody : static_cast<std::int32_t>(rank));
    }
    return {static_cast<std::int32_t>(made.id), 0, std::move(peers)};
  }

  CommPlace members(std::uint32_t self, const Archive::Comm& comm,
                    const std::map<std::uint32_t, OwnCommunicator>& own,
                    profile::Communicator& made) const {
    const auto facts = own.find(self);
    if (facts != own.end()) return own_place(comm.group, facts->second, made);
    const auto group = archive_.groups.find(comm.group);
    if (plan_.own && group != archive_.groups.end()) {
      made.made_by = archive_.text(group->second.name);
    }
    made.world_ranks = world_ranks(comm.group);
    if (comm.remote_group != OTF2_UNDEFINED_GROUP) {
      made.remote_world_ranks = world_ranks(comm.remote_group);
    }
    return {static_cast<std::int32_t>(made.id), 0, nullptr};
  }

  void communicators() {
    const std::map<std::uint32_t, OwnCommunicator> own = own_communicators();
    std::vector<std::pair<std::uint32_t, Archive::Comm>> in_order(archive_.comms.begin(),
                                                                  archive_.comms.end());
    // MPI_COMM_WORLD first, as in the traces that Fathom records.
    std::stable_partition(in_order.begin(), in_order.end(), [&](const auto& entry) {
      return archive_.text(entry.second.name).starts_with("MPI_COMM_WORLD") &&
             archive_.text(entry.second.name).size() == 14;
    });
    std::map<std::int64_t, std::uint32_t> parents;  // by id: the number in the archive
    for (const auto& [self, comm] : in_order) {
      if (twin(self, comm)) continue;
      profile::Communicator made;
      made.id = static_cast<std::int64_t>(plan_.definitions.communicators.size());
      made.name = archive_.text(comm.name);
      if (plan_.own && made.name == "communicator " + std::to_string(made.id)) made.name.clear();
      plan_.comms[self] = members(self, comm, own, made);
      if (made.world_ranks.empty() && !plan_.own) {
        made.name = "MPI_COMM_SELF";  // the only kind of communicator without listed members
      } else {
        parents[made.id] = comm.parent;
      }
      plan_.definitions.communicators.push_back(made);
    }
    for (const auto& [id, self] : parents) {  // a parent may have a higher number
      const auto parent = plan_.comms.find(self);
      if (parent != plan_.comms.end())
        plan_.definitions.communicators[static_cast<std::size_t>(id)].parent =
            parent->second.communicator;
    }
  }

  void names() {
    for (const auto& [self, string] : archive_.attributes) {
      std::string_view name = archive_.text(string);
      if (!name.starts_with(trace::kOtf2Prefix)) continue;
      name.remove_prefix(trace::kOtf2Prefix.size());
      for (const trace::Field& field : trace::fields()) {
        if (name == name_of(field.attribute)) plan_.attributes.emplace(self, field.attribute);
      }
      for (const trace::Otf2AttributeName& row : trace::kOtf2Attributes) {
        if (name == row.name) plan_.own_attributes.emplace(self, row.attribute);
      }
    }
    for (const auto& [self, string] : archive_.parameters) {
      std::string_view name = archive_.text(string);
      if (!name.starts_with(trace::kOtf2Prefix)) continue;
      name.remove_prefix(trace::kOtf2Prefix.size());
      for (const trace::Otf2ParameterName& row : trace::kOtf2Parameters) {
        if (name == row.name) plan_.parameters.emplace(self, row.parameter);
      }
    }
  }

  void application() {
    trace::Definitions& all = plan_.definitions;
    all.application.executable = property("FATHOM::EXECUTABLE");
    all.level = plan_.own ? property("FATHOM::LEVEL") : "calls";
    all.source = plan_.own ? property("FATHOM::SOURCE") : "otf2";
    all.epoch_unix_ns = plan_.own
                            ? std::strtoull(property("FATHOM::EPOCH_UNIX_NS").c_str(), nullptr, 10)
                            : archive_.realtime;
    all.application.started_unix_ns = static_cast<std::int64_t>(all.epoch_unix_ns);
  }

  static constexpr std::uint32_t kMostThreads = 1 << 16;

  const Archive& archive_;
  const std::map<std::string, std::string>& properties_;
  Plan plan_;
  std::vector<std::uint64_t> comm_locations_;
  std::map<std::uint32_t, std::int64_t> rank_of_group_;
  std::int64_t unknown_rank_ = profile::kNone;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // functions
};

}  // namespace

base::Result<Plan> plan_import(const Archive& archive,
                               const std::map<std::string, std::string>& properties) {
  return Planner(archive, properties).plan();
}

}  // namespace fathom::importers::otf2
