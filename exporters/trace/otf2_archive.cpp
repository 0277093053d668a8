// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/otf2_archive.h"

#include <otf2/otf2.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/utf8.h"
#include "trace/attributes.h"
#include "trace/fields.h"
#include "trace/otf2/errors.h"
#include "trace/otf2/names.h"

namespace fathom::exporters {
namespace {

constexpr std::uint64_t kChunkBytes = 1 << 20;  // of events, held in memory before they are written
constexpr std::uint64_t kDefinitionChunkBytes = 4 << 20;

OTF2_FlushType flush_when_full(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
constexpr OTF2_FlushCallbacks kFlush = {flush_when_full, nullptr};

std::uint64_t location_of(std::int64_t rank, std::uint32_t thread) {
  return static_cast<std::uint64_t>(thread) << 32 | static_cast<std::uint32_t>(rank);
}

OTF2_RegionRole role_of(const trace::Function& function) {
  switch (function.group) {
    case trace::Group::kSend:
    case trace::Group::kReceive:
    case trace::Group::kSendReceive: return OTF2_REGION_ROLE_POINT2POINT;
    case trace::Group::kOneSided: return OTF2_REGION_ROLE_RMA;
    case trace::Group::kIo: return OTF2_REGION_ROLE_FILE_IO;
    case trace::Group::kCollective: break;
    default: return OTF2_REGION_ROLE_WRAPPER;
  }
  switch (mpi::flow_of(mpi::meaning_of(function.name).collective)) {
    case mpi::Flow::kBarrier: return OTF2_REGION_ROLE_BARRIER;
    case mpi::Flow::kFromRoot: return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case mpi::Flow::kToRoot: return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case mpi::Flow::kPrefix: return OTF2_REGION_ROLE_COLL_OTHER;
    default: return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
}

}  // namespace

struct Otf2Archive::State {
  explicit State(const trace::Definitions& all) : definitions(all), groups(all) {}

  struct Location {
    std::int64_t rank = 0;
    std::uint32_t thread = 0;
    std::uint64_t events = 0;
    bool silent = false;
  };

  const trace::Definitions& definitions;
  std::string path, temporary;
  bool force = false;
  OTF2_Archive* archive = nullptr;
  Otf2Groups groups;
  std::map<std::uint64_t, Location> locations;
  std::unordered_map<std::string, std::uint32_t> strings;
  std::vector<std::string> strings_before;  // made before there was a definition writer
  OTF2_GlobalDefWriter* definition_writer = nullptr;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::uint32_t>
      twins;  // (communicator, class) -> OTF2's
  std::map<std::pair<std::int32_t, std::uint32_t>, std::uint32_t> windows;
  std::vector<std::uint32_t> functions;        // by region
  std::vector<std::uint32_t> region_plus_one;  // by function; 0: it did not occur
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      source_code_locations;  // (string of the file, line) -> OTF2's
  std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;
  bool failed = false;

  // A string must be defined before the first definition that refers to it.
  void define_string(std::uint32_t self, const std::string& text) {
    if (!definition_writer) {
      strings_before.push_back(text);
    } else {
      check(OTF2_GlobalDefWriter_WriteString(definition_writer, self, text.c_str()));
    }
  }
  void check(OTF2_ErrorCode code) { failed = failed || code != OTF2_SUCCESS; }
  base::Error error(const std::string& what) const {
    return {"cannot write the OTF2 archive '" + path + "': " + what};
  }
};

Otf2Archive::Otf2Archive(std::unique_ptr<State> state) : state_(std::move(state)) {}

Otf2Archive::~Otf2Archive() {
  if (state_->archive) OTF2_Archive_Close(state_->archive);
  std::error_code ignored;
  if (!state_->temporary.empty()) std::filesystem::remove_all(state_->temporary, ignored);
}

base::Result<std::unique_ptr<Otf2Archive>> Otf2Archive::create(
    const std::string& path, bool force, const trace::Definitions& definitions) {
  auto state = std::make_unique<State>(definitions);
  state->path = path;
  state->force = force;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    const bool archive = std::filesystem::exists(path + "/traces.otf2", ignored);
    if (!force || !archive) {
      return state->error(archive
                              ? "it exists already; name another place, or replace it with --force"
                              : "there is something else of that name");
    }
  }
  trace::Otf2Errors::listen();
  state->temporary = path + ".part-" + std::to_string(::getpid());
  state->archive =
      OTF2_Archive_Open(state->temporary.c_str(), "traces", OTF2_FILEMODE_WRITE, kChunkBytes,
                        kDefinitionChunkBytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (!state->archive) return state->error(trace::Otf2Errors::last());
  state->check(OTF2_Archive_SetFlushCallbacks(state->archive, &kFlush, nullptr));
  state->check(OTF2_Archive_SetSerialCollectiveCallbacks(state->archive));
  state->check(OTF2_Archive_SetCreator(state->archive, "Fathom"));
  state->check(OTF2_Archive_OpenEvtFiles(state->archive));
  if (state->failed) return state->error(trace::Otf2Errors::last());
  return std::unique_ptr<Otf2Archive>(new Otf2Archive(std::move(state)));
}

OTF2_EvtWriter* Otf2Archive::events_of(std::int64_t rank, std::uint32_t thread) {
  const std::uint64_t location = location_of(rank, thread);
  state_->locations.try_emplace(location, State::Location{rank, thread});
  return OTF2_Archive_GetEvtWriter(state_->archive, location);
}

void Otf2Archive::close_events(std::int64_t rank, std::uint32_t thread) {
  OTF2_EvtWriter* writer = events_of(rank, thread);
  if (!writer) {
    state_->failed = true;
    return;
  }
  state_->check(OTF2_EvtWriter_GetNumberOfEvents(
      writer, &state_->locations[location_of(rank, thread)].events));
  state_->check(OTF2_Archive_CloseEvtWriter(state_->archive, writer));
}

// Communicators are lists of locations, so each rank has one; readers require a file for each.
void Otf2Archive::add_silent_ranks() {
  for (std::int64_t rank = 0; rank < state_->groups.locations(); ++rank) {
    if (!state_->locations.contains(location_of(rank, 0))) add_silent(rank);
  }
}

// libotf2 3.0 keeps reading the freed memory of a location that has no event, so this adds one.
void Otf2Archive::add_silent(std::int64_t rank) {
  OTF2_EvtWriter* writer = events_of(rank, 0);
  state_->locations[location_of(rank, 0)].silent = true;
  const std::uint64_t time_ns = std::min(state_->first_ns, state_->last_ns);
  if (writer) {
    state_->check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, time_ns, OTF2_MEASUREMENT_OFF));
  }
  close_events(rank, 0);
}

Otf2Groups& Otf2Archive::groups() { return state_->groups; }

std::uint32_t Otf2Archive::string(std::string_view text) {
  const auto [entry, is_new] = state_->strings.try_emplace(
      base::as_utf8(text), static_cast<std::uint32_t>(state_->strings.size()));
  if (is_new) state_->define_string(entry->second, entry->first);
  return entry->second;
}

std::uint32_t Otf2Archive::region(std::uint32_t function) {
  if (function >= state_->region_plus_one.size()) state_->region_plus_one.resize(function + 1);
  std::uint32_t& plus_one = state_->region_plus_one[function];
  if (plus_one == 0) {
    state_->functions.push_back(function);
    plus_one = static_cast<std::uint32_t>(state_->functions.size());
  }
  return plus_one - 1;
}

std::uint32_t Otf2Archive::source_code_location(const std::string& file, std::uint32_t line) {
  const auto next = static_cast<std::uint32_t>(state_->source_code_locations.size());
  return state_->source_code_locations.try_emplace({string(file), line}, next).first->second;
}

std::uint32_t Otf2Archive::communicator(std::int32_t communicator, std::uint32_t message_class) {
  const auto known = static_cast<std::uint32_t>(state_->definitions.communicators.size());
  if (communicator < 0 || static_cast<std::uint32_t>(communicator) >= known)
    return OTF2_UNDEFINED_COMM;
  const auto& classes = state_->definitions.classes;
  if (message_class >= classes.size() || classes[message_class] == profile::kPointToPoint) {
    return static_cast<std::uint32_t>(communicator);
  }
  const auto next = known + static_cast<std::uint32_t>(state_->twins.size());
  return state_->twins.try_emplace({communicator, message_class}, next).first->second;
}

std::uint32_t Otf2Archive::window(std::int32_t communicator, std::uint32_t ordinal) {
  const auto next = static_cast<std::uint32_t>(state_->windows.size());
  return state_->windows.try_emplace({communicator, ordinal}, next).first->second;
}

void Otf2Archive::saw_time(std::uint64_t time_ns) {
  state_->first_ns = std::min(state_->first_ns, time_ns);
  state_->last_ns = std::max(state_->last_ns, time_ns);
}

namespace {

// Writes the global definitions, each after those that it refers to.
class DefinitionWriter {
 public:
  DefinitionWriter(Otf2Archive& names, Otf2Archive::State& state, OTF2_GlobalDefWriter* writer)
      : names_(names), state_(state), all_(state.definitions), writer_(writer) {}

