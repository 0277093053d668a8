// SPDX-License-Identifier: BSD-3-Clause
#include "base/http/access.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace fathom::base {
namespace {

constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kTokenDigits = 2 * kTokenBytes;
class TokenFile {
 public:
  explicit TokenFile(int descriptor) : descriptor_(descriptor) {}
  ~TokenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

Error token_failure(const std::string& path, const char* what) {
  return {fmt::format("cannot {} the token '{}': {}", what, path, std::strerror(errno))};
}

Result<std::string> existing_token(const std::string& path) {
  // Not through a link, and checked once it is open: another user may replace it between check and use.
  const TokenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.descriptor() < 0) return token_failure(path, "read");
  struct stat status;
  if (fstat(file.descriptor(), &status) != 0) return token_failure(path, "read");
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return Error{"others may read or have made the token '" + path + "'; remove it"};
  std::array<char, kTokenDigits> token;
  if (read(file.descriptor(), token.data(), token.size()) != static_cast<ssize_t>(token.size()))
    return Error{"the token '" + path + "' is too short; remove it"};
  return std::string(token.data(), token.size());
}

}  // namespace

Result<HttpAddress> parse_http_address(const std::string& text) {
  HttpAddress address;
  const auto colon = text.rfind(':');
  std::string host = colon == text.npos ? "" : text.substr(0, colon);
  const std::string port = colon == text.npos ? text : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size() || address.port < 0 ||
      address.port > 65535)
    return Error{"'" + text + "' is not [HOST]:PORT with a port from 0 to 65535"};
  if (!host.empty()) address.host = host;
  return address;
}

bool is_local(const HttpAddress& address) {
  const std::string& host = address.host;
  return !address.socket_path.empty() || host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

Result<std::string> new_token() {
  std::array<unsigned char, kTokenBytes> random;
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return Error{std::string("cannot make a token: ") + std::strerror(errno)};
  std::string token;
  for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_secret(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned char difference = 0;
  for (std::size_t at = 0; at < one.size(); ++at)
    difference |= static_cast<unsigned char>(one[at] ^ other[at]);
  return difference == 0;
}

Result<std::string> kept_token(const std::string& path) {
  const TokenFile file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.descriptor() < 0 && errno == EEXIST) return existing_token(path);
  if (file.descriptor() < 0) return token_failure(path, "write");
  const auto made = new_token();
  if (!made) return made.error();
  const std::string& token = *made;
  if (write(file.descriptor(), (token + "\n").data(), token.size() + 1) !=
      static_cast<ssize_t>(token.size() + 1)) {
    const Error error = token_failure(path, "write");
    unlink(path.c_str());
    return error;
  }
  return token;
}

}  // namespace fathom::base
