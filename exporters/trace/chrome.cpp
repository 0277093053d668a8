// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/chrome.h"

#include <string>

#include "base/json/writer.h"
#include "exporters/common/text_file.h"
#include "trace/attributes.h"
#include "trace/code/call_site_names.h"
#include "trace/fields.h"

namespace fathom::exporters {
namespace {

using base::json_string;
using trace::Attribute;
using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Place;

class ChromeVisitor : public trace::Visitor {
 public:
  ChromeVisitor(TextFile& file, const trace::Definitions& definitions, const TraceOptions& options)
      : file_(file), all_(definitions), options_(options), sites_(definitions) {
    for (const trace::Function& function : all_.functions) {
      functions_.push_back(json_string(function.name));
    }
    for (const std::string& name : all_.classes) classes_.push_back(json_string(name));
    for (const std::string& name : all_.phases) phases_.push_back(json_string(name));
    for (std::size_t row = 0; row < all_.communicators.size(); ++row) {
      communicators_.push_back(
          json_string(communicator_name(all_, static_cast<std::int32_t>(row))));
    }
  }

  void begin() {
    file_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    for (const trace::Process& process : all_.processes) {
      metadata(process.rank, 0, "process_name")
          << "\"name\":" << json_string(process_name(process)) << "}}";
      metadata(process.rank, 0, "process_sort_index") << "\"sort_index\":" << process.rank << "}}";
      for (std::size_t thread = 0; thread < process.threads.size(); ++thread) {
        if (process.threads[thread].empty()) continue;
        metadata(process.rank, thread, "thread_name")
            << "\"name\":" << json_string(process.threads[thread]) << "}}";
      }
    }
  }
  void end() { file_ << "\n]}\n"; }

  void enter(const Place& place, const Call& call) override {
    head('B', place.rank, place.thread, call.enter.time_ns) << ",\"cat\":\"mpi\",\"name\":";
    if (call.enter.function < functions_.size()) {
      file_ << functions_[call.enter.function] << ",\"args\":{";
      const bool any = arguments(call.enter, all_.functions[call.enter.function].enter);
      site(place, call.enter.site, any);
      file_ << "}}";
    } else {
      file_ << "\"unknown function\"}";
    }
  }

  void leave(const Place& place, const Call& call) override {
    head('E', place.rank, place.thread, call.leave.time_ns);
    if (call.enter.function < functions_.size()) {
      file_ << ",\"args\":{";
      arguments(call.leave, all_.functions[call.enter.function].leave);
      file_ << '}';
    }
    file_ << '}';
  }

  void transfer(const trace::Transfer& transfer) override {
    const bool hidden = is_hidden(all_, transfer.sent.message_class);
    if (hidden ? !options_.hidden : !options_.user) return;
    const trace::MessageEnd &from = transfer.sent, &to = transfer.received;
    arrow('s', transfer.key.source, from);
    arrow('f', transfer.key.destination, to);
    slice('b', transfer, from.time_ns)
        << ",\"args\":{\"source\":" << transfer.key.source << ",\"tag\":" << transfer.key.tag
        << ",\"bytes\":" << from.bytes
        << ",\"communicator\":" << communicator_text(transfer.key.communicator) << "}}";
    slice('e', transfer, std::max(from.time_ns, to.time_ns)) << '}';
  }

  void other(const Place& place, const Event& event) override {
    if (event.kind == EventKind::kPhaseBegin || event.kind == EventKind::kPhaseEnd) {
      head(event.kind == EventKind::kPhaseBegin ? 'b' : 'e', place.rank, place.thread,
           event.time_ns)
          << ",\"cat\":\"phase\",\"id\":" << event.code << ",\"name\":"
          << (event.code < phases_.size() ? std::string_view(phases_[event.code]) : "\"phase\"")
          << '}';
    } else if (event.kind == EventKind::kLost || event.kind == EventKind::kPause ||
               event.kind == EventKind::kResume) {
      head('i', place.rank, place.thread, event.time_ns)
          << ",\"s\":\"t\",\"name\":" << json_string(kind_name(event.kind))
          << ",\"args\":{\"records\":" << event.count << "}}";
    }
  }

 private:
  TextFile& next() {
    if (!first_) file_ << ',';
    first_ = false;
    return file_ << '\n';
  }

