// SPDX-License-Identifier: BSD-3-Clause
#include "trace/definitions_payload.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "trace/attributes.h"

namespace fathom::trace {
namespace {

class Text {
 public:
  void add(std::string_view key, std::string_view value) {
    text_.append(key);
    text_ += ' ';
    // A name may hold a newline, which would end the line for readers.
    for (const char c : value) {
      if (c == '\n' || c == '\\') text_ += '\\';
      text_ += c == '\n' ? 'n' : c;
    }
    text_ += '\n';
  }
  void add(std::string_view key, std::uint64_t number, std::string_view value) {
    add(key, std::to_string(number) + " " + std::string(value));
  }
  void add_if(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string text_of(const CodeSegment& segment) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%llx %llx %llx ",
                static_cast<unsigned long long>(segment.base),
                static_cast<unsigned long long>(segment.size),
                static_cast<unsigned long long>(segment.offset));
  return numbers + (segment.build_id.empty() ? std::string("-") : segment.build_id) + " " +
         segment.path;
}

void add_sites(const std::map<std::uint64_t, NamedSite>& sites, Text& text) {
  for (const auto& [address, site] : sites) {
    char numbers[48];
    std::snprintf(numbers, sizeof numbers, "%llx %d ", static_cast<unsigned long long>(address),
                  site.line);
    text.add("site", numbers + site.file + '\t' + site.function);
  }
}

void add_run(const Definitions& definitions, Text& text) {
  text.add_if("executable", definitions.application.executable);
  for (const std::string& argument : definitions.application.arguments)
    text.add("argument", argument);
  text.add_if("level", definitions.level);
  text.add_if("source", definitions.source);
  for (const std::string& pattern : definitions.chosen_communicators)
    text.add("chosen-communicators", pattern);
  for (const std::string& what : definitions.selection) text.add("selection", what);
  for (std::size_t i = 0; i < definitions.functions.size() && i < kHasSite; ++i) {
    text.add("function", function_line({static_cast<std::uint32_t>(i), definitions.functions[i]}));
  }
  for (std::size_t i = 0; i < definitions.classes.size(); ++i) {
    const bool hidden = i < definitions.class_hidden.size() && definitions.class_hidden[i];
    text.add("class", i, (hidden ? "1 " : "0 ") + definitions.classes[i]);
  }
  for (std::size_t i = 0; i < definitions.phases.size(); ++i)
    text.add("phase", i, definitions.phases[i]);
}

void add_process(const Definitions& definitions, const Process& process, Text& text) {
  text.add_if("host", process.host);
  text.add_if("affinity", process.affinity);
  if (process.socket >= 0) text.add("socket", std::to_string(process.socket));
  if (process.numa_node >= 0) text.add("numa", std::to_string(process.numa_node));
  for (std::size_t i = 0; i < process.threads.size(); ++i)
    text.add("thread", i, process.threads[i]);
  for (const CodeSegment& segment : process.code) text.add("code", text_of(segment));
  add_sites(process.sites, text);
  if (process.lost_records > 0) text.add("lost", std::to_string(process.lost_records));
  text.add("clock", "monotonic");
  if (process.clock.own) {
    text.add("own-clock",
             process.clock.bounded ? std::to_string(process.clock.uncertainty_ns) : "unbounded");
  }
  text.add("epoch", std::to_string(definitions.epoch_unix_ns));
}

profile::RowsHeader header_of(const Definitions& definitions, const Process& process) {
  profile::RowsHeader header{};
  std::memcpy(header.magic, profile::kRowsMagic, sizeof header.magic);
  header.job = kOwnJob;
  header.rank = static_cast<std::uint32_t>(process.rank);
  header.world_size = static_cast<std::uint32_t>(definitions.world_size);
  header.pid = static_cast<std::uint32_t>(process.pid);
  header.started_unix_ns = static_cast<std::uint64_t>(definitions.application.started_unix_ns);
  const double elapsed_ns = definitions.application.seconds * 1e9;
  header.elapsed_ns =
      elapsed_ns > 0 && elapsed_ns < 1e19 ? static_cast<std::uint64_t>(elapsed_ns + 0.5) : 0;
  return header;
}

void section(std::string& payload, std::uint32_t kind, const void* data, std::size_t size) {
  if (size == 0) return;
  const profile::SectionHeader header{static_cast<profile::Section>(kind), 0, size};
  payload.append(reinterpret_cast<const char*>(&header), sizeof header);
  payload.append(static_cast<const char*>(data), size);
  payload.append((8 - size % 8) % 8, '\0');
}

template <typename Row>
void section(std::string& payload, std::uint32_t kind, const std::vector<Row>& rows) {
  section(payload, kind, rows.data(), rows.size() * sizeof(Row));
}

}  // namespace

std::string definitions_payload(const Definitions& definitions, std::size_t process,
                                const ProcessCommunicators& communicators) {
  const Process& described = definitions.processes[process];
  const profile::RowsHeader header = header_of(definitions, described);
  std::string payload(reinterpret_cast<const char*>(&header), sizeof header);
  Text text;
  add_run(definitions, text);
  add_process(definitions, described, text);
  using profile::Section;
  const auto number = [](Section kind) { return static_cast<std::uint32_t>(kind); };
  section(payload, number(Section::kText), text.text().data(), text.text().size());
  section(payload, number(Section::kCommunicators), communicators.rows);
  section(payload, number(Section::kForeignMembers), communicators.foreign_members);
  // One tick is one nanosecond of the run, for every process.
  const std::vector<ClockRow> moment = {
      {1, 1, definitions.epoch_unix_ns + 1, 1, described.clock.uncertainty_ns}};
  section(payload, kClockSection, moment);
  return payload;
}

std::string sites_payload(const Definitions& definitions, std::size_t process,
                          const std::map<std::uint64_t, NamedSite>& sites) {
  const profile::RowsHeader header = header_of(definitions, definitions.processes[process]);
  std::string payload(reinterpret_cast<const char*>(&header), sizeof header);
  Text text;
  add_sites(sites, text);
  section(payload, static_cast<std::uint32_t>(profile::Section::kText), text.text().data(),
          text.text().size());
  return payload;
}

}  // namespace fathom::trace
