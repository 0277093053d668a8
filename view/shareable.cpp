// SPDX-License-Identifier: BSD-3-Clause
#include "view/shareable.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string_view>
#include <thread>

#include "base/crypto/sha256.h"
#include "view/pyramid/pyramid.h"

namespace fathom::view {
namespace {

// "/api/tile?column=0&level=0&run=0": as the pages spell a question (view/page/src/pure/answer_key.ts).
std::string spelled(const std::string& path, const Query::Parameters& parameters) {
  std::string key = path;
  char before = '?';
  for (const auto& [name, value] : parameters) {
    key += before + name + '=' + value;
    before = '&';
  }
  return key;
}

// In a script element, "</script" would end it, wherever it is; in JSON, "<" occurs in strings only.
std::string without_tags(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char letter : json) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// RFC 4648, with padding.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[at + i])} : 0u;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    const std::size_t digits = std::min<std::size_t>(bytes.size() - at, 3) + 1;
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += digit < digits ? kDigits[three >> (18 - 6 * digit) & 63] : '=';
  }
  return text;
}

std::string hash_of(const std::string& code) {
  const auto hash = base::sha256(code);
  return "'sha256-" + base64({reinterpret_cast<const char*>(hash.data()), hash.size()}) + "'";
}

// What a large run has too much of is left out.
constexpr std::size_t kLargestAnswer = kMostFileBytes / 10;

class Answers {
 public:
  explicit Answers(Session& session) : session_(session) {}

  std::size_t bytes() const { return bytes_; }
  const std::vector<std::string>& left_out() const { return left_out_; }

  // Leaves out what the run does not have, and what is too large.
  void add(const std::string& path, const Query::Parameters& parameters,
           const Query::Parameters& hidden = {}) {
    Query::Parameters all = parameters;
    all.insert(hidden.begin(), hidden.end());
    Reply reply = answer(session_, path, all);
    for (; reply.status == 202; reply = answer(session_, path, all))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (reply.status != 200) return;
    // A large matrix comes as its coarsest tile, which the page asks for by its place.
    Query::Parameters asked = parameters;
    if (path == "/api/matrix" && reply.type == kBinary)
      asked.insert({{"level", "0"}, {"row", "0"}, {"column", "0"}});
    const std::string key = spelled(path, asked);
    if (reply.body.size() > kLargestAnswer) {
      left_out_.push_back(key);
      return;
    }
    take(key, reply.type == kJson ? without_tags(reply.body)
                                  : "{\"base64\":\"" + base64(reply.body) + "\"}");
  }

  std::string text() const {
    std::string all = "{";
    for (const auto& [key, value] : answers_) {
      if (all.size() > 1) all += ",\n";
      all += without_tags(base::json_string(key)) + ":" + value;
    }
    return all + "}";
  }

 private:
  void take(const std::string& key, std::string value) {
    bytes_ += key.size() + value.size() + 8;
    answers_[key] = std::move(value);
  }

  Session& session_;
  std::map<std::string, std::string> answers_;
  std::size_t bytes_ = 0;
  std::vector<std::string> left_out_;
};

