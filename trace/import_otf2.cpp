#include "trace/import_otf2.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "trace/attributes.h"
#include "trace/fields.h"
#include "trace/mpi_functions.h"
#include "trace/otf2_errors.h"
#include "trace/otf2_names.h"
#include "trace/writer.h"

namespace fathom::trace {
namespace {

// ---- the archive's definitions, as they come ----

struct Archive {
  struct Location {
    std::uint64_t self = 0, events = 0;
    std::uint32_t group = 0;
    std::uint32_t name = 0;
  };
  struct Region {
    std::uint32_t name = 0, description = 0;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  };
  struct Group {
    OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
    OTF2_GroupFlag flags = OTF2_GROUP_FLAG_NONE;
    std::uint32_t name = 0;
    std::vector<std::uint64_t> members;
  };
  struct Comm {
    std::uint32_t name = 0, group = 0, remote_group = OTF2_UNDEFINED_GROUP, parent = OTF2_UNDEFINED_COMM;
  };
  struct LocationGroup {
    std::uint32_t name = 0, node = 0;
    std::int64_t pid = 0;
    std::int32_t socket = -1, numa = -1;
    std::uint32_t affinity = OTF2_UNDEFINED_STRING;
  };

  std::string_view text(std::uint32_t string) const {
    const auto found = strings.find(string);
    return found == strings.end() ? std::string_view() : std::string_view(found->second);
  }

