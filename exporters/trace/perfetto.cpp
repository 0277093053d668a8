// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/perfetto.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "exporters/common/text_file.h"
#include "exporters/trace/protobuf.h"
#include "trace/attributes.h"
#include "trace/code/call_site_names.h"
#include "trace/fields.h"

namespace fathom::exporters {
namespace {

using trace::Attribute;
using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Message;
using trace::Place;

// Field numbers of the protobuf messages written here.
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // bits of kSequenceFlags
}  // namespace packet
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5;
constexpr std::uint32_t kProcessPid = 1, kProcessName = 6;
constexpr std::uint32_t kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
}  // namespace track
namespace event {
constexpr std::uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11, kSourceId = 34,
                        kFlow = 47, kLastFlow = 48;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3;  // values of kType
}  // namespace event
namespace annotation {
constexpr std::uint32_t kNameId = 1, kUnsigned = 3, kSigned = 4;
}  // namespace annotation
namespace interned {
constexpr std::uint32_t kEventNames = 2, kAnnotationNames = 3, kSources = 4, kId = 1, kName = 2;
}  // namespace interned
namespace source {
constexpr std::uint32_t kId = 1, kFile = 2, kFunction = 3, kLine = 4;
}  // namespace source

// Assigns overlapping slices to tracks: each slice goes to a track that is free.
class Lanes {
 public:
  // Call it in the order in which slices end. Returns the lane and whether it is new.
  std::pair<std::uint32_t, bool> take(std::uint64_t begin, std::uint64_t end) {
    auto free = free_at_.upper_bound({begin, ~std::uint32_t{0}});
    if (free == free_at_.begin()) {
      free_at_.emplace(end, count_);
      return {count_++, true};
    }
    --free;
    const std::uint32_t lane = free->second;
    free_at_.erase(free);
    free_at_.emplace(end, lane);
    return {lane, false};
  }

 private:
  std::set<std::pair<std::uint64_t, std::uint32_t>> free_at_;
  std::uint32_t count_ = 0;
};

class PerfettoVisitor : public trace::Visitor {
 public:
  PerfettoVisitor(TextFile& file, const trace::Definitions& definitions,
                  const TraceOptions& options)
      : file_(file),
        all_(definitions),
        options_(options),
        sites_(definitions),
        thread_stride_(static_cast<std::uint64_t>(rank_count(definitions)) + 1) {
    for (const trace::Function& function : all_.functions) names_.push_back(function.name);
    first_class_ = names_.size();
    names_.insert(names_.end(), all_.classes.begin(), all_.classes.end());
    first_phase_ = names_.size();
    names_.insert(names_.end(), all_.phases.begin(), all_.phases.end());
    first_kind_ = names_.size();
    for (int kind = 0; kind <= static_cast<int>(trace::kLastEventKind); ++kind) {
      names_.emplace_back(kind_name(static_cast<EventKind>(kind)));
    }
    names_.emplace_back("unknown");
  }

  void begin() {
    intern();
    for (const trace::Process& process : all_.processes) {
      Protobuf who, descriptor;
      who.varint(track::kProcessPid, pid(process.rank));
      who.text(track::kProcessName, process_name(process));
      descriptor.varint(track::kUuid, process_track(process.rank));
      descriptor.message(track::kProcess, who);
      describe(descriptor);
    }
  }

  void enter(const Place& place, const Call& call) override {
    const std::uint64_t uuid = thread_track(place), source = source_id(place, call.enter.site);
    start(event::kBegin, uuid, call_name(call));
    if (source != kNoName) event_.varint(event::kSourceId, source);
    if (call.enter.function < all_.functions.size()) {
      annotate(call.enter, all_.functions[call.enter.function].enter);
    }
    put(call.enter.time_ns);
  }

  void leave(const Place& place, const Call& call) override {
    start(event::kEnd, thread_track(place), kNoName);
    if (call.enter.function < all_.functions.size()) {
      annotate(call.leave, all_.functions[call.enter.function].leave);
    }
    put(call.leave.time_ns);
  }

  void message(const Place& place, const Message& message) override {
    if (!options_.wants(message)) return;
    const bool sent = message.event.kind == EventKind::kMessageSent;
    start(event::kInstant, thread_track(place), kind_id(message.event.kind));
    event_.fixed64(sent ? event::kFlow : event::kLastFlow, message.id);
    annotate(message.event,
             {Attribute::kPeer, Attribute::kTag, Attribute::kBytes, Attribute::kCommunicator});
    put(message.event.time_ns);
  }

