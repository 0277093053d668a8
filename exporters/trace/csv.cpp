// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/csv.h"

#include <string>

#include "base/text.h"
#include "exporters/common/text_file.h"
#include "trace/code/call_site_names.h"
#include "trace/fields.h"

namespace fathom::exporters {
namespace {

using trace::Attribute;
using trace::Call;
using trace::Event;
using trace::EventKind;
using trace::Message;
using trace::Place;

// The columns between `depth` and `error`, in order.
constexpr Attribute kColumns[] = {Attribute::kCommunicator, Attribute::kPeer,
                                  Attribute::kTag,          Attribute::kBytes,
                                  Attribute::kRoot,         Attribute::kPeer2,
                                  Attribute::kTag2,         Attribute::kBytes2,
                                  Attribute::kCount,        Attribute::kNewCommunicator,
                                  Attribute::kFlag,         Attribute::kRequest,
                                  Attribute::kWindow,       Attribute::kOffset};

class CsvVisitor : public trace::Visitor {
 public:
  CsvVisitor(TextFile& file, const trace::Definitions& definitions, const TraceOptions& options)
      : file_(file), all_(definitions), options_(options), sites_(definitions) {
    for (const trace::Function& function : all_.functions)
      functions_.push_back(base::csv_field(function.name));
    for (const std::string& name : all_.classes) classes_.push_back(base::csv_field(name));
    for (const std::string& name : all_.phases) phases_.push_back(base::csv_field(name));
    file_ << "kind,rank,thread,begin_ns,end_ns,name,depth,communicator,peer,tag,bytes,root,peer2,"
             "tag2,bytes2,"
             "count,newcomm,flag,request,object,offset,error,message,hidden,site,"
             "caller,file,line,module,place\n";
  }

  void leave(const Place& place, const Call& call) override {
    begin("call", place, call.enter.time_ns, call.leave.time_ns,
          name_in(functions_, call.enter.function), call.depth);
    // Results, such as a new communicator, are known only at the leave.
    for (const Attribute column : kColumns)
      cell(trace::is_set(call.leave, column) ? call.leave : call.enter, column);
    file_ << ',' << call.leave.code << ",,,";
    if (call.enter.site) file_ << call.enter.site;
    file_ << ',' << site_cells(place, call.enter.site) << '\n';
  }

  void message(const Place& place, const Message& message) override {
    if (!options_.wants(message)) return;
    point(place, message.event, name_in(classes_, message.event.code));
    file_ << ",," << message.id << ',' << (message.hidden ? 1 : 0) << ',' << kNoSite << '\n';
  }

  void request_completed(const Place& place, const trace::Request&, const Event& event) override {
    if (event.kind == EventKind::kRequestCompleted) other(place, event);
  }

  void other(const Place& place, const Event& event) override {
    std::string_view name;
    switch (event.kind) {
      case EventKind::kPhaseBegin:
      case EventKind::kPhaseEnd: name = name_in(phases_, event.code); break;
      case EventKind::kSampled: name = name_in(functions_, event.function); break;
      case EventKind::kTransfer: name = step_name(event.code); break;
      default: break;
    }
    point(place, event, name);
    file_ << ",,,," << kNoSite << '\n';
  }

 private:
  static constexpr std::string_view kNoSite = ",,,,,";  // `caller` to `place`, a comma before each

  // The columns from `caller` to `place`.
  std::string_view site_cells(const Place& place, std::uint64_t address) {
    const std::uint32_t number = sites_.number_of(place.process, address);
    if (number == trace::CallSiteNames::kNone) return kNoSite.substr(1);
    if (number == site_cells_.size()) {
      const trace::CodeSite& site = sites_[number];
      site_cells_.push_back(base::csv_field(site.function) + ',' + base::csv_field(site.file) +
                            ',' + (site.line > 0 ? std::to_string(site.line) : "") + ',' +
                            base::csv_field(site.module) + ',' + std::to_string(site.offset));
    }
    return site_cells_[number];
  }

  static std::string_view name_in(const std::vector<std::string>& names, std::uint32_t number) {
    return number < names.size() ? std::string_view(names[number]) : "unknown";
  }

  static std::string_view step_name(std::uint32_t step) {
    constexpr std::string_view kSteps[] = {
        "",      "activate", "posted", "unposted", "matched", "matched unexpected",
        "begin", "continue", "end",    "complete"};
    return step < std::size(kSteps) ? kSteps[step] : "";
  }

  void begin(std::string_view kind, const Place& place, std::uint64_t from, std::uint64_t to,
             std::string_view name, std::uint32_t depth) {
    file_ << kind << ',' << place.rank << ',' << place.thread << ',' << from << ',' << to << ','
          << name << ',' << depth;
  }

  void point(const Place& place, const Event& event, std::string_view name) {
    begin(kind_name(event.kind), place, event.time_ns, event.time_ns, name, 0);
    for (const Attribute column : kColumns) cell(event, column);
  }

  void cell(const Event& event, Attribute column) {
    file_ << ',';
    if (!trace::is_set(event, column) && !always(event, column)) return;
    const std::uint64_t value = trace::get_field(event, column);
    if (trace::field_of(column)->is_unsigned) {
      file_ << value;
    } else {
      file_ << static_cast<std::int64_t>(value);
    }
  }

  // Columns in which 0 is a value, not a missing one.
  static bool always(const Event& event, Attribute column) {
    const bool message =
        event.kind == EventKind::kMessageSent || event.kind == EventKind::kMessageReceived;
    return message && (column == Attribute::kTag || column == Attribute::kBytes);
  }

  TextFile& file_;
  const trace::Definitions& all_;
  const TraceOptions& options_;
  trace::CallSiteNames sites_;
  std::vector<std::string> site_cells_;  // by number of the place
  std::vector<std::string> functions_, classes_, phases_;
};

}  // namespace

base::Status export_trace_csv(const trace::Trace& trace, const TraceOptions& options,
                              const std::string& path, Notes& notes) {
  TextFile file;
  const auto opened = file.open(path, options.force);
  if (!opened) return opened;
  CsvVisitor visitor(file, trace.definitions(), options);
  walk_job(trace, visitor, notes);
  return file.commit();
}

}  // namespace fathom::exporters
