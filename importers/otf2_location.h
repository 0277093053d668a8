// SPDX-License-Identifier: BSD-3-Clause
// Turns the events of one location of an OTF2 archive into those of a thread of a trace.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <vector>

#include "importers/otf2_plan.h"
#include "trace/event.h"
#include "trace/writer.h"

namespace fathom::importers::otf2 {

// Keeps the events of a call until it is left, because they supply its arguments if nothing else
// does.
class LocationEvents {
 public:
  LocationEvents(const Archive& archive, const Plan& plan, trace::TraceWriter& writer,
                 const Place& place)
      : archive_(archive), plan_(plan), writer_(writer), place_(place) {}

  std::uint64_t unknown_comms() const { return unknown_comms_; }
  // By how much the first event comes before time 0, and was moved there.
  std::uint64_t early_ns() const { return early_ns_; }

  void enter(std::uint64_t time, OTF2_AttributeList* list, OTF2_RegionRef region);
  void leave(std::uint64_t time, OTF2_AttributeList* list, OTF2_RegionRef region);
  void message(trace::EventKind kind, std::uint64_t time, OTF2_AttributeList* list,
               std::uint32_t peer, OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes,
               std::uint64_t request);

  // In archives of other tools, which have no attributes: the open call returned this request.
  void request_made(std::uint64_t request);

  void completed(std::uint64_t time, OTF2_AttributeList* list, std::uint64_t request,
                 bool cancelled);
  void collective(OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent,
                  std::uint64_t received);
  void parameter(std::uint64_t time, OTF2_AttributeList* list, OTF2_ParameterRef self,
                 std::uint64_t value);
  void phase(std::uint64_t time, OTF2_ParameterRef self, OTF2_StringRef name);
  void finish();

 private:
  static constexpr std::uint32_t kMostRanks = 1u << 31;
  static constexpr std::size_t kMostKept =
      1 << 16;  // events of one call; beyond that its arguments stay as they are

  trace::Event new_event(trace::EventKind kind, std::uint64_t time);
  trace::Event& add(trace::EventKind kind, std::uint64_t time) {
    return events_.emplace_back(new_event(kind, time));
  }
  bool has(OTF2_AttributeList* list, trace::Otf2Attribute attribute) const;
  std::int32_t world_rank(std::int32_t communicator, std::uint32_t rank) const;
  void set_peer(trace::Event& event, const CommPlace& place, std::uint32_t position) const;

  // Whether this process is in the local group of an intercommunicator. Its peers are then in the
  // remote group, otherwise in the local one.
  bool is_local(const profile::Communicator& row) const;

  void read(OTF2_AttributeList* list, trace::Event& event);
  void name_site(std::uint64_t address, std::uint32_t caller, std::uint32_t source);
  std::uint32_t function_of(OTF2_Type type, OTF2_AttributeValue value) const;
  void tell_call(const trace::Event& message);
  void flush();

  const Archive& archive_;
  const Plan& plan_;
  trace::TraceWriter& writer_;
  Place place_;
  std::vector<trace::Event> events_;
  std::vector<std::size_t> open_;        // positions of enters in events_
  std::vector<std::uint64_t> requests_;  // by open call: the request that it returns
  std::map<std::uint64_t, trace::NamedSite> sites_;
  std::uint64_t last_ns_ = 0;
  std::uint64_t unknown_comms_ = 0, early_ns_ = 0;
};

// Sets the callbacks that pass each event to the LocationEvents given as user data. `own`: Fathom
// wrote the archive, so request numbers are as recorded, and receives are reported on arrival.
void set_callbacks(OTF2_EvtReaderCallbacks* callbacks, bool own);

}  // namespace fathom::importers::otf2
