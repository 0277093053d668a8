// SPDX-License-Identifier: BSD-3-Clause
#include "view/viewer.h"

#include <mutex>
#include <string_view>
#include <utility>

#include "view/saved_views.h"

namespace fathom::view {

const char kContentSecurityPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'";

namespace {

// Many, because a browser keeps six connections open that are idle most of the time.
base::HttpLimits limits_of_viewer() {
  base::HttpLimits limits;
  limits.threads = 24;
  limits.connections = 48;
  limits.request_bytes = kMostSavedBytes + (16 << 10);
  limits.request_seconds = 10;
  limits.idle_seconds = 20;
  limits.requests_per_connection = 10'000;
  return limits;
}

// The value of a cookie; empty: there is none.
std::string_view cookie(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
  }
  return {};
}

std::string etag_of(const std::string& body) {
  return '"' + std::to_string(std::hash<std::string_view>{}(body)) + '-' +
         std::to_string(body.size()) + '"';
}

base::HttpAnswer plain(int status, const char* sentence) {
  return {status, "text/plain; charset=utf-8", std::string(sentence) + "\n"};
}

}  // namespace

struct Viewer::State {
  Session session;
  Pages pages;
  std::string token, cookie_name;
  std::string own_name;  // of another loopback address
  std::mutex code_mutex;
  std::string code;  // empty: it was used
  bool over_socket = false;
  std::unique_ptr<base::HttpServer> server;  // last: it calls respond() until it is gone

  bool knows_token(const base::HttpRequest& request) const {
    constexpr std::string_view kBearer = "Bearer ";
    const std::string given = request.header("authorization");
    if (given.starts_with(kBearer))
      return base::same_secret(std::string_view(given).substr(kBearer.size()), token);
    return base::same_secret(cookie(request.header("cookie"), cookie_name), token);
  }

  // Through a Unix socket, ssh gives the other end whatever port the user likes.
  bool is_named_well(const base::HttpRequest& request) const {
    const std::string host = request.header("host");
    for (const std::string_view name :
         {std::string_view("127.0.0.1"), std::string_view("localhost"), std::string_view("[::1]"),
          std::string_view(own_name)}) {
      if (name.empty() || !host.starts_with(name)) continue;
      const std::string rest = host.substr(name.size());
      if (rest == ":" + std::to_string(request.port)) return true;
      const bool digits = rest.empty() || (rest.size() > 1 && rest.front() == ':' &&
                                           rest.find_first_not_of("0123456789", 1) == rest.npos);
      if (over_socket && digits) return true;
    }
    return false;
  }

  base::HttpAnswer respond(const base::HttpRequest& request) {
    if (!is_named_well(request)) return plain(403, "the request's Host does not name this server");
    if (request.method == "GET" && request.path == "/" &&
        (request.parameters.contains("token") || request.parameters.contains("once")))
      return enter(request);
    if (!knows_token(request))
      return plain(401, "open the address that fathom view printed, with its token");
    if (request.path.starts_with("/api/")) return ask(request);
    if (request.method != "GET") return plain(405, "only GET");
    const PageFile* page = pages.find(request.path);
    if (page == nullptr) return plain(404, "there is no such page");
    return tagged(request, {200, page->type, page->bytes});
  }

  // The token leaves the address bar, and the history with it.
  base::HttpAnswer enter(const base::HttpRequest& request) {
    const Query query(request.parameters);
    if (!base::same_secret(query.text("token"), token) && !use_code(query.text("once")))
      return plain(401, "the token is wrong: this is not the address that fathom view printed");
    base::HttpAnswer answer = plain(303, "go to /");
    answer.headers = {{"Location", "/"},
                      {"Set-Cookie", cookie_name + "=" + token +
                                         "; HttpOnly; SameSite=Strict; "
                                         "Path=/"}};
    return answer;
  }

  bool use_code(const std::string& given) {
    const std::lock_guard lock(code_mutex);
    if (code.empty() || !base::same_secret(given, code)) return false;
    code.clear();
    return true;
  }

  base::HttpAnswer ask(const base::HttpRequest& request) {
    if (request.path == "/api/views") {
      const Query query(request.parameters);
      Reply reply = request.method == "PUT" && request.header("x-fathom") == "1"
                        ? save_views(session, query, request.body)
                    : request.method == "GET"
                        ? saved_views(session, query)
                        : refuse(405, "GET, or PUT with the header X-Fathom: 1");
      return {reply.status, reply.type, std::move(reply.body)};
    }
    if (request.method != "GET") return plain(405, "only GET");
    Reply reply = answer(session, request.path, request.parameters);
    if (reply.status != 200) return {reply.status, reply.type, std::move(reply.body)};
    return tagged(request, {200, reply.type, std::move(reply.body)});
  }

  static base::HttpAnswer tagged(const base::HttpRequest& request, base::HttpAnswer answer) {
    const std::string tag = etag_of(answer.body);
    if (request.header("if-none-match") == tag) answer = {304, answer.type, ""};
    answer.headers.emplace_back("ETag", tag);
    return answer;
  }
};

Viewer::Viewer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Viewer::~Viewer() = default;

base::Result<std::unique_ptr<Viewer>> Viewer::start(const ViewerOptions& options, Tools tools) {
  if (!base::is_local(options.address))
    return base::Error{"'" + options.address.host +
                       "' is reached from other machines; the viewer listens on the loopback "
                       "interface or a Unix socket only, and ssh -L leads there"};
  auto state = std::make_unique<State>();
  auto pages = Pages::load(options.pages);
  if (!pages) return pages.error();
  state->pages = std::move(*pages);
  auto token = base::new_token();
  if (!token) return token.error();
  state->token = std::move(*token);
  // A browser sends cookies to every port of a host: those of two viewers need two names.
  const auto name = base::new_token();
  if (!name) return name.error();
  state->cookie_name = "fathom-view-" + name->substr(0, 8);
  if (options.address.host.find(':') == std::string::npos) state->own_name = options.address.host;
  state->over_socket = !options.address.socket_path.empty();
  state->session.tools = std::move(tools);
  for (const std::string& run : options.runs)
    state->session.runs.push_back(std::make_unique<ViewedRun>(run, state->session.tools));
  for (const auto& run : state->session.runs) run->watch();
  auto server = base::HttpServer::start(
      options.address,
      [held = state.get()](const base::HttpRequest& request) { return held->respond(request); },
      limits_of_viewer(),
      {{"Content-Security-Policy", kContentSecurityPolicy},
       {"X-Content-Type-Options", "nosniff"},
       {"Referrer-Policy", "no-referrer"},
       {"Cross-Origin-Opener-Policy", "same-origin"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Cache-Control", "no-cache"}});
  if (!server) return server.error();
  state->server = std::move(*server);
  return std::unique_ptr<Viewer>(new Viewer(std::move(state)));
}

int Viewer::port() const { return state_->server->port(); }
const std::string& Viewer::token() const { return state_->token; }
std::string Viewer::one_time_code() {
  const auto made = base::new_token();
  const std::lock_guard lock(state_->code_mutex);
  state_->code = made ? *made : "";
  return state_->code;
}

Session& Viewer::session() { return state_->session; }

void Viewer::abandon() {
  for (const auto& run : state_->session.runs) run->abandon();
  state_->server->close_name();
}

}  // namespace fathom::view
