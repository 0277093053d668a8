// SPDX-License-Identifier: BSD-3-Clause
// The server of `fathom view`: who may ask, what is served, and in what headers.
//
// Everything needs the token, in a cookie that the first address sets, or as Authorization: Bearer. A
// request whose Host is another name is refused, because a page from elsewhere could have let its own name lead to this
// machine (DNS rebinding). The cookie is SameSite=Strict, so no other page's requests carry it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/http/server.h"
#include "base/result.h"
#include "view/pages.h"
#include "view/session.h"

namespace fathom::view {

struct ViewerOptions {
  std::vector<std::string> runs;
  std::string pages;          // the folder that holds them
  base::HttpAddress address;  // local ones only
};

class Viewer {
 public:
  // Serves from here on. An Error if it cannot listen, or the address is not this machine's own.
  static base::Result<std::unique_ptr<Viewer>> start(const ViewerOptions& options, Tools tools);
  ~Viewer();

  int port() const;
  const std::string& token() const;
  // Opens the pages once: for a browser's command line, which other users can read.
  std::string one_time_code();
  Session& session();
  // Leaves no file half written; the process must end now.
  void abandon();

 private:
  struct State;
  explicit Viewer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What the browser lets a served page do: nothing but scripts, styles and requests of this server.
extern const char kContentSecurityPolicy[];

}  // namespace fathom::view
