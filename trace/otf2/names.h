// SPDX-License-Identifier: BSD-3-Clause
// How Fathom's OTF2 archives store what OTF2 has no record for: written by exporters/trace/otf2,
// read back by importers/otf2.
//
// Attributes and parameters are known by name ("fathom::peer"); those of calls have the names of
// trace::Attribute. Numbers follow the tables below and trace::fields(). Archive properties:
//   FATHOM::WORLD_SIZE, ::EPOCH_UNIX_NS, ::LEVEL, ::SOURCE, ::EXECUTABLE   as in the Definitions
//   FATHOM::COMMUNICATORS   "CONSTRUCTOR:LOCAL:REMOTE" for each communicator in order, joined by
//                           '|': the numbers of members of its local and its remote group, which
//                           its OTF2 group begins with. Peers are positions in that group; with
//                           0:0 they are world ranks
//   FATHOM::CLASSES, ::PHASES   names in order, joined by '|'; '*' at the end: a hidden class
// A region's description is the function's line (attributes.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::trace {

inline constexpr std::string_view kOtf2Prefix = "fathom::";

enum class Otf2Attribute : std::uint32_t {
  kSite = 0,
  kError,
  kFunction,
  kReceiving,
  kCode,
  kCommPeer,
  kUncompleted,  // on an MpiIrecv: the program never completed the request
  kCaller,       // on an Enter, a string: the program's function that calls
  kSource,       // on an Enter, a SourceCodeLocation: the file and line of the call
};

enum class Otf2Parameter : std::uint32_t {
  kArrived = 0,       // when a message received by one of the program's requests was complete
  kRequestCompleted,  // for a request of no send, receive or collective
  kTransfer,
  kUnexpected,
  kPhaseBegin,
  kPhaseEnd,
  kPause,
  kResume,
  kProcessor,
  kLost,
  kSampled,
  kRequestGiven,
  kMemberGiven
};

struct Otf2AttributeName {
  Otf2Attribute attribute;
  const char* name;
};
inline constexpr Otf2AttributeName kOtf2Attributes[] = {
    {Otf2Attribute::kSite, "site"},
    {Otf2Attribute::kError, "error"},
    {Otf2Attribute::kFunction, "function"},
    {Otf2Attribute::kReceiving, "receiving"},
    {Otf2Attribute::kCode, "code"},
    {Otf2Attribute::kCommPeer, "commpeer"},
    {Otf2Attribute::kUncompleted, "uncompleted"},
    {Otf2Attribute::kCaller, "caller"},
    {Otf2Attribute::kSource, "source"}};

struct Otf2ParameterName {
  Otf2Parameter parameter;
  const char* name;
};
inline constexpr Otf2ParameterName kOtf2Parameters[] = {
    {Otf2Parameter::kArrived, "message arrived"},
    {Otf2Parameter::kRequestCompleted, "request completed"},
    {Otf2Parameter::kTransfer, "transfer"},
    {Otf2Parameter::kUnexpected, "unexpected"},
    {Otf2Parameter::kPhaseBegin, "phase begin"},
    {Otf2Parameter::kPhaseEnd, "phase end"},
    {Otf2Parameter::kPause, "pause"},
    {Otf2Parameter::kResume, "resume"},
    {Otf2Parameter::kProcessor, "processor"},
    {Otf2Parameter::kLost, "lost"},
    {Otf2Parameter::kSampled, "sampled"},
    {Otf2Parameter::kRequestGiven, "request given"},
    {Otf2Parameter::kMemberGiven, "member given"}};

// The name of the location of a rank without events; it has one MeasurementOnOff.
inline constexpr std::string_view kOtf2NoEvents = "no events";

// The name of the location group whose location represents peers of unknown world rank.
inline constexpr std::string_view kOtf2UnknownRank = "unknown rank";

// The request of an MpiIsend. MPI's request is not known yet when the message is sent, so this is
// the number of the message; the attribute fathom::request holds MPI's.
constexpr std::uint64_t otf2_send_request(std::uint64_t message) {
  return std::uint64_t{1} << 63 | message;
}
constexpr bool is_otf2_send_request(std::uint64_t request) { return request >> 63 != 0; }

// The name of a communicator's twin for one class of messages: "MPI_COMM_WORLD [MPI_Bcast,
// hidden]". The twin's parent is the communicator.
inline std::string otf2_twin_name(const std::string& communicator, const std::string& class_name,
                                  bool hidden) {
  return communicator + " [" + class_name + (hidden ? ", hidden]" : "]");
}

}  // namespace fathom::trace
