// SPDX-License-Identifier: BSD-3-Clause
// An answer of the server, before it becomes HTTP.
#pragma once

#include <string>
#include <utility>

#include "base/json/writer.h"
#include "base/result.h"

namespace fathom::view {

inline constexpr char kSchema[] = "fathom-view/1";
inline constexpr char kJson[] = "application/json";
inline constexpr char kBinary[] = "application/octet-stream";

struct Reply {
  int status = 200;
  std::string type = kJson;
  std::string body;
  bool lasts = true;  // the same question has the same answer while the run does not change
};

// An object that begins with the schema; `fields(json)` writes the rest.
template <typename Fields>
Reply json_reply(Fields fields) {
  Reply reply;
  reply.body = base::json_text(0, [&](base::JsonWriter& json) {
    json.field("schema", kSchema);
    fields(json);
  });
  return reply;
}

// An object that was written elsewhere, with the schema first.
inline std::string with_schema(const std::string& object) {
  return std::string("{\"schema\":\"") + kSchema + "\"" + (object == "{}" ? "" : ",") +
         object.substr(1);
}

inline Reply refuse(int status, const std::string& sentence) {
  Reply reply = json_reply([&](base::JsonWriter& json) { json.field("error", sentence); });
  reply.status = status;
  reply.lasts = false;
  return reply;
}

// What was asked for is still being made.
inline Reply not_ready(const std::string& what, double share) {
  Reply reply = json_reply([&](base::JsonWriter& json) {
    json.object("building", [&] {
      json.field("what", what);
      json.field("share", share);
    });
  });
  reply.status = 202;
  reply.lasts = false;
  return reply;
}

// Another question has the joined trace.
inline Reply busy() { return not_ready("another analysis of this run", 0); }

}  // namespace fathom::view