  TextFile& metadata(std::int64_t rank, std::size_t thread, const char* name) {
    return next() << "{\"ph\":\"M\",\"pid\":" << rank << ",\"tid\":" << thread << ",\"name\":\""
                  << name << "\",\"args\":{";
  }

  TextFile& head(char type, std::int64_t rank, std::uint32_t thread, std::uint64_t time_ns) {
    const char decimals[4] = {'.', static_cast<char>('0' + time_ns / 100 % 10),
                              static_cast<char>('0' + time_ns / 10 % 10),
                              static_cast<char>('0' + time_ns % 10)};
    return next() << "{\"ph\":\"" << type << "\",\"pid\":" << rank << ",\"tid\":" << thread
                  << ",\"ts\":" << time_ns / 1000 << std::string_view(decimals, 4);
  }

  void arrow(char type, std::int32_t rank, const trace::MessageEnd& end) {
    head(type, rank, end.thread, end.time_ns)
        << ",\"cat\":\"message\",\"id\":" << end.id << ",\"name\":" << class_text(end.message_class)
        << (type == 'f' ? ",\"bp\":\"e\"}" : "}");
  }

  TextFile& slice(char type, const trace::Transfer& transfer, std::uint64_t time_ns) {
    return head(type, transfer.key.destination, transfer.received.thread, time_ns)
           << ",\"cat\":\"transfer\",\"id\":" << transfer.sent.id
           << ",\"name\":" << class_text(transfer.sent.message_class);
  }

  std::string_view class_text(std::uint32_t message_class) const {
    return message_class < classes_.size() ? std::string_view(classes_[message_class])
                                           : "\"unknown class\"";
  }

  std::string communicator_text(std::int32_t communicator) const {
    const auto row = static_cast<std::size_t>(communicator);
    return communicator >= 0 && row < communicators_.size()
               ? communicators_[row]
               : json_string(communicator_name(all_, communicator));
  }

  // Where in the program the call is made.
  void site(const Place& place, std::uint64_t address, bool is_next) {
    const std::uint32_t number = sites_.number_of(place.process, address);
    if (number == trace::CallSiteNames::kNone) return;
    if (number == site_texts_.size()) site_texts_.push_back(site_text(sites_[number]));
    if (is_next && !site_texts_[number].empty()) file_ << ',';
    file_ << site_texts_[number];
  }
  static std::string site_text(const trace::CodeSite& site) {
    std::string text;
    const auto add = [&text](const char* name, const std::string& value) {
      text.append(text.empty() ? "\"" : ",\"").append(name).append("\":").append(value);
    };
    const std::string file = trace::file_or_module(site);
    if (!site.function.empty()) add("caller", json_string(site.function));
    if (!file.empty()) add("file", json_string(file));
    if (site.line > 0) add("line", std::to_string(site.line));
    return text;
  }

  // Returns whether there was any.
  bool arguments(const Event& event, const std::vector<Attribute>& wanted) {
    bool first = true;
    for (const Attribute attribute : wanted) {
      const trace::Field* field = trace::field_of(attribute);
      if (!field || !trace::is_set(event, attribute)) continue;
      if (!first) file_ << ',';
      first = false;
      const std::uint64_t value = trace::get_field(event, attribute);
      file_ << '"' << trace::name_of(attribute) << "\":";
      if (field->is_unsigned) {
        file_ << value;
      } else {
        file_ << static_cast<std::int64_t>(value);
      }
    }
    return !first;
  }

  TextFile& file_;
  const trace::Definitions& all_;
  const TraceOptions& options_;
  trace::CallSiteNames sites_;
  std::vector<std::string> site_texts_;  // by number of the place
  // Names as JSON strings, converted once, because millions of events repeat them.
  std::vector<std::string> functions_, classes_, phases_, communicators_;
  bool first_ = true;
};

}  // namespace

base::Status export_chrome(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes) {
  TextFile file;
  const auto opened = file.open(path, options.force);
  if (!opened) return opened;
  ChromeVisitor visitor(file, trace.definitions(), options);
  visitor.begin();
  walk_job(trace, visitor, notes);
  visitor.end();
  if (trace.definitions().level == "transfers") {
    notes.push_back(
        "Chrome's JSON has no place for the steps inside a transfer; they were left out");
  }
  return file.commit();
}

}  // namespace fathom::exporters
