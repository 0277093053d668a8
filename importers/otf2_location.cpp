// SPDX-License-Identifier: BSD-3-Clause
#include "importers/otf2_location.h"

#include <algorithm>
#include <string>

#include "trace/fields.h"

namespace fathom::importers::otf2 {

void LocationEvents::enter(std::uint64_t time, OTF2_AttributeList* list, OTF2_RegionRef region) {
  const auto function = plan_.functions.find(region);
  if (function == plan_.functions.end()) return;
  trace::Event& event = add(trace::EventKind::kEnter, time);
  event.function = function->second;
  read(list, event);
  open_.push_back(events_.size() - 1);
  requests_.push_back(trace::kNoRequest);
}

void LocationEvents::leave(std::uint64_t time, OTF2_AttributeList* list, OTF2_RegionRef region) {
  const auto function = plan_.functions.find(region);
  if (function == plan_.functions.end()) return;
  trace::Event& event = add(trace::EventKind::kLeave, time);
  event.function = function->second;
  if (!plan_.own && !requests_.empty()) event.request = requests_.back();
  read(list, event);
  if (!open_.empty()) {
    open_.pop_back();
    requests_.pop_back();
  }
  flush();
}

void LocationEvents::message(trace::EventKind kind, std::uint64_t time, OTF2_AttributeList* list,
                             std::uint32_t peer, OTF2_CommRef comm, std::uint32_t tag,
                             std::uint64_t bytes, std::uint64_t request) {
  trace::Event event = new_event(kind, time);
  const auto place = plan_.comms.find(comm);
  if (place == plan_.comms.end()) {
    ++unknown_comms_;
    return;
  }
  event.communicator = place->second.communicator;
  event.code = place->second.message_class;
  set_peer(event, place->second, peer);
  event.tag = static_cast<std::int32_t>(tag);
  event.bytes = bytes;
  event.request = request;
  read(list, event);
  if (!plan_.own) tell_call(event);
  events_.push_back(event);
  flush();
}

void LocationEvents::request_made(std::uint64_t request) {
  if (!requests_.empty()) requests_.back() = request;
}

void LocationEvents::completed(std::uint64_t time, OTF2_AttributeList* list, std::uint64_t request,
                               bool cancelled) {
  if (plan_.own && has(list, trace::Otf2Attribute::kUncompleted)) return;
  trace::Event event = new_event(trace::EventKind::kRequestCompleted, time);
  event.request = request;
  read(list, event);
  // A send that was complete when its call returned has neither a number nor a completion.
  if (plan_.own && trace::is_otf2_send_request(event.request)) return;
  events_.push_back(event);
  events_.back().flag = cancelled ? 1 : 0;
  flush();
}

void LocationEvents::collective(OTF2_CommRef comm, std::uint32_t root, std::uint64_t sent,
                                std::uint64_t received) {
  if (plan_.own || open_.empty()) return;
  const auto place = plan_.comms.find(comm);
  if (place == plan_.comms.end()) return;
  trace::Event& call = events_[open_.back()];
  call.communicator = place->second.communicator;
  call.bytes = sent;
  call.bytes2 = received;
  if (root != OTF2_UNDEFINED_UINT32 && root < kMostRanks)
    call.root = world_rank(call.communicator, root);
}

void LocationEvents::parameter(std::uint64_t time, OTF2_AttributeList* list, OTF2_ParameterRef self,
                               std::uint64_t value) {
  const auto known = plan_.parameters.find(self);
  if (known == plan_.parameters.end()) return;
  trace::Event event = new_event(trace::EventKind::kLost, time);
  read(list, event);
  event.code = static_cast<std::uint32_t>(value);
  switch (known->second) {
    case trace::Otf2Parameter::kArrived: event.kind = trace::EventKind::kMessageReceived; break;
    case trace::Otf2Parameter::kRequestCompleted:
      event.kind = trace::EventKind::kRequestCompleted;
      if (event.flag < 0) event.flag = 0;
      break;
    case trace::Otf2Parameter::kTransfer: event.kind = trace::EventKind::kTransfer; break;
    case trace::Otf2Parameter::kUnexpected: event.kind = trace::EventKind::kUnexpected; break;
    case trace::Otf2Parameter::kPause: event.kind = trace::EventKind::kPause; break;
    case trace::Otf2Parameter::kResume: event.kind = trace::EventKind::kResume; break;
    case trace::Otf2Parameter::kProcessor: event.kind = trace::EventKind::kProcessor; break;
    case trace::Otf2Parameter::kRequestGiven: event.kind = trace::EventKind::kRequestGiven; break;
    case trace::Otf2Parameter::kMemberGiven:
      event.kind = trace::EventKind::kMemberGiven;
      event.peer = static_cast<std::int32_t>(value);
      event.code = 0;
      break;
    case trace::Otf2Parameter::kLost:
    case trace::Otf2Parameter::kSampled:
      event.kind = known->second == trace::Otf2Parameter::kLost ? trace::EventKind::kLost
                                                                : trace::EventKind::kSampled;
      event.count = value;
      event.code = 0;
      break;
    default: return;
  }
  events_.push_back(event);
  flush();
}

void LocationEvents::phase(std::uint64_t time, OTF2_ParameterRef self, OTF2_StringRef name) {
  const auto known = plan_.parameters.find(self);
  const auto number = plan_.phases.find(std::string(archive_.text(name)));
  if (known == plan_.parameters.end() || number == plan_.phases.end()) return;
  if (known->second != trace::Otf2Parameter::kPhaseBegin &&
      known->second != trace::Otf2Parameter::kPhaseEnd)
    return;
  const bool begins = known->second == trace::Otf2Parameter::kPhaseBegin;
  add(begins ? trace::EventKind::kPhaseBegin : trace::EventKind::kPhaseEnd, time).code =
      number->second;
  flush();
}

void LocationEvents::finish() {
  open_.clear();  // calls that are still open have no leave; they are written as they are
  flush();
  writer_.name_sites(place_.process, sites_);
}

trace::Event LocationEvents::new_event(trace::EventKind kind, std::uint64_t time) {
  // In an archive that Fathom wrote, ticks are nanoseconds of the run. Time never goes back.
  std::uint64_t ns = time;
  if (!plan_.own) {
    const auto ticks = static_cast<std::int64_t>(time - archive_.offset);
    std::int64_t own_ns =
        archive_.resolution == 1'000'000'000
            ? ticks
            : static_cast<std::int64_t>(static_cast<long double>(ticks) * 1e9L /
                                        static_cast<long double>(archive_.resolution));
    own_ns += static_cast<std::int64_t>(plan_.lead_ns);
    if (!plan_.clocks.empty()) own_ns += plan_.clocks[place_.process].offset_ns;
    if (own_ns < 0) early_ns_ = std::max(early_ns_, static_cast<std::uint64_t>(-own_ns));
    ns = static_cast<std::uint64_t>(std::max<std::int64_t>(own_ns, 0));
  }
  trace::Event event;
  event.kind = kind;
  event.time_ns = last_ns_ = std::max(last_ns_, ns);
  event.thread = place_.thread;
  return event;
}

void LocationEvents::set_peer(trace::Event& event, const CommPlace& place,
                              std::uint32_t position) const {
  event.comm_peer = static_cast<std::int32_t>(position);
  const auto& row = plan_.definitions.communicators[static_cast<std::size_t>(event.communicator)];
  if (!place.peers || place.peers->empty()) {
    event.peer = world_rank(event.communicator, position);
    return;
  }
  event.peer = position < place.peers->size() ? (*place.peers)[position] : trace::kNobody;
  const std::size_t local_size = row.world_ranks.size();
  const std::size_t known = local_size + row.remote_world_ranks.size();
  if (position >= known) {
    event.comm_peer = known == 0 ? event.peer : trace::kNobody;
  } else if (position >= local_size) {
    event.comm_peer = static_cast<std::int32_t>(position - local_size);
  }
}

std::int32_t LocationEvents::world_rank(std::int32_t communicator, std::uint32_t rank) const {
  const auto& row = plan_.definitions.communicators[static_cast<std::size_t>(communicator)];
  const auto& members =
      row.remote_world_ranks.empty() || !is_local(row) ? row.world_ranks : row.remote_world_ranks;
  if (row.world_ranks.empty()) return rank == 0 ? place_.rank : trace::kNobody;
  return rank < members.size() ? static_cast<std::int32_t>(members[rank]) : trace::kNobody;
}

bool LocationEvents::is_local(const profile::Communicator& row) const {
  return std::find(row.world_ranks.begin(), row.world_ranks.end(), place_.rank) !=
         row.world_ranks.end();
}

bool LocationEvents::has(OTF2_AttributeList* list, trace::Otf2Attribute attribute) const {
  for (const auto& [self, own] : plan_.own_attributes) {
    if (own == attribute) return list && OTF2_AttributeList_TestAttributeByID(list, self);
  }
  return false;
}

void LocationEvents::read(OTF2_AttributeList* list, trace::Event& event) {
  std::uint32_t caller = OTF2_UNDEFINED_STRING, source = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
  const std::uint32_t count = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
  for (std::uint32_t index = 0; index < count; ++index) {
    OTF2_AttributeRef self;
    OTF2_Type type;
    OTF2_AttributeValue value;
    if (OTF2_AttributeList_GetAttributeByIndex(list, index, &self, &type, &value) != OTF2_SUCCESS)
      continue;
    const std::uint64_t number = type == OTF2_TYPE_INT32
                                     ? static_cast<std::uint64_t>(std::int64_t{value.int32})
                                     : value.uint64;
    const auto attribute = plan_.attributes.find(self);
    if (attribute != plan_.attributes.end()) set_field(event, attribute->second, number);
    const auto own = plan_.own_attributes.find(self);
    if (own == plan_.own_attributes.end()) continue;
    switch (own->second) {
      case trace::Otf2Attribute::kSite: event.site = number; break;
      case trace::Otf2Attribute::kError:
      case trace::Otf2Attribute::kCode: event.code = static_cast<std::uint32_t>(number); break;
      case trace::Otf2Attribute::kFunction: event.function = function_of(type, value); break;
      case trace::Otf2Attribute::kReceiving: event.receiving = number != 0; break;
      case trace::Otf2Attribute::kUncompleted: break;
      case trace::Otf2Attribute::kCaller: caller = value.stringRef; break;
      case trace::Otf2Attribute::kSource: source = value.sourceCodeLocationRef; break;
      case trace::Otf2Attribute::kCommPeer:
        event.comm_peer = static_cast<std::int32_t>(number);
        break;
    }
  }
  if (event.comm_peer == trace::kNobody && event.peer >= 0) event.comm_peer = event.peer;
  if (event.site != 0) name_site(event.site, caller, source);
}

// What the address means, as the archive says: the program may not be on this machine.
void LocationEvents::name_site(std::uint64_t address, std::uint32_t caller, std::uint32_t source) {
  const auto place = archive_.sources.find(source);
  if (caller == OTF2_UNDEFINED_STRING && place == archive_.sources.end()) return;
  const auto [site, is_new] = sites_.try_emplace(address);
  if (!is_new) return;
  site->second.function = archive_.text(caller);
  if (place == archive_.sources.end()) return;
  site->second.file = archive_.text(place->second.file);
  site->second.line = static_cast<int>(std::min<std::uint32_t>(place->second.line, 1u << 30));
}

// In archives of earlier versions it is the function's number.
std::uint32_t LocationEvents::function_of(OTF2_Type type, OTF2_AttributeValue value) const {
  if (type != OTF2_TYPE_REGION) return static_cast<std::uint32_t>(value.uint64);
  const auto function = plan_.functions.find(value.regionRef);
  return function == plan_.functions.end() ? 0 : function->second;
}

void LocationEvents::tell_call(const trace::Event& message) {
  if (open_.empty()) return;
  trace::Event& call = events_[open_.back()];
  const mpi::Group group = plan_.definitions.functions[call.function].group;
  const bool receives = message.kind == trace::EventKind::kMessageReceived;
  if (group == mpi::Group::kSendReceive && receives) {
    call.communicator = message.communicator;
    call.peer2 = message.peer;
    call.tag2 = message.tag;
    call.bytes2 = message.bytes;
  } else if (group == (receives ? mpi::Group::kReceive : mpi::Group::kSend) ||
             group == mpi::Group::kSendReceive) {
    call.communicator = message.communicator;
    call.peer = message.peer;
    call.comm_peer = message.comm_peer;
    call.tag = message.tag;
    call.bytes = message.bytes;
  }
}

void LocationEvents::flush() {
  if (!open_.empty() && events_.size() < kMostKept && !plan_.own) return;
  for (const trace::Event& event : events_) writer_.append(place_.process, event);
  events_.clear();
  open_.clear();
  requests_.clear();
}

namespace {

LocationEvents& events_of(void* user_data) { return *static_cast<LocationEvents*>(user_data); }

// Request ids of other tools may be 0, which means no request here.
std::uint64_t request_of(std::uint64_t id) { return id + 1; }

OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                           OTF2_AttributeList* list, OTF2_RegionRef region) {
  events_of(user).enter(time, list, region);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_leave(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                           OTF2_AttributeList* list, OTF2_RegionRef region) {
  events_of(user).leave(time, list, region);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_send(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                          OTF2_AttributeList* list, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  events_of(user).message(trace::EventKind::kMessageSent, time, list, peer, comm, tag, bytes,
                          trace::kNoRequest);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_recv(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                          OTF2_AttributeList* list, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  events_of(user).message(trace::EventKind::kMessageReceived, time, list, peer, comm, tag, bytes,
                          trace::kNoRequest);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_collective_end(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user,
                                    OTF2_AttributeList*, OTF2_CollectiveOp, OTF2_CommRef comm,
                                    uint32_t root, uint64_t sent, uint64_t received) {
  events_of(user).collective(comm, root, sent, received);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_parameter_value(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                     OTF2_AttributeList* list, OTF2_ParameterRef self,
                                     uint64_t value) {
  events_of(user).parameter(time, list, self, value);
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_parameter_string(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                      OTF2_AttributeList*, OTF2_ParameterRef self,
                                      OTF2_StringRef name) {
  events_of(user).phase(time, self, name);
  return OTF2_CALLBACK_SUCCESS;
}

template <bool kOwn>
struct Requests {
  static std::uint64_t number(std::uint64_t id) { return kOwn ? id : request_of(id); }

  static OTF2_CallbackCode on_isend(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                    OTF2_AttributeList* list, uint32_t peer, OTF2_CommRef comm,
                                    uint32_t tag, uint64_t bytes, uint64_t id) {
    events_of(user).message(trace::EventKind::kMessageSent, time, list, peer, comm, tag, bytes,
                            kOwn ? trace::kNoRequest : number(id));
    if (!kOwn) events_of(user).request_made(number(id));
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_irecv(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                                    OTF2_AttributeList* list, uint32_t peer, OTF2_CommRef comm,
                                    uint32_t tag, uint64_t bytes, uint64_t id) {
    if (!kOwn) {
      events_of(user).message(trace::EventKind::kMessageReceived, time, list, peer, comm, tag,
                              bytes, number(id));
    }
    events_of(user).completed(time, list, number(id), false);
    return OTF2_CALLBACK_SUCCESS;
  }
  static OTF2_CallbackCode on_made(OTF2_LocationRef, OTF2_TimeStamp, uint64_t, void* user,
                                   OTF2_AttributeList*, uint64_t id) {
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
  static OTF2_CallbackCode on_collective_complete(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t,
                                                  void* user, OTF2_AttributeList* list,
                                                  OTF2_CollectiveOp, OTF2_CommRef, uint32_t,
                                                  uint64_t, uint64_t, uint64_t id) {
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
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks,
                                                                     on_collective_complete);
  }
};

}  // namespace

void set_callbacks(OTF2_EvtReaderCallbacks* callbacks, bool own) {
  OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective_end);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, on_parameter_value);
  OTF2_EvtReaderCallbacks_SetParameterStringCallback(callbacks, on_parameter_string);
  if (own) {
    Requests<true>::set(callbacks);
  } else {
    Requests<false>::set(callbacks);
  }
}

}  // namespace fathom::importers::otf2
