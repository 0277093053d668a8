// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/recording/trace_settings.h"

#include <cstdlib>

#include "base/name_patterns.h"
#include "profiler/process/settings.h"

namespace fathom::profiler {
namespace {

bool read_seconds(const std::string& text, double& seconds) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(number >= 0)) return false;
  seconds = number;
  return true;
}

}  // namespace

TraceSettings read_trace_settings() {
  TraceSettings settings;
  // A value that cannot be read must not fail the user's job: the default stays.
  const auto refuse = [&settings](const char* name, const std::string& value,
                                  const char* expected) {
    settings.not_understood.push_back(std::string(name) + "=" + value +
                                      " was not understood (expected " + expected +
                                      "); the default was used");
  };
  const std::string trace = environment_value("FATHOM_TRACE");
  settings.on_request = trace == "request" && environment_value("FATHOM_FLIGHT").empty();
  settings.wanted = trace != "0" && !settings.on_request;
  settings.sites = environment_value("FATHOM_TRACE_SITES") != "0";
  const std::string level = environment_value("FATHOM_TRACE_LEVEL");
  settings.transfers = level != "calls";
  if (!level.empty() && level != "calls" && level != "transfers")
    refuse("FATHOM_TRACE_LEVEL", level, "calls or transfers");
  const auto bytes = [&](const char* name, std::uint64_t& value) {
    const std::string text = environment_value(name);
    if (!text.empty() && !read_bytes(text, value)) refuse(name, text, "bytes, such as 16M");
  };
  bytes("FATHOM_TRACE_MEMORY", settings.memory_bytes);
  bytes("FATHOM_TRACE_SIZE", settings.size_cap_bytes);
  bytes("FATHOM_FLIGHT", settings.flight_bytes);
  const auto seconds = [&](const char* name, double& value) {
    const std::string text = environment_value(name);
    if (!text.empty() && !read_seconds(text, value)) refuse(name, text, "seconds");
  };
  seconds("FATHOM_TRACE_AFTER", settings.after_seconds);
  seconds("FATHOM_TRACE_FOR", settings.for_seconds);
  settings.functions = environment_list("FATHOM_TRACE_FUNCTIONS");
  settings.communicators = environment_list("FATHOM_TRACE_COMMUNICATORS");
  settings.phases = environment_list("FATHOM_TRACE_PHASES");
  settings.ranks = environment_value("FATHOM_TRACE_RANKS");
  const std::string sample = environment_value("FATHOM_TRACE_SAMPLE");
  if (!sample.empty()) {
    const long number = std::strtol(sample.c_str(), nullptr, 10);
    if (number >= 1 && number <= 1'000'000) {
      settings.sample = static_cast<std::uint32_t>(number);
    } else {
      refuse("FATHOM_TRACE_SAMPLE", sample, "a number from 1 to 1000000");
    }
  }
  return settings;
}

bool list_holds(const std::string& list, std::uint32_t number) {
  if (list.empty()) return true;
  for (const std::string& word : base::comma_separated(list)) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(word.c_str(), &end, 10);
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, nullptr, 10) : first;
    if (first <= number && number <= last) return true;
  }
  return false;
}

}  // namespace fathom::profiler