  void transfer(const trace::Transfer& transfer) override {
    const bool hidden = is_hidden(all_, transfer.sent.message_class);
    if (hidden ? !options_.hidden : !options_.user) return;
    const std::uint64_t begin_ns = transfer.sent.time_ns;
    const std::uint64_t end_ns = std::max(begin_ns, transfer.received.time_ns);
    const auto [lane, is_new] = lanes_[transfer.key.destination].take(begin_ns, end_ns);
    const std::uint64_t uuid = side_track(transfer.key.destination, lane);
    if (is_new) side_track_descriptor(uuid, transfer.key.destination, "messages");
    Event shown;
    shown.peer = transfer.key.source;
    shown.tag = transfer.key.tag;
    shown.bytes = transfer.sent.bytes;
    shown.communicator = transfer.key.communicator;
    start(event::kBegin, uuid, class_id(transfer.sent.message_class));
    annotate(shown,
             {Attribute::kPeer, Attribute::kTag, Attribute::kBytes, Attribute::kCommunicator});
    put(begin_ns);
    start(event::kEnd, uuid, kNoName);
    put(end_ns);
  }

  void other(const Place& place, const Event& event) override {
    switch (event.kind) {
      case EventKind::kPhaseBegin:
      case EventKind::kPhaseEnd: return phase(place, event);
      case EventKind::kLost:
      case EventKind::kPause:
      case EventKind::kResume:
        start(event::kInstant, thread_track(place), kind_id(event.kind));
        annotate(event, {Attribute::kCount});
        return put(event.time_ns);
      default: return;
    }
  }

 private:
  static constexpr std::uint64_t kNoName = 0;
  static constexpr std::uint32_t kPhaseLane = 0x3fffffff;
  static constexpr std::uint64_t kSequence = 1;

  static std::uint64_t pid(std::int64_t rank) { return static_cast<std::uint64_t>(rank) + 1; }
  static std::uint64_t process_track(std::int64_t rank) { return pid(rank); }
  static std::uint64_t side_track(std::int64_t rank, std::uint32_t lane) {
    return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(lane) << 32 | pid(rank);
  }

  std::uint64_t thread_track(const Place& place) {
    const std::uint64_t uuid = static_cast<std::uint64_t>(place.thread + 1) << 32 | pid(place.rank);
    if (!described_.insert(uuid).second) return uuid;
    const auto& names = all_.processes[place.process].threads;
    Protobuf who, descriptor;
    who.varint(track::kThreadPid, pid(place.rank));
    who.varint(track::kThreadTid, pid(place.rank) + place.thread * thread_stride_);
    if (place.thread < names.size() && !names[place.thread].empty()) {
      who.text(track::kThreadName, names[place.thread]);
    } else {
      who.text(track::kThreadName,
               place.thread == 0 ? "MPI" : "thread " + std::to_string(place.thread));
    }
    descriptor.varint(track::kUuid, uuid);
    descriptor.message(track::kThread, who);
    describe(descriptor);
    return uuid;
  }

  void side_track_descriptor(std::uint64_t uuid, std::int64_t rank, std::string_view name) {
    Protobuf descriptor;
    descriptor.varint(track::kUuid, uuid);
    descriptor.varint(track::kParent, process_track(rank));
    descriptor.text(track::kName, name);
    describe(descriptor);
  }

  void phase(const Place& place, const Event& event) {
    const std::uint64_t uuid = side_track(place.rank, kPhaseLane);
    if (described_.insert(uuid).second) side_track_descriptor(uuid, place.rank, "phases");
    const bool is_begin = event.kind == EventKind::kPhaseBegin;
    start(is_begin ? event::kBegin : event::kEnd, uuid, is_begin ? phase_id(event.code) : kNoName);
    put(event.time_ns);
  }

  // Ids of interned names count from 1.
  std::uint64_t unknown_id() const { return names_.size(); }
  std::uint64_t call_name(const Call& call) const {
    return call.enter.function < all_.functions.size() ? call.enter.function + 1 : unknown_id();
  }
  std::uint64_t class_id(std::uint32_t message_class) const {
    return message_class < all_.classes.size() ? first_class_ + message_class + 1 : unknown_id();
  }
  std::uint64_t phase_id(std::uint32_t phase) const {
    return phase < all_.phases.size() ? first_phase_ + phase + 1 : unknown_id();
  }
  std::uint64_t kind_id(EventKind kind) const {
    return first_kind_ + static_cast<std::size_t>(kind) + 1;
  }

