// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/top.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/json/writer.h"
#include "cli/commands/top/history.h"
#include "cli/commands/top/job_source.h"
#include "cli/commands/top/metrics.h"
#include "cli/commands/top/metrics_server.h"
#include "cli/commands/top/top_page.h"
#include "cli/commands/top/top_screen.h"
#include "cli/language/command_line.h"
#include "cli/language/options.h"
#include "cli/language/result_output.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/units.h"
#include "live/job_state_json.h"
#include "live/verdict/verdict.h"

namespace fathom::cli {
namespace {

struct TopOptions {
  std::string run;
  bool once = false;
  bool why = false;
  std::optional<std::uint64_t> interval_ns;
  std::string metrics;
  ResultOutput output;

  double interval_s() const {
    return static_cast<double>(interval_ns.value_or(1'000'000'000)) * 1e-9;
  }
};

// Two samples and the verdict on them; no states if the job has ended.
struct Look {
  live::JobState earlier, now;
  live::Verdict verdict;
  bool ended = false;
};

base::Result<Look> look_at(JobSource& source, double interval_s) {
  Look look;
  auto state = source.read();
  if (state && *state && source.changes()) {
    look.earlier = std::move(**state);
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
    state = source.read();
  }
  if (!state) return state.error();
  look.ended = !*state;
  if (look.ended) return look;
  look.now = std::move(**state);
  look.verdict = live::judge(look.now, look.earlier);
  return look;
}

std::string json_of(const Look& look, bool why) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) {
                           if (why) {
                             json.field("schema", "fathom-verdict/1");
                             live::write_members(look.verdict, json);
                             return;
                           }
                           live::write_members(look.now, json);
                           json.object("verdict", [&] { live::write_members(look.verdict, json); });
                         }) +
         "\n";
}

std::string page_of(const Look& look, const Terminal& terminal) {
  TopView view;
  view.width = terminal.width();
  std::string text;
  for (const TopLine& line : top_page(look.now, look.earlier, look.verdict, view))
    text += terminal.styled(line.style, terminal.text(line.text)) + "\n";
  return text;
}

std::string verdict_of(const Look& look, const Terminal& terminal) {
  std::string text;
  for (const std::string& line : wrapped(printable(look.verdict.text), terminal.width(), ""))
    text += line + "\n";
  return text;
}

int print_once(const TopOptions& options, JobSource& source) {
  const auto look = look_at(source, options.interval_s());
  if (!look) return fail(kFailed, "top", look.error().message);
  if (look->ended) return fail(kFailed, "top", "the job of '" + options.run + "' has ended");
  const Terminal terminal = Terminal::of(options.output.path);
  const int delivered = deliver(options.output, "top",
                                options.output.wants_json() ? json_of(*look, options.why)
                                : options.why               ? verdict_of(*look, terminal)
                                                            : page_of(*look, terminal));
  if (delivered != kFine) return delivered;
  return options.why && look->verdict.hung ? kStuck : kFine;
}

int watch(const TopOptions& options, JobSource& source) {
  const auto end = show_screen(source, options.interval_s());
  if (!end) return fail(kFailed, "top", end.error().message);
  if (*end == ScreenEnd::kJobEnded) std::printf("The job of %s has ended.\n", options.run.c_str());
  return kFine;
}

// Beside a file, in a run directory.
std::string token_path_of(const std::string& run) {
  std::error_code failed;
  return std::filesystem::is_directory(run, failed) ? run + "/metrics-token"
                                                    : run + ".metrics-token";
}

// Until the job ends.
int serve(const TopOptions& options, JobSource& source) {
  const auto refuse = [](const std::string& why) { return fail(kFailed, "top", why); };
  const auto address = base::parse_http_address(options.metrics);
  if (!address) return fail(kWrongUsage, "top", "--metrics: " + address.error().message);
  auto state = source.read();
  if (!state) return refuse(state.error().message);
  const std::string path = token_path_of(options.run);
  const auto token = base::kept_token(path);
  if (!token) return refuse(token.error().message);
  const auto server = MetricsServer::start(*address, *token);
  if (!server) return refuse(server.error().message);
  std::fprintf(stderr, "fathom: metrics on http://%s:%d/metrics, with the token in %s\n",
               address->host.c_str(), (*server)->port(), path.c_str());
  for (History history; *state;) {
    history.add(std::move(**state));
    const live::JobState& earlier = history.before(1);
    (*server)->publish(open_metrics(history.now(), earlier, live::judge(history.now(), earlier)));
    std::this_thread::sleep_for(std::chrono::duration<double>(options.interval_s()));
    state = source.read();
    if (!state) return refuse(state.error().message);
  }
  std::fprintf(stderr, "fathom: the job of %s has ended\n", options.run.c_str());
  return kFine;
}

int top(const TopOptions& options) {
  if (const auto checked = check(options.output); !checked)
    return fail(kWrongUsage, "top", checked.error().message);
  const auto source = open_job(options.run);
  if (!source) return fail(kFailed, "top", source.error().message);
  if (!options.metrics.empty()) return serve(options, **source);
  const bool once =
      options.once || options.why || options.output.json || !options.output.path.empty();
  return once ? print_once(options, **source) : watch(options, **source);
}

}  // namespace

Action declare_top(CLI::App& app) {
  auto options = std::make_shared<TopOptions>();
  app.add_option("RUN", options->run, "run directory of a running job, or a saved state")
      ->required()
      ->type_name("");
  app.add_flag("--once", options->once, "print the page once and exit");
  app.add_flag("--why", options->why,
               "print only who holds whom up, and why; exit code 4 if the job can never go on");
  add_time(app, "--interval", options->interval_ns, "time between two samples (default: 1s)");
  app.add_option("--metrics", options->metrics,
                 "serve OpenMetrics, for Prometheus, until the job ends; on the loopback interface "
                 "unless HOST is given")
      ->type_name("[HOST]:PORT");
  add_result_output(app, options->output, "print the state and the verdict as JSON, for programs");
  return [options] { return top(*options); };
}

}  // namespace fathom::cli
