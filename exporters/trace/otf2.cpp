// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/otf2.h"

#include <otf2/otf2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "exporters/trace/otf2_archive.h"
#include "trace/code/call_site_names.h"
#include "trace/fields.h"
#include "trace/meanings.h"
#include "trace/otf2/names.h"

namespace fathom::exporters {
namespace {

using mpi::WindowAccess;
using trace::Attribute;
using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Message;
using trace::Otf2Attribute;
using trace::Otf2Parameter;
using trace::Place;
using trace::Request;
using trace::RequestKind;

// OTF2 has no operation for neighbourhood collectives: they appear as regions only.
std::optional<OTF2_CollectiveOp> operation_of(const mpi::Meaning& meaning) {
  if (meaning.persistent()) return std::nullopt;
  switch (meaning.collective) {
    case mpi::Collective::kBarrier: return OTF2_COLLECTIVE_OP_BARRIER;
    case mpi::Collective::kBcast: return OTF2_COLLECTIVE_OP_BCAST;
    case mpi::Collective::kGather: return OTF2_COLLECTIVE_OP_GATHER;
    case mpi::Collective::kGatherv: return OTF2_COLLECTIVE_OP_GATHERV;
    case mpi::Collective::kScatter: return OTF2_COLLECTIVE_OP_SCATTER;
    case mpi::Collective::kScatterv: return OTF2_COLLECTIVE_OP_SCATTERV;
    case mpi::Collective::kAllgather: return OTF2_COLLECTIVE_OP_ALLGATHER;
    case mpi::Collective::kAllgatherv: return OTF2_COLLECTIVE_OP_ALLGATHERV;
    case mpi::Collective::kAlltoall: return OTF2_COLLECTIVE_OP_ALLTOALL;
    case mpi::Collective::kAlltoallv: return OTF2_COLLECTIVE_OP_ALLTOALLV;
    case mpi::Collective::kAlltoallw: return OTF2_COLLECTIVE_OP_ALLTOALLW;
    case mpi::Collective::kAllreduce: return OTF2_COLLECTIVE_OP_ALLREDUCE;
    case mpi::Collective::kReduce: return OTF2_COLLECTIVE_OP_REDUCE;
    case mpi::Collective::kReduceScatter: return OTF2_COLLECTIVE_OP_REDUCE_SCATTER;
    case mpi::Collective::kReduceScatterBlock: return OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;
    case mpi::Collective::kScan: return OTF2_COLLECTIVE_OP_SCAN;
    case mpi::Collective::kExscan: return OTF2_COLLECTIVE_OP_EXSCAN;
    default: return std::nullopt;
  }
}

class Otf2Visitor : public trace::Visitor {
 public:
  Otf2Visitor(Otf2Archive& archive, const trace::Definitions& definitions,
              const TraceOptions& options)
      : archive_(archive),
        all_(definitions),
        meanings_(trace::meanings(definitions)),
        options_(options),
        sites_(definitions),
        list_(OTF2_AttributeList_New(), OTF2_AttributeList_Delete) {}

  bool failed() const { return failed_; }

  void enter(const Place& place, const Call& call) override {
    at(place, call.enter.time_ns);
    if (call.enter.function >= all_.functions.size()) return;
    attributes(call.enter, all_.functions[call.enter.function].enter);
    site(place, call.enter.site);
    check(OTF2_EvtWriter_Enter(writer_, list_.get(), time_, archive_.region(call.enter.function)));
    if (blocking_operation(call)) check(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, time_));
    one_sided_access(place, call.enter);
  }

  void leave(const Place& place, const Call& call) override {
    at(place, call.leave.time_ns);
    if (call.enter.function >= all_.functions.size()) return;
    if (const auto operation = blocking_operation(call)) {
      const Moved moved = moved_by(place, call.enter);
      check(
          OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, time_, *operation,
                                          archive_.communicator(call.enter.communicator, kProgram),
                                          moved.root, moved.sent, moved.received));
    }
    window_change(place, call);
    attributes(call.leave, all_.functions[call.enter.function].leave);
    if (call.leave.code) add(Otf2Attribute::kError, call.leave.code);
    check(OTF2_EvtWriter_Leave(writer_, list_.get(), time_, archive_.region(call.enter.function)));
  }

