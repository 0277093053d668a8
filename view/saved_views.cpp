// SPDX-License-Identifier: BSD-3-Clause
#include "view/saved_views.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "base/atomic_file.h"
#include "base/byte_source.h"
#include "base/json/reader.h"

namespace fathom::view {
namespace {

struct SavedView {
  std::string name, state = "null", note;
  std::int64_t saved_unix_s = 0;
};

base::Target target_of(SavedView& view) {
  return base::Object{[&view](std::string_view key) -> base::Target {
                        if (key == "name") return &view.name;
                        if (key == "note") return &view.note;
                        if (key == "saved_unix_s") return &view.saved_unix_s;
                        if (key != "state") return std::monostate{};
                        view.state.clear();
                        return base::JsonText{&view.state};
                      },
                      {}};
}

base::Result<std::vector<SavedView>> read_views(base::ByteSource& source, const std::string& name) {
  std::vector<SavedView> views;
  const base::Object root{[&views](std::string_view key) -> base::Target {
                            if (key == "views") return base::list_of(views, target_of);
                            return std::monostate{};
                          },
                          {}};
  const auto read = base::read_json(source, name, root, "views are saved by the pages themselves");
  if (!read) return read.error();
  return views;
}

std::string file_of(const ViewedRun& run) { return run.folder() + "/views.json"; }

void write_views(base::JsonWriter& json, const std::vector<SavedView>& views) {
  json.objects("views", views, [&](const SavedView& view) {
    json.field("name", view.name);
    json.key("state");
    json.raw(view.state);
    json.field("note", view.note);
    json.field("saved_unix_s", view.saved_unix_s);
  });
}

bool can_be_saved(const ViewedRun& run) {
  const std::string folder = run.folder();
  std::error_code failed;
  const bool there = std::filesystem::is_directory(folder, failed);
  const std::string parent = std::filesystem::path(folder).parent_path().string();
  return access(there ? folder.c_str() : parent.empty() ? "." : parent.c_str(), W_OK) == 0;
}

}  // namespace

Reply saved_views(Session& session, const Query& query) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  std::vector<SavedView> views;
  std::error_code failed;
  if (std::filesystem::is_regular_file(file_of(**run), failed)) {
    if (std::filesystem::file_size(file_of(**run), failed) > 2 * kMostSavedBytes)
      return refuse(422, file_of(**run) + " is too large for a file of saved views");
    const auto file = base::open_file(file_of(**run));
    if (!file) return refuse(422, file.error().message);
    auto read = read_views(**file, file_of(**run));
    if (!read) return refuse(422, read.error().message);
    views = std::move(*read);
  }
  return json_reply([&](base::JsonWriter& json) {
    write_views(json, views);
    json.field("writable", can_be_saved(**run));
  });
}

Reply save_views(Session& session, const Query& query, const std::string& body) {
  const auto run = run_of(session, query);
  if (!run) return refuse(404, run.error().message);
  // Bounded, because a page that is open for long must not fill the run's disk.
  if (body.size() > kMostSavedBytes) return refuse(413, "views may take 256 KiB at most");
  base::MemorySource source(body);
  auto views = read_views(source, "the views");
  if (!views) return refuse(400, views.error().message);
  if (views->size() > kMostSavedViews) return refuse(413, "a run keeps 1,000 views at most");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  for (SavedView& view : *views) {
    if (view.saved_unix_s == 0)
      view.saved_unix_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  }
  const auto folder = (*run)->kept_folder();
  if (!folder) return refuse(422, folder.error().message);
  base::AtomicFile file;
  if (const auto opened = file.open(file_of(**run), base::AtomicFile::Existing::kReplace); !opened)
    return refuse(422, opened.error().message);
  base::JsonWriter json(file, base::kReadableIndent);
  json.object([&] {
    json.field("schema", kSchema);
    write_views(json, *views);
  });
  json.line_break();
  json.finish();
  if (const auto committed = file.commit(); !committed)
    return refuse(422, committed.error().message);
  return saved_views(session, query);
}

}  // namespace fathom::view