  void write() {
    clock();
    strings();
    paradigm();
    attributes();
    parameters();
    system_tree();
    locations();
    regions();
    source_code_locations();
    groups();
    communicators();
    windows();
  }

 private:
  void clock() {
    const std::uint64_t first = std::min(state_.first_ns, state_.last_ns);
    state_.check(OTF2_GlobalDefWriter_WriteClockProperties(
        writer_, 1'000'000'000, first, state_.last_ns - first + 1, all_.epoch_unix_ns + first));
  }

  void paradigm() {
    state_.check(OTF2_GlobalDefWriter_WriteParadigm(
        writer_, OTF2_PARADIGM_MPI, names_.string("MPI"), OTF2_PARADIGM_CLASS_PROCESS));
  }

  void attribute(std::uint32_t self, const std::string& name, OTF2_Type type) {
    state_.check(OTF2_GlobalDefWriter_WriteAttribute(
        writer_, self, names_.string(std::string(trace::kOtf2Prefix) + name), names_.string(""),
        type));
  }

  void attributes() {
    std::uint32_t self = 0;
    for (const trace::Field& field : trace::fields()) {
      attribute(self++, trace::name_of(field.attribute),
                field.is_unsigned ? OTF2_TYPE_UINT64 : OTF2_TYPE_INT32);
    }
    for (const trace::Otf2AttributeName& row : trace::kOtf2Attributes)
      attribute(self++, row.name, type_of(row.attribute));
  }

  static OTF2_Type type_of(trace::Otf2Attribute attribute) {
    switch (attribute) {
      case trace::Otf2Attribute::kCaller: return OTF2_TYPE_STRING;
      case trace::Otf2Attribute::kSource: return OTF2_TYPE_SOURCE_CODE_LOCATION;
      case trace::Otf2Attribute::kFunction: return OTF2_TYPE_REGION;
      default: return OTF2_TYPE_UINT64;
    }
  }

  void parameters() {
    for (const trace::Otf2ParameterName& row : trace::kOtf2Parameters) {
      const bool text = row.parameter == trace::Otf2Parameter::kPhaseBegin ||
                        row.parameter == trace::Otf2Parameter::kPhaseEnd;
      state_.check(OTF2_GlobalDefWriter_WriteParameter(
          writer_, static_cast<std::uint32_t>(row.parameter),
          names_.string(std::string(trace::kOtf2Prefix) + row.name),
          text ? OTF2_PARAMETER_TYPE_STRING : OTF2_PARAMETER_TYPE_UINT64));
    }
  }

  void system_tree() {
    state_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, 0, names_.string("machine"),
                                                          names_.string("machine"),
                                                          OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (const trace::Process& process : all_.processes) host(process.host);
  }

  std::uint32_t host(const std::string& name) {
    const auto [entry, is_new] =
        hosts_.try_emplace(name, static_cast<std::uint32_t>(hosts_.size() + 1));
    if (is_new) {
      state_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(
          writer_, entry->second, names_.string(profile::shown_host(name)), names_.string("node"),
          0));
    }
    return entry->second;
  }

  void locations() {
    const Otf2Groups& groups = state_.groups;
    std::vector<const trace::Process*> by_rank(static_cast<std::size_t>(groups.locations()),
                                               nullptr);
    for (const trace::Process& process : all_.processes)
      by_rank[static_cast<std::size_t>(process.rank)] = &process;
    for (std::int64_t rank = 0; rank < groups.locations(); ++rank) {
      const trace::Process* process = by_rank[static_cast<std::size_t>(rank)];
      const auto group = static_cast<std::uint32_t>(rank);
      const std::string name = rank < groups.ranks() ? "rank " + std::to_string(rank)
                                                     : std::string(trace::kOtf2UnknownRank);
      state_.check(OTF2_GlobalDefWriter_WriteLocationGroup(
          writer_, group, names_.string(name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
          host(process ? process->host : ""), OTF2_UNDEFINED_LOCATION_GROUP));
      if (process) process_properties(group, *process);
    }
    for (const auto& [id, location] : state_.locations) {
      const trace::Process* process = by_rank[static_cast<std::size_t>(location.rank)];
      std::string name =
          location.thread == 0 ? "main thread" : "thread " + std::to_string(location.thread);
      if (process && location.thread < process->threads.size() &&
          !process->threads[location.thread].empty()) {
        name = process->threads[location.thread];
      }
      if (location.silent) name = trace::kOtf2NoEvents;
      state_.check(OTF2_GlobalDefWriter_WriteLocation(
          writer_, id, names_.string(name), OTF2_LOCATION_TYPE_CPU_THREAD, location.events,
          static_cast<std::uint32_t>(location.rank)));
    }
  }

  void process_properties(std::uint32_t group, const trace::Process& process) {
    const auto property = [&](const char* name, OTF2_Type type, OTF2_AttributeValue value) {
      state_.check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(
          writer_, group, names_.string(std::string(trace::kOtf2Prefix) + name), type, value));
    };
    OTF2_AttributeValue value;
    value.int64 = process.pid;
    property("pid", OTF2_TYPE_INT64, value);
    value.int32 = process.socket;
    property("socket", OTF2_TYPE_INT32, value);
    value.int32 = process.numa_node;
    property("numa", OTF2_TYPE_INT32, value);
    value.stringRef = names_.string(process.affinity);
    property("affinity", OTF2_TYPE_STRING, value);
    value.uint64 = process.lost_records;
    property("lost_records", OTF2_TYPE_UINT64, value);
  }

  void regions() {
    for (std::uint32_t self = 0; self < state_.functions.size(); ++self) {
      const std::uint32_t function = state_.functions[self];
      const trace::Function& row = all_.functions[function];
      const auto name = names_.string(row.name);
      const std::string line = trace::function_line({function, row});
      state_.check(OTF2_GlobalDefWriter_WriteRegion(
          writer_, self, name, name, names_.string(line), role_of(row), OTF2_PARADIGM_MPI,
          OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
    }
  }

  void source_code_locations() {
    for (const auto& [self, place] : by_self(state_.source_code_locations)) {
      state_.check(
          OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer_, self, place.first, place.second));
    }
  }

  void group(std::uint32_t self, const std::string& name, OTF2_GroupType type,
             const std::vector<std::uint64_t>& members) {
    state_.check(OTF2_GlobalDefWriter_WriteGroup(
        writer_, self, names_.string(name), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
        static_cast<std::uint32_t>(members.size()), members.data()));
  }

  // Group 0: all locations. Group 1: the communicators of which each process has its own.
  void groups() {
    const Otf2Groups& groups = state_.groups;
    std::vector<std::uint64_t> all;
    for (std::int64_t rank = 0; rank < groups.locations(); ++rank) {
      all.push_back(location_of(rank, 0));
    }
    group(0, "", OTF2_GROUP_TYPE_COMM_LOCATIONS, all);
    group(1, "", OTF2_GROUP_TYPE_COMM_SELF, {});
    std::uint32_t next = 2;
    for (std::size_t self = 0; self < all_.communicators.size(); ++self) {
      groups_.push_back(groups.is_self(self) ? 1 : next++);
      if (groups.is_self(self)) continue;
      group(groups_.back(), all_.communicators[self].made_by, OTF2_GROUP_TYPE_COMM_GROUP,
            groups.members(self));
    }
  }

  // Definitions are written in the order of their numbers.
  template <typename Key>
  static std::map<std::uint32_t, Key> by_self(const std::map<Key, std::uint32_t>& numbers) {
    std::map<std::uint32_t, Key> sorted;
    for (const auto& [key, self] : numbers) sorted.emplace(self, key);
    return sorted;
  }

  void one_communicator(std::uint32_t self, std::size_t position, const std::string& name,
                        std::uint32_t parent) {
    state_.check(OTF2_GlobalDefWriter_WriteComm(writer_, self, names_.string(name),
                                                groups_[position], parent, OTF2_COMM_FLAG_NONE));
  }

  void communicators() {
    std::vector<bool> defined(all_.communicators.size());
    for (const std::size_t self : parents_first(all_.communicators)) {
      const auto parent = static_cast<std::size_t>(all_.communicators[self].parent);
      const bool known = parent < defined.size() && defined[parent];
      one_communicator(static_cast<std::uint32_t>(self), self,
                       communicator_name(all_, static_cast<std::int32_t>(self)),
                       known ? static_cast<std::uint32_t>(parent) : OTF2_UNDEFINED_COMM);
      defined[self] = true;
    }
    for (const auto& [self, key] : by_self(state_.twins)) {
      const auto [communicator, message_class] = key;
      one_communicator(
          self, static_cast<std::size_t>(communicator),
          trace::otf2_twin_name(communicator_name(all_, communicator), all_.classes[message_class],
                                all_.class_hidden[message_class]),
          static_cast<std::uint32_t>(communicator));
    }
  }

  void windows() {
    for (const auto& [self, key] : by_self(state_.windows)) {
      const std::string name =
          "window " + std::to_string(key.second) + " on " + communicator_name(all_, key.first);
      state_.check(OTF2_GlobalDefWriter_WriteRmaWin(
          writer_, self, names_.string(name), names_.communicator(key.first, ~std::uint32_t{0}),
          OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
  }

  void strings() {
    state_.definition_writer = writer_;
    for (std::size_t self = 0; self < state_.strings_before.size(); ++self) {
      state_.define_string(static_cast<std::uint32_t>(self), state_.strings_before[self]);
    }
  }

  Otf2Archive& names_;
  Otf2Archive::State& state_;
  const trace::Definitions& all_;
  OTF2_GlobalDefWriter* writer_;
  std::unordered_map<std::string, std::uint32_t> hosts_;
  std::vector<std::uint32_t> groups_;  // by communicator
};

// Every location needs a file of local definitions, although all definitions here are global.
void write_local_definitions(Otf2Archive::State& state) {
  state.check(OTF2_Archive_OpenDefFiles(state.archive));
  for (const auto& [id, location] : state.locations) {
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(state.archive, id);
    state.check(writer ? OTF2_Archive_CloseDefWriter(state.archive, writer) : OTF2_ERROR_INVALID);
  }
  state.check(OTF2_Archive_CloseDefFiles(state.archive));
}

}  // namespace

base::Status Otf2Archive::finish() {
  add_silent_ranks();
  state_->check(OTF2_Archive_CloseEvtFiles(state_->archive));
  OTF2_GlobalDefWriter* writer = OTF2_Archive_GetGlobalDefWriter(state_->archive);
  if (!writer) return state_->error(trace::Otf2Errors::last());
  DefinitionWriter(*this, *state_, writer).write();
  write_local_definitions(*state_);
  const trace::Definitions& all = state_->definitions;
  const auto property = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    state_->check(
        OTF2_Archive_SetProperty(state_->archive, name, base::as_utf8(value).c_str(), true));
  };
  property("FATHOM::WORLD_SIZE", std::to_string(all.world_size));
  property("FATHOM::EPOCH_UNIX_NS", std::to_string(all.epoch_unix_ns));
  property("FATHOM::LEVEL", all.level);
  property("FATHOM::SOURCE", all.source);
  property("FATHOM::EXECUTABLE", all.application.executable);
  std::string classes, phases;
  for (std::size_t row = 0; row < all.classes.size(); ++row) {
    classes += (row ? "|" : "") + all.classes[row] + (all.class_hidden[row] ? "*" : "");
  }
  for (std::size_t row = 0; row < all.phases.size(); ++row)
    phases += (row ? "|" : "") + all.phases[row];
  property("FATHOM::COMMUNICATORS", state_->groups.property());
  property("FATHOM::CLASSES", classes);
  property("FATHOM::PHASES", phases);
  state_->check(OTF2_Archive_Close(std::exchange(state_->archive, nullptr)));
  if (state_->failed) return state_->error(trace::Otf2Errors::last());

  std::error_code failed;
  if (state_->force) std::filesystem::remove_all(state_->path, failed);
  std::filesystem::rename(state_->temporary, state_->path, failed);
  if (failed) return state_->error(failed.message());
  state_->temporary.clear();
  return base::Done{};
}

}  // namespace fathom::exporters
