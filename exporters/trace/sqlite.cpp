// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/trace/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <concepts>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trace/attributes.h"
#include "trace/code/call_site_names.h"
#include "trace/fields.h"

namespace fathom::exporters {
namespace {

using trace::Attribute;
using trace::Call;
using trace::Event;
using trace::Message;
using trace::Place;

constexpr char kSchema[] = R"sql(
CREATE TABLE run(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE process(rank INTEGER PRIMARY KEY, host TEXT, pid INTEGER, affinity TEXT, complete INTEGER,
                     lost_records INTEGER);
CREATE TABLE function(id INTEGER PRIMARY KEY, name TEXT, grp TEXT);
CREATE TABLE communicator(id INTEGER PRIMARY KEY, name TEXT, made_by TEXT, parent INTEGER);
CREATE TABLE member(communicator INTEGER, comm_rank INTEGER, rank INTEGER,
                    PRIMARY KEY(communicator, comm_rank)) WITHOUT ROWID;
CREATE TABLE call(rank INTEGER, thread INTEGER, begin_ns INTEGER, end_ns INTEGER, function INTEGER, depth INTEGER,
                  communicator INTEGER, peer INTEGER, tag INTEGER, bytes INTEGER, root INTEGER, peer2 INTEGER,
                  tag2 INTEGER, bytes2 INTEGER, count INTEGER, newcomm INTEGER, flag INTEGER, request INTEGER,
                  object INTEGER, offset INTEGER, error INTEGER, site INTEGER);
CREATE TABLE sent(id INTEGER PRIMARY KEY, rank INTEGER, thread INTEGER, ns INTEGER, class TEXT, hidden INTEGER,
                  communicator INTEGER, peer INTEGER, tag INTEGER, bytes INTEGER, request INTEGER);
CREATE TABLE received(id INTEGER PRIMARY KEY, rank INTEGER, thread INTEGER, ns INTEGER, class TEXT, hidden INTEGER,
                      communicator INTEGER, peer INTEGER, tag INTEGER, bytes INTEGER, request INTEGER);
CREATE TABLE site(rank INTEGER, address INTEGER, function TEXT, file TEXT, line INTEGER, module TEXT,
                  place INTEGER, PRIMARY KEY(rank, address)) WITHOUT ROWID;
CREATE TABLE event(kind TEXT, rank INTEGER, thread INTEGER, ns INTEGER, code INTEGER, request INTEGER,
                   communicator INTEGER, peer INTEGER, tag INTEGER, count INTEGER);
CREATE VIEW message AS
  SELECT sent.id, sent.class, sent.hidden, sent.communicator, sent.tag, sent.bytes, sent.rank AS source,
         received.rank AS destination, sent.ns AS sent_ns, received.ns AS received_ns,
         sent.thread AS source_thread, received.thread AS destination_thread
  FROM sent JOIN received USING(id);
CREATE VIEW calls AS
  SELECT function.name, call.*, site.function AS caller, site.file, site.line, site.module, site.place
  FROM call JOIN function ON function.id = call.function
            LEFT JOIN site ON site.rank = call.rank AND site.address = call.site;
)sql";

// Made after the rows, which is faster than keeping them up to date.
constexpr char kIndices[] = R"sql(
CREATE INDEX call_by_function ON call(function, rank);
CREATE INDEX call_by_time ON call(rank, begin_ns);
CREATE INDEX call_by_site ON call(rank, site);
CREATE INDEX sent_by_pair ON sent(rank, peer);
CREATE INDEX received_by_pair ON received(peer, rank);
CREATE INDEX event_by_kind ON event(kind, rank);
)sql";

constexpr Attribute kCallColumns[] = {Attribute::kCommunicator, Attribute::kPeer,
                                      Attribute::kTag,          Attribute::kBytes,
                                      Attribute::kRoot,         Attribute::kPeer2,
                                      Attribute::kTag2,         Attribute::kBytes2,
                                      Attribute::kCount,        Attribute::kNewCommunicator,
                                      Attribute::kFlag,         Attribute::kRequest,
                                      Attribute::kWindow,       Attribute::kOffset};

using Number = std::optional<std::int64_t>;  // nullopt: NULL
Number number(std::uint64_t value) { return static_cast<std::int64_t>(value); }
Number unless_default(const Event& event, Attribute attribute) {
  if (!trace::is_set(event, attribute)) return std::nullopt;
  return number(trace::get_field(event, attribute));
}
Number unless_zero(std::uint64_t value) { return value == 0 ? std::nullopt : number(value); }

// The database under its temporary name; keeps the first error.
class Database {
 public:
  ~Database() {
    for (sqlite3_stmt* statement : {call_, sent_, received_, event_}) sqlite3_finalize(statement);
    sqlite3_close(handle_);
    std::error_code ignored;
    if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
  }