base::Status await(Pyramid& pyramid) {
  while (!pyramid.waits() || !pyramid.is_joined()) {
    if (const std::string problem = pyramid.problem(); !problem.empty())
      return base::Error{problem};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return base::Done{};
}

void add_plain(Answers& answers, ViewedRun& run) {
  const Query::Parameters only{{"run", "0"}};
  answers.add("/api/runs", {});
  for (const char* path : {"/api/report", "/api/findings", "/api/window", "/api/calls", "/api/path",
                           "/api/machine", "/api/machine/sizes", "/api/machine/cards"})
    answers.add(path, only);
  for (const char* what : {"bytes", "messages", "waits"}) {
    for (const char* by : {"rank", "host"}) {
      answers.add("/api/matrix", {{"run", "0"}, {"what", what}, {"by", by}});
      for (const char* order : {"host", "pattern", "cluster"})
        answers.add("/api/matrix", {{"run", "0"}, {"what", what}, {"by", by}, {"order", order}});
    }
  }
  for (const char* bins : {"256", "512"}) answers.add("/api/strip", {{"run", "0"}, {"bins", bins}});
  answers.add("/api/strip", only);
  const auto loaded = run.loaded();
  if (!loaded || (*loaded)->trace == nullptr) return;
  const analysis::TraceSpan span = analysis::recorded_span((*loaded)->trace->definitions());
  answers.add("/api/messages", {{"run", "0"},
                                {"from", std::to_string(span.from_ns)},
                                {"to", std::to_string(span.to_ns)},
                                {"top", "200"}});
}

// What the page Machine plays: the whole run, then a sixteenth after the other, as view/page/src/machine/playback.ts
// asks for them. Small runs only: `room` bytes at most.
void add_playback(Answers& answers, ViewedRun& run, std::size_t room) {
  constexpr int kChunks = 16;  // of playback.ts
  const auto loaded = run.loaded();
  if (!loaded || (*loaded)->trace == nullptr) return;
  const CallsInWindow& calls = run.calls(*(*loaded)->trace);
  const std::uint64_t from = calls.first_ns(), to = calls.last_ns() + 1;
  const std::size_t end = answers.bytes() + room;
  const auto add = [&](std::uint64_t begin_ns, std::uint64_t end_ns) {
    if (answers.bytes() >= end) return;
    answers.add("/api/machine/traffic", {{"run", "0"},
                                         {"from", std::to_string(begin_ns)},
                                         {"to", std::to_string(end_ns)},
                                         {"bins", "64"}});
  };
  const auto edge = [&](int chunk) {
    const double width = static_cast<double>(to - from) / kChunks;
    return chunk == kChunks ? to
                            : static_cast<std::uint64_t>(
                                  std::llround(static_cast<double>(from) + chunk * width));
  };
  add(from, to);
  for (int chunk = 0; chunk < kChunks; ++chunk) add(edge(chunk), edge(chunk + 1));
}

// As many levels as there is room for, the coarsest first; each whole or not at all.
std::uint32_t add_levels(Answers& answers, const Geometry& geometry, std::uint32_t depth,
                         std::size_t room) {
  std::uint32_t level = 0;
  for (; level < geometry.levels; ++level) {
    // 24 bytes a cell, as base64: a bound that is never exceeded.
    const std::uint64_t most = geometry.bins(level) * geometry.lines(depth) * 32 +
                               geometry.columns(level) * geometry.rows(depth) * 200;
    if (answers.bytes() + most > room) break;
    for (std::uint64_t row = 0; row < geometry.rows(depth); ++row) {
      for (std::uint64_t column = 0; column < geometry.columns(level); ++column) {
        Query::Parameters asked{{"run", "0"},
                                {"level", std::to_string(level)},
                                {"row", std::to_string(row)},
                                {"column", std::to_string(column)}};
        if (depth > 0) asked["group"] = std::to_string(geometry.group(depth));
        answers.add("/api/tile", asked);
      }
    }
  }
  return level;
}

base::Result<std::string> page_with(const Pages& pages, const std::string& answers) {
  const auto named = [&pages](const char* name) {
    const auto found = pages.files().find(name);
    return found == pages.files().end() ? std::string() : found->second.bytes;
  };
  std::string html = named("index.html");
  const std::string script = replaced(named("app.js"), "</script", "<\\/script");
  const std::string style = named("app.css");
  const std::string policy = "default-src 'none'; script-src " + hash_of(script) + "; style-src " +
                             hash_of(style) +
                             "; img-src data: blob:; media-src blob:; base-uri 'none'; "
                             "form-action 'none'";
  const std::pair<std::string_view, std::string> parts[] = {
      {"<meta charset=\"utf-8\">",
       "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"" +
           policy + "\">"},
      {"<link rel=\"stylesheet\" href=\"app.css\">", "<style>" + style + "</style>"},
      {"<script src=\"app.js\"></script>",
       "<script type=\"application/json\" id=\"fathom-answers\">" + answers +
           "</script>\n<script>" + script + "</script>"}};
  for (const auto& [from, to] : parts) {
    const std::size_t at = html.find(from);
    if (at == html.npos)
      return base::Error{
          "the viewer's pages belong to another version of Fathom; install it again"};
    html.replace(at, from.size(), to);
  }
  return html;
}

}  // namespace

base::Result<ShareableFile> shareable_file(Session& session, const Pages& pages) {
  ViewedRun& run = *session.runs.front();
  if (const auto loaded = run.loaded(); !loaded) return loaded.error();
  Pyramid* pyramid = run.pyramid();
  if (pyramid != nullptr) {
    if (const auto ready = await(*pyramid); !ready) return ready.error();
  }
  std::size_t of_pages = 64 << 10;  // and the metadata
  for (const auto& [name, file] : pages.files()) of_pages += file.bytes.size();
  Answers answers(session);
  add_plain(answers, run);
  const std::size_t room = kMostFileBytes - std::min(kMostFileBytes, of_pages);
  if (answers.bytes() < room) add_playback(answers, run, (room - answers.bytes()) / 4);
  ShareableFile file;
  std::uint32_t depth = 0;
  if (answers.bytes() < room && pyramid != nullptr) {
    const Geometry& geometry = pyramid->geometry();
    file.all_levels = geometry.levels;
    // Lines of many processes where there is no room for those of each.
    for (; depth < geometry.depths() && file.levels == 0; ++depth)
      file.levels = add_levels(answers, geometry, depth, room);
    depth -= depth > 0 ? 1 : 0;
  }
  answers.add("/api/meta", {{"run", "0"}},
              {{"levels", std::to_string(file.levels)}, {"depth", std::to_string(depth)}});
  file.left_out = answers.left_out();
  auto html = page_with(pages, answers.text());
  if (!html) return html.error();
  if (html->size() > kMostFileBytes) return base::Error{"the file would be larger than 20 MB"};
  file.html = std::move(*html);
  return file;
}

}  // namespace fathom::view