  // The number of the place that makes a call, which a packet of its own defines at its first call;
  // kNoName if it is not known.
  std::uint64_t source_id(const Place& place, std::uint64_t address) {
    const std::uint32_t number = sites_.number_of(place.process, address);
    if (number == trace::CallSiteNames::kNone) return kNoName;
    const std::uint64_t id = std::uint64_t{number} + 1;
    if (number < sources_) return id;
    sources_ = number + 1;
    const trace::CodeSite& site = sites_[number];
    Protobuf where, list;
    where.varint(source::kId, id);
    where.text(source::kFile, trace::file_or_module(site));
    if (!site.function.empty()) where.text(source::kFunction, site.function);
    if (site.line > 0) where.varint(source::kLine, static_cast<std::uint64_t>(site.line));
    list.message(interned::kSources, where);
    packet_.clear();
    packet_.varint(packet::kSequence, kSequence);
    packet_.varint(packet::kSequenceFlags, packet::kNeedsState);
    packet_.message(packet::kInterned, list);
    write_packet();
    return id;
  }

  // Writes the first packet of the sequence: every name that later ones refer to by number, but
  // places in the program, which source_id() adds.
  void intern() {
    Protobuf names;
    const auto add = [&](std::uint32_t list, std::uint64_t id, std::string_view name) {
      Protobuf entry;
      entry.varint(interned::kId, id);
      entry.text(interned::kName, name);
      names.message(list, entry);
    };
    for (std::size_t name = 0; name < names_.size(); ++name)
      add(interned::kEventNames, name + 1, names_[name]);
    for (const trace::Field& field : trace::fields()) {
      add(interned::kAnnotationNames, static_cast<std::uint64_t>(field.attribute),
          trace::name_of(field.attribute));
    }
    packet_.clear();
    packet_.varint(packet::kSequence, kSequence);
    packet_.varint(packet::kSequenceFlags, packet::kStateCleared);
    packet_.message(packet::kInterned, names);
    write_packet();
  }

  void describe(const Protobuf& descriptor) {
    packet_.clear();
    packet_.varint(packet::kSequence, kSequence);
    packet_.message(packet::kTrackDescriptor, descriptor);
    write_packet();
  }

  void start(std::uint64_t type, std::uint64_t uuid, std::uint64_t name) {
    event_.clear();
    event_.varint(event::kType, type);
    event_.varint(event::kTrack, uuid);
    if (name != kNoName) event_.varint(event::kNameId, name);
  }

  template <typename Attributes>
  void annotate_all(const Event& event, const Attributes& wanted) {
    for (const Attribute attribute : wanted) {
      const trace::Field* field = trace::field_of(attribute);
      if (!field || !trace::is_set(event, attribute)) continue;
      annotation_.clear();
      annotation_.varint(annotation::kNameId, static_cast<std::uint64_t>(attribute));
      annotation_.varint(field->is_unsigned ? annotation::kUnsigned : annotation::kSigned,
                         trace::get_field(event, attribute));
      event_.message(event::kAnnotation, annotation_);
    }
  }
  void annotate(const Event& event, const std::vector<Attribute>& wanted) {
    annotate_all(event, wanted);
  }
  void annotate(const Event& event, std::initializer_list<Attribute> wanted) {
    annotate_all(event, wanted);
  }

  void put(std::uint64_t time_ns) {
    packet_.clear();
    packet_.varint(packet::kTimestamp, time_ns);
    packet_.varint(packet::kSequence, kSequence);
    packet_.varint(packet::kSequenceFlags, packet::kNeedsState);
    packet_.message(packet::kTrackEvent, event_);
    write_packet();
  }

  void write_packet() {
    constexpr std::uint32_t kPacket = 1;  // field of the message Trace
    trace_.clear();
    trace_.message(kPacket, packet_);
    file_ << trace_.bytes();
  }

  TextFile& file_;
  const trace::Definitions& all_;
  const TraceOptions& options_;
  trace::CallSiteNames sites_;
  std::uint32_t sources_ = 0;  // number of places defined
  std::uint64_t thread_stride_;
  std::vector<std::string> names_;
  std::size_t first_class_ = 0, first_phase_ = 0, first_kind_ = 0;
  std::set<std::uint64_t> described_;
  std::unordered_map<std::int32_t, Lanes> lanes_;
  Protobuf trace_, packet_, event_, annotation_;  // reused, so that events need no allocation
};

}  // namespace

base::Status export_perfetto(const trace::Trace& trace, const TraceOptions& options,
                             const std::string& path, Notes& notes) {
  TextFile file;
  const auto opened = file.open(path, options.force);
  if (!opened) return opened;
  PerfettoVisitor visitor(file, trace.definitions(), options);
  visitor.begin();
  walk_job(trace, visitor, notes);
  if (trace.definitions().level == "transfers") {
    notes.push_back(
        "the steps inside a transfer have no track in the Perfetto output; export to events or "
        "otf2 for them");
  }
  return file.commit();
}

}  // namespace fathom::exporters