  void message(const Place& place, const Message& message) override {
    if (!options_.wants(message)) return;
    const Event& event = message.event;
    at(place, event.time_ns);
    const auto communicator = archive_.communicator(event.communicator, event.code);
    const auto tag = static_cast<std::uint32_t>(event.tag);
    const auto peer = archive_.groups().peer(event);
    if (event.kind == EventKind::kMessageReceived && message.nonblocking) {
      // The MpiIrecv comes later, when the program learns of the completion.
      parameter(Otf2Parameter::kArrived, event, event.code);
    } else if (event.kind == EventKind::kMessageReceived) {
      message_attributes(event);
      check(OTF2_EvtWriter_MpiRecv(writer_, list_.get(), time_, peer, communicator, tag,
                                   event.bytes));
    } else if (message.nonblocking) {
      message_attributes(event);
      check(OTF2_EvtWriter_MpiIsend(writer_, list_.get(), time_, peer, communicator, tag,
                                    event.bytes, trace::otf2_send_request(message.number)));
    } else {
      message_attributes(event);
      check(OTF2_EvtWriter_MpiSend(writer_, list_.get(), time_, peer, communicator, tag,
                                   event.bytes));
    }
  }

  void request_started(const Place& place, const Request& request) override {
    at(place, request.started_ns);
    if (request.kind == RequestKind::kReceive) {
      check(OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, time_, request.number));
    } else if (request.kind == RequestKind::kCollective && collective_of(request)) {
      check(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, nullptr, time_, request.number));
    }
  }

  void request_completed(const Place& place, const Request& request, const Event& event) override {
    at(place, event.time_ns);
    if (request.cancelled) {
      add_request(event);
      const bool sends = request.kind == RequestKind::kSend && request.sent != 0;
      check(OTF2_EvtWriter_MpiRequestCancelled(
          writer_, list_.get(), time_,
          sends ? trace::otf2_send_request(request.sent) : request.number));
    } else if (request.kind == RequestKind::kSend && request.sent != 0 && options_.user) {
      if (event.kind == EventKind::kRequestCompleted) add_request(event);
      check(OTF2_EvtWriter_MpiIsendComplete(writer_, list_.get(), time_,
                                            trace::otf2_send_request(request.sent)));
    } else if (request.kind == RequestKind::kReceive && request.has_message && options_.user) {
      irecv(request);
    } else if (request.kind == RequestKind::kCollective && collective_of(request)) {
      const Moved moved = moved_by(place, request.posted);
      check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
          writer_, nullptr, time_, *collective_of(request),
          archive_.communicator(request.posted.communicator, kProgram), moved.root, moved.sent,
          moved.received, request.number));
    } else {
      parameter(Otf2Parameter::kRequestCompleted, event, 0);
    }
  }

  // The message was received, even though the program never asked.
  void request_dropped(const Place& place, const Request& request, std::uint64_t time_ns) override {
    if (!options_.user) return;
    at(place, time_ns);
    add(Otf2Attribute::kUncompleted, 1);
    irecv(request);
  }

  void other(const Place& place, const Event& event) override {
    at(place, event.time_ns);
    switch (event.kind) {
      case EventKind::kTransfer: return parameter(Otf2Parameter::kTransfer, event, event.code);
      case EventKind::kUnexpected: return parameter(Otf2Parameter::kUnexpected, event, event.code);
      case EventKind::kPhaseBegin: return phase(Otf2Parameter::kPhaseBegin, event);
      case EventKind::kPhaseEnd: return phase(Otf2Parameter::kPhaseEnd, event);
      case EventKind::kPause:
        return measurement(Otf2Parameter::kPause, event, OTF2_MEASUREMENT_OFF);
      case EventKind::kResume:
        return measurement(Otf2Parameter::kResume, event, OTF2_MEASUREMENT_ON);
      case EventKind::kProcessor: return parameter(Otf2Parameter::kProcessor, event, event.code);
      case EventKind::kLost: return parameter(Otf2Parameter::kLost, event, event.count);
      case EventKind::kSampled: return parameter(Otf2Parameter::kSampled, event, event.count);
      case EventKind::kRequestGiven: return parameter(Otf2Parameter::kRequestGiven, event, 0);
      case EventKind::kMemberGiven:
        return parameter(Otf2Parameter::kMemberGiven, event,
                         static_cast<std::uint64_t>(event.peer));
      case EventKind::kRequestCompleted:
        return parameter(Otf2Parameter::kRequestCompleted, event, 0);
      default: return;  // other kinds have functions of their own
    }
  }

  void process_end(std::size_t process) override {
    const std::int64_t rank = all_.processes[process].rank;
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      if (!threads_[thread].writer) continue;
      archive_.saw_time(threads_[thread].first_ns);
      archive_.saw_time(threads_[thread].last_ns);
      archive_.close_events(rank, static_cast<std::uint32_t>(thread));
    }
    threads_.clear();
    windows_.clear();
    window_ordinals_.clear();
  }

 private:
  static constexpr std::uint32_t kProgram = ~std::uint32_t{0};  // not a class: the communicator

  struct Moved {
    std::uint32_t root;
    std::uint64_t sent, received;
  };
  struct Thread {
    OTF2_EvtWriter* writer = nullptr;
    std::uint64_t first_ns = 0, last_ns = 0;
  };
  struct Source {
    OTF2_StringRef caller = OTF2_UNDEFINED_STRING;
    OTF2_SourceCodeLocationRef location = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
  };
  struct Window {
    std::int32_t communicator = trace::kNobody;
    std::uint32_t self = 0;
  };

  void check(OTF2_ErrorCode code) { failed_ = failed_ || code != OTF2_SUCCESS; }

  // Sets the thread and time of the events that follow. Time never goes back within a location.
  void at(const Place& place, std::uint64_t time_ns) {
    if (place.thread >= threads_.size()) threads_.resize(place.thread + 1);
    Thread& thread = threads_[place.thread];
    if (!thread.writer) {
      thread.writer = archive_.events_of(place.rank, place.thread);
      thread.first_ns = thread.last_ns = time_ns;
      failed_ = failed_ || !thread.writer;
    }
    thread.last_ns = std::max(thread.last_ns, time_ns);
    writer_ = thread.writer;
    time_ = thread.last_ns;
  }

  void irecv(const Request& request) {
    const Event& message = request.message;
    check(OTF2_EvtWriter_MpiIrecv(writer_, list_.get(), time_, archive_.groups().peer(message),
                                  archive_.communicator(message.communicator, message.code),
                                  static_cast<std::uint32_t>(message.tag), message.bytes,
                                  request.number));
  }

  void add(std::uint32_t attribute, std::uint64_t value) {
    check(OTF2_AttributeList_AddUint64(list_.get(), attribute, value));
  }
  void add(Otf2Attribute attribute, std::uint64_t value) { add(number_of(attribute), value); }

  // Where in the program the call is made: the address, and what is known of it.
  void site(const Place& place, std::uint64_t address) {
    const std::uint32_t number = sites_.number_of(place.process, address);
    if (number == trace::CallSiteNames::kNone) return;
    add(Otf2Attribute::kSite, address);
    if (number == sources_.size()) sources_.push_back(source_of(sites_[number]));
    const Source& source = sources_[number];
    if (source.caller != OTF2_UNDEFINED_STRING) {
      check(OTF2_AttributeList_AddStringRef(list_.get(), number_of(Otf2Attribute::kCaller),
                                            source.caller));
    }
    if (source.location != OTF2_UNDEFINED_SOURCE_CODE_LOCATION) {
      check(OTF2_AttributeList_AddSourceCodeLocationRef(
          list_.get(), number_of(Otf2Attribute::kSource), source.location));
    }
  }

  Source source_of(const trace::CodeSite& site) {
    Source source;
    const std::string file = trace::file_or_module(site);
    if (!site.function.empty()) source.caller = archive_.string(site.function);
    if (!file.empty()) {
      source.location =
          archive_.source_code_location(file, static_cast<std::uint32_t>(std::max(site.line, 0)));
    }
    return source;
  }

  // The number in the archive: attributes of calls as in trace::fields(), then Otf2Attribute.
  static std::uint32_t number_of(Otf2Attribute attribute) {
    return static_cast<std::uint32_t>(trace::fields().size()) +
           static_cast<std::uint32_t>(attribute);
  }
  static std::uint32_t number_of(const trace::Field& field) {
    return static_cast<std::uint32_t>(&field - trace::fields().data());
  }

  void add(const Event& event, Attribute attribute) {
    const trace::Field* field = trace::field_of(attribute);
    if (!field || !trace::is_set(event, attribute)) return;
    const auto self = number_of(*field);
    const std::uint64_t value = trace::get_field(event, attribute);
    if (field->is_unsigned) {
      add(self, value);
    } else {
      check(OTF2_AttributeList_AddInt32(list_.get(), self, static_cast<std::int32_t>(value)));
    }
  }

  void attributes(const Event& event, const std::vector<Attribute>& wanted) {
    for (const Attribute attribute : wanted) add(event, attribute);
    if (event.comm_peer != trace::kNobody && event.comm_peer != event.peer) {
      add(Otf2Attribute::kCommPeer, static_cast<std::uint32_t>(event.comm_peer));
    }
  }

  void add_request(const Event& event) {
    if (event.request != trace::kNoRequest) add(event, Attribute::kRequest);
  }

  void message_attributes(const Event& event) {
    add_request(event);
    if (event.peer == trace::kNobody && event.comm_peer != trace::kNobody) {
      add(Otf2Attribute::kCommPeer, static_cast<std::uint32_t>(event.comm_peer));
    }
  }

  void parameter(Otf2Parameter parameter, const Event& event, std::uint64_t value) {
    for (const Attribute attribute :
         {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag, Attribute::kBytes,
          Attribute::kRequest, Attribute::kOffset, Attribute::kFlag}) {
      add(event, attribute);
    }
    if (event.receiving) add(Otf2Attribute::kReceiving, 1);
    if (event.kind == EventKind::kSampled && event.function < all_.functions.size()) {
      check(OTF2_AttributeList_AddRegionRef(list_.get(), number_of(Otf2Attribute::kFunction),
                                            archive_.region(event.function)));
    }
    if (event.comm_peer != trace::kNobody) {
      add(Otf2Attribute::kCommPeer, static_cast<std::uint32_t>(event.comm_peer));
    }
    check(OTF2_EvtWriter_ParameterUnsignedInt(writer_, list_.get(), time_,
                                              static_cast<std::uint32_t>(parameter), value));
  }

  void phase(Otf2Parameter parameter, const Event& event) {
    const std::string name = event.code < all_.phases.size()
                                 ? all_.phases[event.code]
                                 : "phase " + std::to_string(event.code);
    check(OTF2_EvtWriter_ParameterString(
        writer_, nullptr, time_, static_cast<std::uint32_t>(parameter), archive_.string(name)));
  }

  void measurement(Otf2Parameter parameter_, const Event& event, OTF2_MeasurementMode mode) {
    check(OTF2_EvtWriter_MeasurementOnOff(writer_, nullptr, time_, mode));
    parameter(parameter_, event, event.code);
  }

  std::optional<OTF2_CollectiveOp> collective_of(const Request& request) const {
    const std::uint32_t function = request.posted.function;
    return function < meanings_.size() ? operation_of(meanings_[function]) : std::nullopt;
  }

  // The root and the bytes sent and received, from this process's view, as far as attributes say.
  Moved moved_by(const Place& place, const Event& call) {
    Moved moved{OTF2_UNDEFINED_UINT32, call.bytes, call.bytes2 ? call.bytes2 : call.bytes};
    if (call.root == trace::kNobody) return moved;
    moved.root = archive_.groups().find(call.communicator, call.root);
    const auto operation = operation_of(meanings_[call.function]);
    const bool from_root = operation == OTF2_COLLECTIVE_OP_BCAST ||
                           operation == OTF2_COLLECTIVE_OP_SCATTER ||
                           operation == OTF2_COLLECTIVE_OP_SCATTERV;
    const bool is_root = call.root == place.rank;
    if (from_root && !is_root) moved.sent = 0;
    if (!from_root && !is_root) moved.received = 0;
    if (operation == OTF2_COLLECTIVE_OP_BCAST && is_root) moved.received = 0;
    return moved;
  }

  // The operation of a collective that is done when it returns.
  std::optional<OTF2_CollectiveOp> blocking_operation(const Call& call) const {
    const mpi::Meaning& meaning = meanings_[call.enter.function];
    return meaning.nonblocking() ? std::nullopt : operation_of(meaning);
  }

  void one_sided_access(const Place&, const Event& call) {
    const WindowAccess access = meanings_[call.function].window;
    if (access != WindowAccess::kPut && access != WindowAccess::kGet &&
        access != WindowAccess::kAtomic)
      return;
    const auto window = windows_.find(call.object);
    if (window == windows_.end()) return;  // made before the trace began
    const std::uint32_t target = archive_.groups().find(window->second.communicator, call.peer);
    if (target == OTF2_UNDEFINED_UINT32) return;
    const std::uint32_t self = window->second.self;
    if (access == WindowAccess::kPut) {
      check(OTF2_EvtWriter_RmaPut(writer_, nullptr, time_, self, target, call.bytes, 0));
    } else if (access == WindowAccess::kGet) {
      check(OTF2_EvtWriter_RmaGet(writer_, nullptr, time_, self, target, call.bytes, 0));
    } else {
      check(OTF2_EvtWriter_RmaAtomic(writer_, nullptr, time_, self, target,
                                     OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, call.bytes, 0, 0));
    }
  }

  // Each process has its own handle for a window. The nth window that a communicator's processes
  // make on it is the same on all of them, because creation is collective.
  void window_change(const Place&, const Call& call) {
    const WindowAccess access = meanings_[call.enter.function].window;
    if (access == WindowAccess::kCreate && call.enter.communicator >= 0 && !call.cut) {
      Window window;
      window.communicator = call.enter.communicator;
      window.self = archive_.window(window.communicator, window_ordinals_[window.communicator]++);
      windows_[call.leave.object ? call.leave.object : call.enter.object] = window;
      check(OTF2_EvtWriter_RmaWinCreate(writer_, nullptr, time_, window.self));
    } else if (access == WindowAccess::kFree) {
      const auto window = windows_.find(call.enter.object);
      if (window == windows_.end()) return;
      check(OTF2_EvtWriter_RmaWinDestroy(writer_, nullptr, time_, window->second.self));
      windows_.erase(window);
    }
  }

  Otf2Archive& archive_;
  const trace::Definitions& all_;
  const std::vector<mpi::Meaning> meanings_;  // by number of the function
  const TraceOptions& options_;
  trace::CallSiteNames sites_;
  std::vector<Source> sources_;  // by number of the place
  std::unique_ptr<OTF2_AttributeList, OTF2_ErrorCode (*)(OTF2_AttributeList*)>
      list_;                     // each record empties it
  std::vector<Thread> threads_;  // of the current process
  std::unordered_map<std::uint64_t, Window> windows_;
  std::map<std::int32_t, std::uint32_t> window_ordinals_;
  OTF2_EvtWriter* writer_ = nullptr;
  std::uint64_t time_ = 0;
  bool failed_ = false;
};

}  // namespace

base::Status export_otf2(const trace::Trace& trace, const TraceOptions& options,
                         const std::string& path, Notes& notes) {
  const trace::Definitions& all = trace.definitions();
  const auto ranks = check_rank_count(rank_count(all), kMostListedRanks, "otf2");
  if (!ranks) return ranks.error();
  auto archive = Otf2Archive::create(path, options.force, all);
  if (!archive) return archive.error();
  Otf2Visitor visitor(**archive, all, options);
  for (std::size_t process = 0; process < all.processes.size(); ++process) {
    note(trace::walk_process(trace, process, visitor), notes);
  }
  note_loss(all, notes);
  const auto finished = (*archive)->finish();
  if (!finished) return finished;
  if (visitor.failed())
    return base::Error{"libotf2 refused an event; the archive '" + path + "' is not complete"};
  return base::Done{};
}

}  // namespace fathom::exporters
