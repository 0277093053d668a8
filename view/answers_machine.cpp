// SPDX-License-Identifier: BSD-3-Clause
// The answers of the page Machine (view/answers/machine.h), with their questions.
#include <filesystem>

#include "view/answers/machine.h"
#include "view/session.h"

namespace fathom::view {
namespace {

constexpr std::uint64_t kMostBins = 4096;

// Calls write(loaded run, json) for the run that is asked for.
template <typename Write>
Reply of_run(Session& session, const Query& query, Write write) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  const auto loaded = (*run)->loaded();
  if (!loaded) return refuse(422, loaded.error().message);
  return write(**run, **loaded);
}

}  // namespace

Reply answer_machine(Session& session, const Query& query) {
  return of_run(session, query, [&](ViewedRun& run, analysis::LoadedRun& loaded) {
    const std::string folder = std::filesystem::path(run.folder()).parent_path().string();
    const auto map = machine_map(folder.empty() ? "." : folder, session.tools.machine_map);
    return json_reply([&](base::JsonWriter& json) { write_machine(loaded, map, json); });
  });
}

Reply answer_machine_traffic(Session& session, const Query& query) {
  return of_run(session, query, [&](ViewedRun& run, analysis::LoadedRun& loaded) {
    const auto scope = query.scope(session.tools);
    if (!scope) return refuse(400, scope.error().message);
    const auto bins = query.number("bins", 1, kMostBins);
    if (!bins) return refuse(400, bins.error().message);
    const CallsInWindow* const calls = loaded.trace ? &run.calls(*loaded.trace) : nullptr;
    MachineWindow window{scope->from_ns, scope->to_ns, *bins};
    if (calls != nullptr) {
      window.from_ns = query.has("from") ? scope->from_ns : calls->first_ns();
      window.to_ns = query.has("to") ? scope->to_ns : calls->last_ns() + 1;
    } else {
      window = {0, static_cast<std::uint64_t>(loaded.profile->application.seconds * 1e9), 1};
    }
    return json_reply(
        [&](base::JsonWriter& json) { write_machine_traffic(loaded, calls, window, json); });
  });
}

Reply answer_machine_sizes(Session& session, const Query& query) {
  return of_run(session, query, [&](ViewedRun& run, analysis::LoadedRun& loaded) {
    const auto scope = query.scope(session.tools);
    if (!scope) return refuse(400, scope.error().message);
    if (!loaded.trace)
      return refuse(422, "calls by size need a trace: record one with fathom run --trace");
    const CallsInWindow& calls = run.calls(*loaded.trace);
    return json_reply([&](base::JsonWriter& json) {
      write_machine_sizes(*loaded.trace, calls, scope->from_ns, scope->to_ns, json);
    });
  });
}

Reply answer_machine_cards(Session& session, const Query& query) {
  return of_run(session, query, [&](ViewedRun& run, analysis::LoadedRun& loaded) {
    const auto scope = query.scope(session.tools);
    if (!scope) return refuse(400, scope.error().message);
    // One at a time, because analyses write to the steps of the joined trace.
    const auto lock = run.lock_joined();
    if (!lock) return busy();
    const auto profile = analysis::profile_of_part(loaded, *scope);
    if (!profile) return refuse(422, profile.error().message);
    analysis::Input input = loaded.input({});
    input.profile = &*profile;
    input.scope = *scope;
    input.calls = nullptr;
    const auto object = machine_cards(input);
    if (!object) return refuse(422, object.error().message);
    Reply reply;
    reply.body = with_schema(*object);
    return reply;
  });
}

}  // namespace fathom::view
