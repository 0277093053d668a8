// SPDX-License-Identifier: BSD-3-Clause
// What the joined trace answers about a window: its calls one by one, and its costliest messages.
#include <algorithm>
#include <numeric>

#include "analysis/scope/scope_filter.h"
#include "view/bytes.h"
#include "view/joined_answer.h"
#include "view/joined_window.h"
#include "view/session.h"

namespace fathom::view {
namespace {

constexpr std::size_t kMostCalls = 200'000;
constexpr std::uint64_t kMostShownMessages = 5'000;

}  // namespace

Reply answer_raw(Session& session, const Query& query) {
  Joined joined = joined_for(session, query);
  if (joined.job == nullptr) return joined.otherwise;
  const analysis::ScopeFilter filter(joined.scope, joined.job->definitions());
  std::vector<WindowCall> calls;
  std::uint64_t more = 0;
  for (const std::uint32_t process : filter.chosen())
    more += add_calls(*joined.job, process, joined.scope.from_ns, joined.scope.to_ns, kMostCalls,
                      calls);
  Reply reply;
  reply.type = kBinary;
  std::string& body = reply.body;
  body.reserve(16 + calls.size() * 52);
  body = "FVR1";
  put(body, static_cast<std::uint32_t>(calls.size()));
  put(body, static_cast<std::uint32_t>(std::min<std::uint64_t>(more, ~std::uint32_t{0})));
  put(body, 7u);
  const auto put_column = [&](auto of) {
    for (const WindowCall& call : calls) put(body, of(call));
  };
  const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
  put_column([&](const WindowCall& call) { return real(call.step->time_ns); });
  put_column([&](const WindowCall& call) { return real(call.step->end_ns); });
  put_column([&](const WindowCall& call) { return real(call.wait.ns); });
  put_column([&](const WindowCall& call) { return real(call.step->bytes); });
  put_column([](const WindowCall& call) { return call.process; });
  put_column([](const WindowCall& call) { return call.step->number; });
  put_column([](const WindowCall& call) {
    return call.wait.ns > 0 ? call.wait.culprit : ~std::uint32_t{0};
  });
  trace::CallSiteNames& sites = joined.run->sites(*joined.job);
  put_column([&](const WindowCall& call) {
    return sites.number_of(call.process, joined.job->site_address(call.process, *call.step));
  });
  put_column([](const WindowCall& call) { return call.step->thread; });
  put_column(
      [](const WindowCall& call) { return static_cast<std::uint8_t>(std::min(call.depth, 255u)); });
  put_column([](const WindowCall& call) {
    return call.wait.ns > 0 ? static_cast<std::uint8_t>(call.wait.kind) : std::uint8_t{255};
  });
  return reply;
}

Reply answer_sites(Session& session, const Query& query) {
  Joined joined = joined_for(session, query);
  if (joined.job == nullptr) return joined.otherwise;
  const trace::CallSiteNames& names = joined.run->sites(*joined.job);
  std::vector<std::uint32_t> all(names.size());
  std::iota(all.begin(), all.end(), 0u);
  return json_reply([&](base::JsonWriter& json) {
    json.object("sites", [&] {
      json.field("id", all);
      json.list("function", all, [&](std::uint32_t site) { json.value(names[site].function); });
      json.list("file", all,
                [&](std::uint32_t site) { json.value(trace::file_or_module(names[site])); });
      json.list("line", all,
                [&](std::uint32_t site) { json.value(std::int64_t{names[site].line}); });
    });
  });
}

Reply answer_messages(Session& session, const Query& query) {
  const auto top = query.number("top", 200, kMostShownMessages);
  if (!top) return refuse(400, top.error().message);
  Joined joined = joined_for(session, query);
  if (joined.job == nullptr) return joined.otherwise;
  const trace::Definitions& definitions = joined.job->definitions();
  const analysis::ScopeFilter filter(joined.scope, definitions);
  std::vector<bool> chosen(definitions.processes.size());
  for (const std::uint32_t process : filter.chosen()) chosen[process] = true;
  const WindowMessages found =
      messages_in(*joined.job, chosen, joined.scope.from_ns, joined.scope.to_ns, *top);
  const auto& messages = found.costliest;
  return json_reply([&](base::JsonWriter& json) {
    const auto column = [&](const char* name, auto of) {
      json.list(name, messages, [&](const WindowMessage& one) { json.value(of(one)); });
    };
    json.object("messages", [&] {
      column("source", [&](const auto& one) { return definitions.processes[one.source].rank; });
      column("destination",
             [&](const auto& one) { return definitions.processes[one.destination].rank; });
      column("source_process", [](const auto& one) { return one.source; });
      column("destination_process", [](const auto& one) { return one.destination; });
      column("sent_ns", [](const auto& one) { return one.sent->time_ns; });
      column("received_ns", [](const auto& one) { return one.received->time_ns; });
      // When the receive was posted, or else when the call that receives the message was entered.
      column("posted_ns", [&](const auto& one) {
        const std::uint32_t by = one.received->posted;
        return by == analysis::kNobody ? one.received->time_ns
                                       : joined.job->steps().at(one.destination, by).time_ns;
      });
      column("bytes", [](const auto& one) { return one.received->bytes; });
      column("tag", [](const auto& one) { return static_cast<std::int32_t>(one.sent->number); });
      column("communicator", [](const auto& one) { return one.sent->communicator; });
      column("class", [](const auto&) { return std::string(profile::kPointToPoint); });
      column("wait_ns", [](const auto& one) { return one.wait_ns; });
    });
    json.field("shown", messages.size());
    json.field("more", found.all - messages.size());
    json.field("complete", found.complete);
  });
}

}  // namespace fathom::view
