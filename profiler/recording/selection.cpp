// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/selection.h"

#include <vector>

#include "base/name_patterns.h"
#include "base/text.h"
#include "function_numbers.h"
#include "profiler/calls/function_names.h"
#include "profiler/recording/traced_call.h"
#include "profiler/recording/traced_functions.h"

namespace fathom::profiler {
namespace {

std::string listed(const std::vector<std::string>& patterns) { return base::joined(patterns, ","); }

}  // namespace

void apply_selection(const TraceSettings& settings) {
  traced::Selection::sites = settings.sites;
  traced::Selection::sample = settings.sample;
  traced::Selection::last_call = kFunction_MPI_Finalize;
  for (std::uint32_t i = 0; i < kFunctionCount; ++i) {
    traced::Selection::left_out[i] = !base::chooses(settings.functions, kFunctionNames[i]);
  }
}

std::string describe_recording(const TraceSettings& settings) {
  std::string lines = kTracedFunctionLines;
  lines += std::string("clock ") + (Ticks::uses_counter() ? "tsc" : "monotonic") + '\n';
  lines += std::string("level ") + (settings.transfers ? "transfers" : "calls") + '\n';
  for (const std::string& pattern : settings.communicators)
    lines += "chosen-communicators " + pattern + '\n';
  const auto chosen = [&lines](const char* what, const std::string& value) {
    if (!value.empty()) lines += std::string("selection ") + what + ' ' + value + '\n';
  };
  chosen("functions", listed(settings.functions));
  chosen("ranks", settings.ranks);
  chosen("phases", listed(settings.phases));
  if (settings.after_seconds > 0) chosen("after", std::to_string(settings.after_seconds) + " s");
  if (settings.for_seconds > 0) chosen("for", std::to_string(settings.for_seconds) + " s");
  if (settings.flight_bytes > 0)
    chosen("flight", "the last " + std::to_string(settings.flight_bytes) + " bytes");
  if (settings.sample > 1) chosen("sample", std::to_string(settings.sample));
  return lines;
}

}  // namespace fathom::profiler