  base::Status open(const std::string& path, bool force) {
    path_ = path;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) &&
        (!force || !std::filesystem::is_regular_file(path, ignored))) {
      return base::Error{"'" + path +
                         "' exists already; name another place, or replace it with --force"};
    }
    temporary_ = path + ".part-" + std::to_string(::getpid());
    check(sqlite3_open(temporary_.c_str(), &handle_));
    // No crash safety is needed: the file does not have its final name yet.
    run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;");
    run(kSchema);
    run("BEGIN");
    call_ = prepare("INSERT INTO call VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    sent_ = prepare("INSERT INTO sent VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    received_ = prepare("INSERT INTO received VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    event_ = prepare("INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?)");
    return status();
  }

  base::Status commit() {
    run(kIndices);
    run("COMMIT");
    if (!error_.empty()) return status();
    std::error_code failed;
    std::filesystem::rename(temporary_, path_, failed);
    if (failed) error_ = failed.message();
    if (error_.empty()) temporary_.clear();
    return status();
  }

  // Inserts one row with a statement; `bind` calls text() and value() for its columns in order.
  template <typename Bind>
  void insert(sqlite3_stmt* statement, Bind bind) {
    if (!error_.empty()) return;
    row_ = statement;
    column_ = 0;
    bind();
    check(sqlite3_step(statement));
    sqlite3_reset(statement);
  }
  template <typename Bind>
  void insert_once(const char* sql, Bind bind) {
    sqlite3_stmt* statement = prepare(sql);
    if (statement) insert(statement, bind);
    sqlite3_finalize(statement);
  }

  // The text must outlive the insert, so a temporary is refused.
  template <std::same_as<std::string> Text>
  void text(Text&&) = delete;
  void text(std::string_view text) {
    check(sqlite3_bind_text(row_, ++column_, text.data(), static_cast<int>(text.size()),
                            SQLITE_STATIC));
  }
  void text_or_null(const std::string& held) { held.empty() ? value(std::nullopt) : text(held); }
  void value(Number value) {
    check(value ? sqlite3_bind_int64(row_, ++column_, *value) : sqlite3_bind_null(row_, ++column_));
  }

  sqlite3_stmt* call_statement() { return call_; }
  sqlite3_stmt* end_statement(bool sent) { return sent ? sent_ : received_; }
  sqlite3_stmt* event_statement() { return event_; }

 private:
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (error_.empty()) check(sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr));
    return statement;
  }
  void run(const char* sql) {
    if (error_.empty()) check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr));
  }
  void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW || !error_.empty()) return;
    error_ = handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  }
  base::Status status() const {
    if (error_.empty()) return base::Done{};
    return base::Error{"cannot write the database '" + path_ + "': " + error_};
  }

  std::string path_, temporary_, error_;
  sqlite3* handle_ = nullptr;
  sqlite3_stmt *call_ = nullptr, *sent_ = nullptr, *received_ = nullptr, *event_ = nullptr,
               *row_ = nullptr;
  int column_ = 0;
};

class SqliteVisitor : public trace::Visitor {
 public:
  SqliteVisitor(Database& database, const trace::Definitions& definitions,
                const TraceOptions& options)
      : database_(database), all_(definitions), options_(options) {}

  void definitions() {
    pair("world_size", std::to_string(all_.world_size));
    pair("executable", all_.application.executable);
    pair("epoch_unix_ns", std::to_string(all_.epoch_unix_ns));
    pair("level", all_.level);
    pair("source", all_.source);
    for (const trace::Process& process : all_.processes) {
      const std::string host = profile::shown_host(process.host);
      database_.insert_once("INSERT INTO process VALUES(?,?,?,?,?,?)", [&] {
        database_.value(process.rank);
        database_.text(host);
        database_.value(process.pid);
        database_.text(process.affinity);
        database_.value(process.complete ? 1 : 0);
        database_.value(number(process.lost_records));
      });
    }
    for (std::size_t function = 0; function < all_.functions.size(); ++function) {
      database_.insert_once("INSERT INTO function VALUES(?,?,?)", [&] {
        database_.value(number(function));
        database_.text(all_.functions[function].name);
        database_.text(trace::name_of(all_.functions[function].group));
      });
    }
    for (std::size_t self = 0; self < all_.communicators.size(); ++self) communicator(self);
  }