  std::unordered_map<std::uint32_t, std::string> strings;
  std::uint64_t resolution = 1'000'000'000, offset = 0, realtime = 0;
  std::map<std::uint32_t, std::uint32_t> nodes;       // name
  std::map<std::uint32_t, LocationGroup> location_groups;
  std::vector<Location> locations;
  std::map<std::uint32_t, Region> regions;
  std::map<std::uint32_t, Group> groups;
  std::vector<std::uint64_t> comm_locations;  // in the order of the ranks
  std::map<std::uint32_t, Comm> comms;
  std::map<std::uint32_t, std::uint32_t> attributes, parameters;  // name
};

Archive& of(void* user_data) { return *static_cast<Archive*>(user_data); }

OTF2_CallbackCode on_clock(void* user, uint64_t resolution, uint64_t offset, uint64_t, uint64_t realtime) {
  of(user).resolution = std::max<std::uint64_t>(resolution, 1);
  of(user).offset = offset;
  of(user).realtime = realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
  of(user).strings[self] = text ? text : "";
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
  of(user).attributes[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_parameter(void* user, OTF2_ParameterRef self, OTF2_StringRef name, OTF2_ParameterType) {
  of(user).parameters[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_node(void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef,
                          OTF2_SystemTreeNodeRef) {
  of(user).nodes[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_location_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType, OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef) {
  Archive::LocationGroup& group = of(user).location_groups[self];
  group.name = name;
  group.node = node;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_group_property(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_Type,
                                    OTF2_AttributeValue value) {
  Archive::LocationGroup& group = of(user).location_groups[self];
  const std::string_view text = of(user).text(name);
  if (text == "fathom::pid") group.pid = value.int64;
  if (text == "fathom::socket") group.socket = value.int32;
  if (text == "fathom::numa") group.numa = value.int32;
  if (text == "fathom::affinity") group.affinity = value.stringRef;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                              uint64_t events, OTF2_LocationGroupRef group) {
  if (type == OTF2_LOCATION_TYPE_CPU_THREAD || type == OTF2_LOCATION_TYPE_UNKNOWN) {
    of(user).locations.push_back({self, events, group, name});
  }
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                            OTF2_StringRef description, OTF2_RegionRole, OTF2_Paradigm paradigm, OTF2_RegionFlag,
                            OTF2_StringRef, uint32_t, uint32_t) {
  of(user).regions[self] = {name, description, paradigm};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type, OTF2_Paradigm,
                           OTF2_GroupFlag flags, uint32_t count, const uint64_t* members) {
  // Kept apart, for EZTrace defines another group of the same number.
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && of(user).comm_locations.empty()) {
    of(user).comm_locations.assign(members, members + count);
  }
  of(user).groups[self] = {type, flags, name, std::vector<std::uint64_t>(members, members + count)};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_comm(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent,
                          OTF2_CommFlag) {
  of(user).comms[self] = {name, group, OTF2_UNDEFINED_GROUP, parent};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_inter_comm(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                OTF2_GroupRef remote, OTF2_CommRef common, OTF2_CommFlag) {
  of(user).comms[self] = {name, group, remote, common};
  return OTF2_CALLBACK_SUCCESS;
}

// ---- what becomes of them ----

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct CommPlace {
  std::int32_t communicator = kNobody;
  std::uint32_t message_class = 0;
};

// Where events of a location go.
struct Place {
  std::size_t process = 0;
  std::uint32_t thread = 0;
  std::int32_t rank = 0;
};

struct Plan {
  bool own = false;  // Fathom wrote the archive: attributes say everything
  Definitions definitions;
  std::map<std::uint64_t, Place> places;                  // by location
  std::unordered_map<std::uint32_t, std::uint32_t> functions;  // by region; others are left out
  std::unordered_map<std::uint32_t, CommPlace> comms;
  std::unordered_map<std::uint32_t, Attribute> attributes;
  std::unordered_map<std::uint32_t, Otf2Attribute> own_attributes;
  std::unordered_map<std::uint32_t, Otf2Parameter> parameters;
  std::unordered_map<std::string, std::uint32_t> phases;
  std::size_t other_regions = 0;
};

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
    Definitions& all = plan_.definitions;
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

  // The ranks of a job are the order of the locations in the group that says so.
  void ranks() {
    comm_locations_ = archive_.comm_locations;
    std::map<std::uint64_t, std::uint32_t> group_of;
    for (const Archive::Location& location : archive_.locations) group_of[location.self] = location.group;
    for (std::size_t rank = 0; rank < comm_locations_.size(); ++rank) {
      const auto group = group_of.find(comm_locations_[rank]);
      if (group != group_of.end()) rank_of_group_.emplace(group->second, static_cast<std::int64_t>(rank));
    }
    auto next = static_cast<std::int64_t>(comm_locations_.size());
    for (const Archive::Location& location : archive_.locations) {
      if (rank_of_group_.try_emplace(location.group, next).second) ++next;
    }
    plan_.definitions.world_size = next;
    const std::string world_size = property("FATHOM::WORLD_SIZE");
    if (!world_size.empty()) {
      plan_.definitions.world_size = std::min<std::int64_t>(next, std::strtoll(world_size.c_str(), nullptr, 10));
    }
  }

  // Fathom gives a rank without a trace a location too, without events: those are no processes.
  void processes() {
    std::map<std::uint32_t, std::vector<const Archive::Location*>> by_group;
    for (const Archive::Location& location : archive_.locations) by_group[location.group].push_back(&location);
    for (auto& [self, locations] : by_group) {
      const bool empty = std::all_of(locations.begin(), locations.end(),
                                     [](const auto* location) { return location->events == 0; });
      if (empty && plan_.own) continue;
      const auto found = archive_.location_groups.find(self);
      const Archive::LocationGroup group =
          found == archive_.location_groups.end() ? Archive::LocationGroup{} : found->second;
      Process process;
      process.rank = rank_of_group_.at(self);
      const auto node = archive_.nodes.find(group.node);
      if (node != archive_.nodes.end()) process.host = archive_.text(node->second);
      process.pid = group.pid;
      process.socket = group.socket;
      process.numa_node = group.numa;
      process.affinity = archive_.text(group.affinity);
      process.clock.kind = "monotonic";
      process.complete = true;
      const std::size_t position = plan_.definitions.processes.size();
      std::sort(locations.begin(), locations.end(),
                [](const auto* left, const auto* right) { return left->self < right->self; });
      std::uint32_t next = 0;
      for (const Archive::Location* location : locations) {
        // Fathom's locations carry the thread's number; there may be gaps.
        const auto thread = plan_.own ? static_cast<std::uint32_t>(location->self >> 32) : next++;
        if (thread > kMostThreads) continue;
        if (process.threads.size() <= thread) process.threads.resize(thread + 1);
        process.threads[thread] = archive_.text(location->name);
        plan_.places[location->self] = {position, thread, static_cast<std::int32_t>(process.rank)};
      }
      plan_.definitions.processes.push_back(process);
    }
  }

  void functions() {
    Definitions& all = plan_.definitions;
    for (const auto& [self, region] : archive_.regions) {
      const std::string_view name = archive_.text(region.name);
      const bool is_mpi = name.starts_with("MPI_") || region.paradigm == OTF2_PARADIGM_MPI;
      if (!is_mpi || name.empty() || all.functions.size() >= kHasSite - 1) {
        ++plan_.other_regions;
        continue;
      }
      // Other tools define a region once for each process.
      const auto [known, is_new] =
          by_name_.try_emplace(std::string(name), static_cast<std::uint32_t>(all.functions.size()));
      plan_.functions.emplace(self, known->second);
      if (!is_new) continue;
      const auto numbered = plan_.own ? parse_function(archive_.text(region.description)) : std::nullopt;
      all.functions.push_back(numbered ? numbered->function : function_by_name(name));
    }
  }

  std::vector<std::int64_t> world_ranks(std::uint32_t self) const {
    std::vector<std::int64_t> ranks;
    const auto group = archive_.groups.find(self);
    if (group == archive_.groups.end() || group->second.type == OTF2_GROUP_TYPE_COMM_SELF) return ranks;
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

  // "NAME [CLASS, hidden]" with NAME the parent's.
  bool twin(std::uint32_t self, const Archive::Comm& comm) {
    const auto parent = plan_.comms.find(comm.parent);
    if (!plan_.own || parent == plan_.comms.end()) return false;
    const auto& all = plan_.definitions;
    const std::string_view name = archive_.text(comm.name);
    const std::string parent_name(archive_.text(archive_.comms.at(comm.parent).name));
    for (std::size_t row = 0; row < all.classes.size(); ++row) {
      if (name != otf2_twin_name(parent_name, all.classes[row], all.class_hidden[row])) continue;
      plan_.comms[self] = {parent->second.communicator, static_cast<std::uint32_t>(row)};
      return true;
    }
    return false;
  }

  void communicators() {
    std::vector<std::pair<std::uint32_t, Archive::Comm>> in_order(archive_.comms.begin(), archive_.comms.end());
    // MPI_COMM_WORLD first, as in the traces that Fathom records.
    std::stable_partition(in_order.begin(), in_order.end(),
                          [&](const auto& entry) { return archive_.text(entry.second.name).starts_with("MPI_COMM_WORLD") &&
                                                          archive_.text(entry.second.name).size() == 14; });
    for (const auto& [self, comm] : in_order) {
      if (twin(self, comm)) continue;
      profile::Communicator made;
      made.id = static_cast<std::int64_t>(plan_.definitions.communicators.size());
      made.name = archive_.text(comm.name);
      if (plan_.own && made.name == "communicator " + std::to_string(made.id)) made.name.clear();
      const auto group = archive_.groups.find(comm.group);
      if (plan_.own && group != archive_.groups.end()) made.made_by = archive_.text(group->second.name);
      made.world_ranks = world_ranks(comm.group);
      if (comm.remote_group != OTF2_UNDEFINED_GROUP) made.remote_world_ranks = world_ranks(comm.remote_group);
      const auto parent = plan_.comms.find(comm.parent);
      if (parent != plan_.comms.end()) made.parent = parent->second.communicator;
      if (made.world_ranks.empty() && !plan_.own) {
        made.name = "MPI_COMM_SELF";  // what a communicator without listed members can be
        made.parent = profile::kNone;
      }
      plan_.comms[self] = {static_cast<std::int32_t>(made.id), 0};
      plan_.definitions.communicators.push_back(made);
    }
  }

  void names() {
    for (const auto& [self, string] : archive_.attributes) {
      std::string_view name = archive_.text(string);
      if (!name.starts_with(kOtf2Prefix)) continue;
      name.remove_prefix(kOtf2Prefix.size());
      for (const Field& field : fields()) {
        if (name == name_of(field.attribute)) plan_.attributes.emplace(self, field.attribute);
      }
      for (const Otf2AttributeName& row : kOtf2Attributes) {
        if (name == row.name) plan_.own_attributes.emplace(self, row.attribute);
      }
    }
    for (const auto& [self, string] : archive_.parameters) {
      std::string_view name = archive_.text(string);
      if (!name.starts_with(kOtf2Prefix)) continue;
      name.remove_prefix(kOtf2Prefix.size());
      for (const Otf2ParameterName& row : kOtf2Parameters) {
        if (name == row.name) plan_.parameters.emplace(self, row.parameter);
      }
    }
  }

  void application() {
    Definitions& all = plan_.definitions;
    all.application.executable = property("FATHOM::EXECUTABLE");
    all.level = plan_.own ? property("FATHOM::LEVEL") : "calls";
    all.source = plan_.own ? property("FATHOM::SOURCE") : "otf2";
    all.epoch_unix_ns = plan_.own ? std::strtoull(property("FATHOM::EPOCH_UNIX_NS").c_str(), nullptr, 10)
                                  : archive_.realtime;
    all.application.started_unix_ns = static_cast<std::int64_t>(all.epoch_unix_ns);
  }

  static constexpr std::uint32_t kMostThreads = 1 << 16;

  const Archive& archive_;
  const std::map<std::string, std::string>& properties_;
  Plan plan_;
  std::vector<std::uint64_t> comm_locations_;
  std::map<std::uint32_t, std::int64_t> rank_of_group_;
  std::unordered_map<std::string, std::uint32_t> by_name_;  // functions
};

// ---- events of one location ----

// Keeps the events of a call until it is left: what is inside tells its arguments, where nothing else does.
class LocationEvents {
 public:
  LocationEvents(const Archive& archive, const Plan& plan, TraceWriter& writer, const Place& place)
      : archive_(archive), plan_(plan), writer_(writer), place_(place) {}

  std::uint64_t unknown_comms() const { return unknown_comms_; }

  void enter(std::uint64_t time, OTF2_AttributeList* list, OTF2_RegionRef region) {
    const auto function = plan_.functions.find(region);
    if (function == plan_.functions.end()) return;
    Event& event = add(EventKind::kEnter, time);
    event.function = function->second;
    read(list, event);
    open_.push_back(events_.size() - 1);
    requests_.push_back(kNoRequest);
  }

  void leave(std::uint64_t time, OTF2_AttributeList* list, OTF2_RegionRef region) {
    const auto function = plan_.functions.find(region);
    if (function == plan_.functions.end()) return;
    Event& event = add(EventKind::kLeave, time);
    event.function = function->second;
    if (!plan_.own && !requests_.empty()) event.request = requests_.back();
    read(list, event);
    if (!open_.empty()) {
      open_.pop_back();
      requests_.pop_back();
    }
    flush();
  }

  void message(EventKind kind, std::uint64_t time, OTF2_AttributeList* list, std::uint32_t peer, OTF2_CommRef comm,
               std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
    Event event = new_event(kind, time);
    const auto place = plan_.comms.find(comm);
    if (place == plan_.comms.end()) {
      ++unknown_comms_;
      return;
    }
    event.communicator = place->second.communicator;
    event.code = place->second.message_class;
    event.comm_peer = static_cast<std::int32_t>(peer);
    event.peer = world_rank(event.communicator, peer);
    event.tag = static_cast<std::int32_t>(tag);
    event.bytes = bytes;
    event.request = request;
    read(list, event);
    if (!plan_.own) tell_call(event);
    events_.push_back(event);
    flush();
  }

  // A call without MPI functions' attributes learns here which request it returned.
  void request_made(std::uint64_t request) {
    if (!requests_.empty()) requests_.back() = request;
  }

  void completed(std::uint64_t time, OTF2_AttributeList* list, std::uint64_t request, bool cancelled) {
    Event event = new_event(EventKind::kRequestCompleted, time);
    event.request = request;
    read(list, event);
    // A send that was complete when its call returned has no number, and no completion.
    if (plan_.own && is_otf2_send_request(event.request)) return;
    events_.push_back(event);
    events_.back().flag = cancelled ? 1 : 0;
    flush();
  }

  void collective(OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent, std::uint64_t received) {
    if (plan_.own || open_.empty()) return;
    const auto place = plan_.comms.find(comm);
    if (place == plan_.comms.end()) return;
    Event& call = events_[open_.back()];
    call.communicator = place->second.communicator;
    call.bytes = sent;
    call.bytes2 = received;
    if (root != OTF2_UNDEFINED_UINT32 && root < kMostRanks) call.root = world_rank(call.communicator, root);
  }

  void parameter(std::uint64_t time, OTF2_AttributeList* list, OTF2_ParameterRef self, std::uint64_t value) {
    const auto known = plan_.parameters.find(self);
    if (known == plan_.parameters.end()) return;
    Event event = new_event(EventKind::kLost, time);
    read(list, event);
    event.code = static_cast<std::uint32_t>(value);
    switch (known->second) {
      case Otf2Parameter::kArrived: event.kind = EventKind::kMessageReceived; break;
      case Otf2Parameter::kRequestCompleted:
        event.kind = EventKind::kRequestCompleted;
        if (event.flag < 0) event.flag = 0;
        break;
      case Otf2Parameter::kTransfer: event.kind = EventKind::kTransfer; break;
      case Otf2Parameter::kUnexpected: event.kind = EventKind::kUnexpected; break;
      case Otf2Parameter::kPause: event.kind = EventKind::kPause; break;
      case Otf2Parameter::kResume: event.kind = EventKind::kResume; break;
      case Otf2Parameter::kProcessor: event.kind = EventKind::kProcessor; break;
      case Otf2Parameter::kRequestGiven: event.kind = EventKind::kRequestGiven; break;
      case Otf2Parameter::kLost:
      case Otf2Parameter::kSampled:
        event.kind = known->second == Otf2Parameter::kLost ? EventKind::kLost : EventKind::kSampled;
        event.count = value;
        event.code = 0;
        break;
      default: return;
    }
    events_.push_back(event);
    flush();
  }

  void phase(std::uint64_t time, OTF2_ParameterRef self, OTF2_StringRef name) {
    const auto known = plan_.parameters.find(self);
    const auto number = plan_.phases.find(std::string(archive_.text(name)));
    if (known == plan_.parameters.end() || number == plan_.phases.end()) return;
    if (known->second != Otf2Parameter::kPhaseBegin && known->second != Otf2Parameter::kPhaseEnd) return;
    const bool begins = known->second == Otf2Parameter::kPhaseBegin;
    add(begins ? EventKind::kPhaseBegin : EventKind::kPhaseEnd, time).code = number->second;
    flush();
  }

  void finish() {
    open_.clear();  // what is still open has no leave, and is written as it stands
    flush();
  }

 private:
  static constexpr std::uint32_t kMostRanks = 1u << 31;
  static constexpr std::size_t kMostKept = 1 << 16;  // events of one call; then its arguments stay as they are

  Event new_event(EventKind kind, std::uint64_t time) {
    // Of an archive that Fathom wrote, ticks are nanoseconds of the run. Time never goes back.
    std::uint64_t ns = time;
    if (!plan_.own) {
      const std::uint64_t ticks = time > archive_.offset ? time - archive_.offset : 0;
      ns = archive_.resolution == 1'000'000'000
               ? ticks
               : static_cast<std::uint64_t>(static_cast<long double>(ticks) * 1e9L /
                                            static_cast<long double>(archive_.resolution));
    }
    Event event;
    event.kind = kind;
    event.time_ns = last_ns_ = std::max(last_ns_, ns);
    event.thread = place_.thread;
    return event;
  }

  Event& add(EventKind kind, std::uint64_t time) { return events_.emplace_back(new_event(kind, time)); }

  std::int32_t world_rank(std::int32_t communicator, std::uint32_t rank) const {
    const auto& row = plan_.definitions.communicators[static_cast<std::size_t>(communicator)];
    const auto& members = row.remote_world_ranks.empty() || !is_local(row) ? row.world_ranks : row.remote_world_ranks;
    if (row.world_ranks.empty()) return rank == 0 ? place_.rank : kNobody;
    return rank < members.size() ? static_cast<std::int32_t>(members[rank]) : kNobody;
  }

  // A member of an intercommunicator's local group speaks to the remote one, and the other way round.
  bool is_local(const profile::Communicator& row) const {
    return std::find(row.world_ranks.begin(), row.world_ranks.end(), place_.rank) != row.world_ranks.end();
  }

  void read(OTF2_AttributeList* list, Event& event) const {
    const std::uint32_t count = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
    for (std::uint32_t index = 0; index < count; ++index) {
      OTF2_AttributeRef self;
      OTF2_Type type;
      OTF2_AttributeValue value;
      if (OTF2_AttributeList_GetAttributeByIndex(list, index, &self, &type, &value) != OTF2_SUCCESS) continue;
      const std::uint64_t number = type == OTF2_TYPE_INT32 ? static_cast<std::uint64_t>(std::int64_t{value.int32})
                                                           : value.uint64;
      const auto attribute = plan_.attributes.find(self);
      if (attribute != plan_.attributes.end()) set_field(event, attribute->second, number);
      const auto own = plan_.own_attributes.find(self);
      if (own == plan_.own_attributes.end()) continue;
      switch (own->second) {
        case Otf2Attribute::kSite: event.site = number; break;
        case Otf2Attribute::kError:
        case Otf2Attribute::kCode: event.code = static_cast<std::uint32_t>(number); break;
        case Otf2Attribute::kFunction: event.function = static_cast<std::uint32_t>(number); break;
        case Otf2Attribute::kReceiving: event.receiving = number != 0; break;
        case Otf2Attribute::kCommPeer: event.comm_peer = static_cast<std::int32_t>(number); break;
      }
    }
    if (event.comm_peer == kNobody && event.peer >= 0) event.comm_peer = event.peer;
  }

  void tell_call(const Event& message) {
    if (open_.empty()) return;
    Event& call = events_[open_.back()];
    const Group group = plan_.definitions.functions[call.function].group;
    const bool receives = message.kind == EventKind::kMessageReceived;
    if (group == Group::kSendReceive && receives) {
      call.communicator = message.communicator;
      call.peer2 = message.peer;
      call.tag2 = message.tag;
      call.bytes2 = message.bytes;
    } else if (group == (receives ? Group::kReceive : Group::kSend) || group == Group::kSendReceive) {
      call.communicator = message.communicator;
      call.peer = message.peer;
      call.comm_peer = message.comm_peer;
      call.tag = message.tag;
      call.bytes = message.bytes;
    }
  }

  void flush() {
    if (!open_.empty() && events_.size() < kMostKept && !plan_.own) return;
    for (const Event& event : events_) writer_.append(place_.process, event);
    events_.clear();
    open_.clear();
    requests_.clear();
  }

  const Archive& archive_;
  const Plan& plan_;
  TraceWriter& writer_;
  Place place_;
  std::vector<Event> events_;
  std::vector<std::size_t> open_;        // positions of enters in events_
  std::vector<std::uint64_t> requests_;  // by open call: the request that it returns
  std::uint64_t last_ns_ = 0;
  std::uint64_t unknown_comms_ = 0;
};

LocationEvents& events_of(void* user_data) { return *static_cast<LocationEvents*>(user_data); }

// Request ids of other tools may be 0, which stands for none here.
std::uint64_t request_of(std::uint64_t id) { return id + 1; }

OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user, OTF2_AttributeList* list,
                           OTF2_RegionRef region) {
  events_of(user).enter(time, list, region);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_leave(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user, OTF2_AttributeList* list,
                           OTF2_RegionRef region) {
  events_of(user).leave(time, list, region);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_send(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user, OTF2_AttributeList* list,
                          uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
  events_of(user).message(EventKind::kMessageSent, time, list, peer, comm, tag, bytes, kNoRequest);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_recv(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user, OTF2_AttributeList* list,
                          uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
  events_of(user).message(EventKind::kMessageReceived, time, list, peer, comm, tag, bytes, kNoRequest);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_collective_end(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user, OTF2_AttributeList*,
                                    OTF2_CollectiveOp, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                    uint64_t received) {
  events_of(user).collective(comm, root, sent, received);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_parameter_value(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                     OTF2_AttributeList* list, OTF2_ParameterRef self, uint64_t value) {
  events_of(user).parameter(time, list, self, value);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_parameter_string(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                      OTF2_AttributeList*, OTF2_ParameterRef self, OTF2_StringRef name) {
  events_of(user).phase(time, self, name);
  return OTF2_CALLBACK_SUCCESS;
}

// Requests: of Fathom's archives numbers are as recorded, and a receive was told of when it arrived.
template <bool kOwn>
struct Requests {
  static std::uint64_t number(std::uint64_t id) { return kOwn ? id : request_of(id); }

  static OTF2_CallbackCode on_isend(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                    OTF2_AttributeList* list, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                    uint64_t bytes, uint64_t id) {
    events_of(user).message(EventKind::kMessageSent, time, list, peer, comm, tag, bytes, kOwn ? kNoRequest : number(id));
    if (!kOwn) events_of(user).request_made(number(id));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_irecv(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                    OTF2_AttributeList* list, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                    uint64_t bytes, uint64_t id) {
    if (!kOwn) {
      events_of(user).message(EventKind::kMessageReceived, time, list, peer, comm, tag, bytes, number(id));
    }
    events_of(user).completed(time, list, number(id), false);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_made(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user, OTF2_AttributeList*,
                                   uint64_t id) {
    if (!kOwn) events_of(user).request_made(number(id));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_complete(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                       OTF2_AttributeList* list, uint64_t id) {
    events_of(user).completed(time, list, number(id), false);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_cancelled(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                        OTF2_AttributeList* list, uint64_t id) {
    events_of(user).completed(time, list, number(id), true);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_collective_complete(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                                  OTF2_AttributeList* list, OTF2_CollectiveOp, OTF2_CommRef,
                                                  uint32_t, uint64_t, uint64_t, uint64_t id) {
    events_of(user).completed(time, list, number(id), false);
    return OTF2_CALLBACK_SUCCESS;
  }

  static void set(OTF2_EvtReaderCallbacks* callbacks) {
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_made);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, on_made);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_complete);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, on_collective_complete);
  }
};

// ---- the whole ----

class Import {
 public:
  explicit Import(const std::string& path) : path_(path) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
      if (entry.path().extension() == ".otf2") path_ = entry.path().string();
    }
  }
  ~Import() {
    if (reader_) OTF2_Reader_Close(reader_);
  }

  base::Status run(const std::string& run_directory, std::vector<std::string>& notes) {
    Otf2Errors::listen();
    reader_ = OTF2_Reader_Open(path_.c_str());
    if (!reader_ || OTF2_Reader_SetSerialCollectiveCallbacks(reader_) != OTF2_SUCCESS) return error();
    properties();
    if (!definitions()) return error();
    auto plan = Planner(archive_, properties_).plan();
    if (!plan) return base::Error{"'" + path_ + "' cannot be imported: " + plan.error().message};
    auto writer = TraceWriter::create(run_directory, plan->definitions);
    if (!writer) return writer.error();
    if (!events(*plan, *writer)) {
      notes.push_back("'" + path_ + "' is damaged; what could be read was imported (" + Otf2Errors::last() + ")");
    }
    if (plan->other_regions > 0 && !plan->own) {
      notes.push_back(std::to_string(plan->other_regions) +
                      " regions are no MPI functions; a Fathom trace holds MPI calls only, and they were left out");
    }
    if (unknown_comms_ > 0) {
      notes.push_back(std::to_string(unknown_comms_) + " messages on communicators that are not defined were left out");
    }
    return writer->finish();
  }

 private:
  base::Error error() const { return {"'" + path_ + "' cannot be read as an OTF2 archive: " + Otf2Errors::last()}; }

  void properties() {
    std::uint32_t count = 0;
    char** names = nullptr;
    if (OTF2_Reader_GetPropertyNames(reader_, &count, &names) != OTF2_SUCCESS) return;
    for (std::uint32_t index = 0; index < count; ++index) {
      char* value = nullptr;
      if (OTF2_Reader_GetProperty(reader_, names[index], &value) == OTF2_SUCCESS && value) {
        properties_[names[index]] = value;
      }
      std::free(value);
    }
    std::free(names);
  }

  bool definitions() {
    OTF2_GlobalDefReader* reader = OTF2_Reader_GetGlobalDefReader(reader_);
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
    OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_location_group);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks, on_group_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
    bool good = reader && OTF2_Reader_RegisterGlobalDefCallbacks(reader_, reader, callbacks, &archive_) == OTF2_SUCCESS;
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    std::uint64_t read = 0;
    good = good && OTF2_Reader_ReadAllGlobalDefinitions(reader_, reader, &read) == OTF2_SUCCESS;
    if (reader) OTF2_Reader_CloseGlobalDefReader(reader_, reader);
    return good;
  }

  // Location by location, so that one file is open at a time.
  bool events(const Plan& plan, TraceWriter& writer) {
    for (const auto& [location, place] : plan.places) OTF2_Reader_SelectLocation(reader_, location);
    const bool has_local = OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS;
    if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS) return false;
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective_end);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, on_parameter_value);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(callbacks, on_parameter_string);
    if (plan.own) {
      Requests<true>::set(callbacks);
    } else {
      Requests<false>::set(callbacks);
    }
    bool good = true;
    for (const auto& [location, place] : plan.places) {
      if (has_local) local_definitions(location);
      good &= read_location(location, place, plan, writer, callbacks);
    }
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    if (has_local) OTF2_Reader_CloseDefFiles(reader_);
    OTF2_Reader_CloseEvtFiles(reader_);
    return good;
  }

  // They map the location's own numbers to the global ones, and its clock.
  void local_definitions(std::uint64_t location) {
    OTF2_DefReader* reader = OTF2_Reader_GetDefReader(reader_, location);
    if (!reader) return;
    std::uint64_t read = 0;
    OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read);
    OTF2_Reader_CloseDefReader(reader_, reader);
  }

  bool read_location(std::uint64_t location, const Place& place, const Plan& plan, TraceWriter& writer,
                     const OTF2_EvtReaderCallbacks* callbacks) {
    OTF2_EvtReader* reader = OTF2_Reader_GetEvtReader(reader_, location);
    if (!reader) return false;
    LocationEvents events(archive_, plan, writer, place);
    bool good = OTF2_Reader_RegisterEvtCallbacks(reader_, reader, callbacks, &events) == OTF2_SUCCESS;
    std::uint64_t read = 0;
    good = good && OTF2_Reader_ReadAllLocalEvents(reader_, reader, &read) == OTF2_SUCCESS;
    events.finish();
    unknown_comms_ += events.unknown_comms();
    OTF2_Reader_CloseEvtReader(reader_, reader);
    return good;
  }

  std::string path_;
  OTF2_Reader* reader_ = nullptr;
  Archive archive_;
  std::map<std::string, std::string> properties_;
  std::uint64_t unknown_comms_ = 0;
};

}  // namespace

base::Status import_otf2(const std::string& path, const std::string& run_directory, std::vector<std::string>& notes) {
  return Import(path).run(run_directory, notes);
}

}  // namespace fathom::trace
