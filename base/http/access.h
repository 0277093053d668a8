// SPDX-License-Identifier: BSD-3-Clause
// Where a server listens, and the secret that its clients must know.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fathom::base {

struct HttpAddress {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
  // Path of a Unix socket, instead of both: made by the server, for its user only, and removed at its end.
  std::string socket_path;
};

// ":9464", "9464", "0.0.0.0:9464", "[::1]:9464"; without a host it is the loopback interface.
Result<HttpAddress> parse_http_address(const std::string& text);

// Whether only processes on this machine can reach it: 127.0.0.0/8, ::1, localhost, a Unix socket.
bool is_local(const HttpAddress& address);

// 128 random bits, as 32 hexadecimal digits. An Error if the kernel has none.
Result<std::string> new_token();

// The token in a file that only its user can read; made if there is none. An Error if others may read
// it, or it cannot be written.
Result<std::string> kept_token(const std::string& path);

// Takes as long for a wrong secret as for the right one.
bool same_secret(std::string_view one, std::string_view other);

}  // namespace fathom::base