  void leave(const Place& place, const Call& call) override {
    database_.insert(database_.call_statement(), [&] {
      where(place);
      database_.value(number(call.enter.time_ns));
      database_.value(number(call.leave.time_ns));
      database_.value(call.enter.function);
      database_.value(call.depth);
      for (const Attribute column : kCallColumns) {
        database_.value(
            unless_default(trace::is_set(call.leave, column) ? call.leave : call.enter, column));
      }
      database_.value(call.leave.code);
      database_.value(unless_zero(call.enter.site));
    });
    if (call.enter.site != 0) sites_.emplace(place.process, call.enter.site);
  }

  // The source locations of the calls; after the walk.
  void sites() {
    trace::CallSiteNames names(all_);
    for (const auto& [process, address] : sites_) {
      const trace::CodeSite& site = names.of_call(process, address);
      const auto rank = all_.processes[process].rank;
      const auto shown_address = number(address);  // clang 14 captures no structured binding
      database_.insert_once("INSERT INTO site VALUES(?,?,?,?,?,?,?)", [&] {
        database_.value(rank);
        database_.value(shown_address);
        database_.text_or_null(site.function);
        database_.text_or_null(site.file);
        database_.value(site.line > 0 ? Number(site.line) : std::nullopt);
        database_.text_or_null(site.module);
        database_.value(number(site.offset));
      });
    }
  }

  void message(const Place& place, const Message& message) override {
    if (!options_.wants(message)) return;
    const Event& event = message.event;
    database_.insert(database_.end_statement(event.kind == trace::EventKind::kMessageSent), [&] {
      database_.value(number(message.id));
      where(place);
      database_.value(number(event.time_ns));
      database_.text(class_name(all_, event.code));
      database_.value(message.hidden ? 1 : 0);
      database_.value(event.communicator);
      database_.value(event.peer);
      database_.value(event.tag);
      database_.value(number(event.bytes));
      database_.value(unless_zero(event.request));
    });
  }

  void request_completed(const Place& place, const trace::Request&, const Event& event) override {
    if (event.kind == trace::EventKind::kRequestCompleted) other(place, event);
  }

  void other(const Place& place, const Event& event) override {
    database_.insert(database_.event_statement(), [&] {
      database_.text(kind_name(event.kind));
      where(place);
      database_.value(number(event.time_ns));
      database_.value(event.code);
      database_.value(unless_zero(event.request));
      for (const Attribute column :
           {Attribute::kCommunicator, Attribute::kPeer, Attribute::kTag, Attribute::kCount}) {
        database_.value(unless_default(event, column));
      }
    });
  }

 private:
  void where(const Place& place) {
    database_.value(place.rank);
    database_.value(place.thread);
  }

  void pair(std::string_view key, std::string_view value) {
    database_.insert_once("INSERT INTO run VALUES(?,?)", [&] {
      database_.text(key);
      database_.text(value);
    });
  }

  void communicator(std::size_t self) {
    const profile::Communicator& row = all_.communicators[self];
    const std::string name = communicator_name(all_, static_cast<std::int32_t>(self));
    database_.insert_once("INSERT INTO communicator VALUES(?,?,?,?)", [&] {
      database_.value(number(self));
      database_.text(name);
      database_.text(row.made_by);
      database_.value(row.parent >= 0 ? Number(row.parent) : std::nullopt);
    });
    for (std::size_t rank = 0; rank < row.world_ranks.size(); ++rank) {
      database_.insert_once("INSERT INTO member VALUES(?,?,?)", [&] {
        database_.value(number(self));
        database_.value(number(rank));
        database_.value(row.world_ranks[rank]);
      });
    }
  }

  Database& database_;
  const trace::Definitions& all_;
  const TraceOptions& options_;
  std::set<std::pair<std::size_t, std::uint64_t>> sites_;  // process, address
};

}  // namespace

base::Status export_sqlite(const trace::Trace& trace, const TraceOptions& options,
                           const std::string& path, Notes& notes) {
  Database database;
  const auto opened = database.open(path, options.force);
  if (!opened) return opened;
  SqliteVisitor visitor(database, trace.definitions(), options);
  visitor.definitions();
  walk_job(trace, visitor, notes);
  visitor.sites();
  return database.commit();
}

}  // namespace fathom::exporters
