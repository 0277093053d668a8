// SPDX-License-Identifier: BSD-3-Clause
#include "live/queue_lengths.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace fathom::live {
namespace {

constexpr std::uint32_t kMostOffset = 4096;
constexpr std::uint64_t kMostLength = std::uint64_t{1} << 32;
constexpr std::size_t kAtOnce = 512;  // the system takes 1,024 parts
constexpr std::size_t kWord = sizeof(std::uint64_t);

enum class Copied { kAll, kNotPermitted, kNotAll };

Copied copy(pid_t pid, void* to, std::size_t bytes, const iovec* parts, std::size_t count) {
  const iovec local{to, bytes};
  const ssize_t got = process_vm_readv(pid, &local, 1, parts, count, 0);
  if (got == static_cast<ssize_t>(bytes)) return Copied::kAll;
  return got < 0 && (errno == EPERM || errno == ENOSYS) ? Copied::kNotPermitted : Copied::kNotAll;
}

// Never followed here.
void* remote(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

std::uint64_t word_at(const std::vector<char>& bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, kWord);
  return word;
}

class QueueReader {
 public:
  QueueReader(pid_t pid, const QueuesCopy& queues) : pid_(pid), queues_(queues) {}

  QueueLengths read() {
    const auto offsets = {queues_.wild_receives, queues_.peers,      queues_.peer_count,
                          queues_.receives,      queues_.unexpected, queues_.length,
                          queues_.end,           queues_.next,       queues_.tag};
    const bool is_sound =
        queues_.are_there && queues_.is_complete &&
        std::ranges::all_of(offsets, [](std::uint32_t offset) { return offset <= kMostOffset; });
    if (!is_sound) return {};
    for (const std::uint64_t place : queues_.places) {
      const Copied copied = add_communicator(place);
      if (copied == Copied::kAll) continue;
      return {0, 0,
              copied == Copied::kNotPermitted ? QueueAccess::kNotPermitted : QueueAccess::kUnknown,
              is_too_large_};
    }
    lengths_.access = QueueAccess::kRead;
    return lengths_;
  }

 private:
  // How many of the messages in the list are Fathom's. The process goes on meanwhile: what is taken from
  // the list ends the search, or leads it into another list.
  std::uint64_t own_messages(std::uint64_t list, std::uint64_t length) {
    const std::uint64_t end = list + queues_.end;
    std::uint64_t own = 0, message = 0;
    const iovec first{remote(end + queues_.next), kWord};
    if (copy(pid_, &message, kWord, &first, 1) != Copied::kAll) return 0;
    for (std::uint64_t left = std::min(length, kMostLooks); left > 0 && message != end; --left) {
      ++looks_;
      char bytes[kWord + sizeof(std::int32_t)];
      const iovec parts[] = {{remote(message + queues_.next), kWord},
                             {remote(message + queues_.tag), sizeof(std::int32_t)}};
      if (copy(pid_, bytes, sizeof bytes, parts, 2) != Copied::kAll) break;
      std::int32_t tag = 0;
      std::memcpy(&message, bytes, kWord);
      std::memcpy(&tag, bytes + kWord, sizeof tag);
      if (tag < 0 && tag >= queues_.lowest_own_tag) ++own;
    }
    return own;
  }

  // Adds the length of the list at `at`.
  bool add_list(const std::vector<char>& bytes, std::size_t at, std::uint64_t& sum) const {
    const std::uint64_t length = word_at(bytes, at + queues_.length);
    if (word_at(bytes, at) != queues_.list_class || length > kMostLength) return false;
    sum += length;
    return true;
  }

  Copied add_communicator(std::uint64_t place) {
    const std::size_t end =
        std::max({std::size_t{queues_.wild_receives} + queues_.length, std::size_t{queues_.peers},
                  std::size_t{queues_.peer_count}}) +
        kWord;
    std::vector<char> bytes(end);
    const iovec whole{remote(place), end};
    if (const Copied copied = copy(pid_, bytes.data(), end, &whole, 1); copied != Copied::kAll)
      return copied;
    const std::uint64_t count = word_at(bytes, queues_.peer_count);
    if (word_at(bytes, 0) != queues_.communicator_class ||
        !add_list(bytes, queues_.wild_receives, lengths_.posted))
      return Copied::kNotAll;
    is_too_large_ = count > kMostPeers - peers_;
    if (is_too_large_) return Copied::kNotAll;
    peers_ += count;
    return add_peers(word_at(bytes, queues_.peers), count);
  }

  // A peer is null until the first message.
  Copied add_peers(std::uint64_t table, std::uint64_t count) {
    if (count == 0) return Copied::kAll;
    std::vector<std::uint64_t> peers(count);
    const iovec whole{remote(table), count * kWord};
    if (const Copied copied = copy(pid_, peers.data(), count * kWord, &whole, 1);
        copied != Copied::kAll)
      return copied;
    std::erase(peers, std::uint64_t{0});
    for (std::size_t first = 0; first < peers.size(); first += kAtOnce) {
      const std::size_t some = std::min(kAtOnce, peers.size() - first);
      if (const Copied copied = add_some(peers.data() + first, some); copied != Copied::kAll)
        return copied;
    }
    return Copied::kAll;
  }

  Copied add_some(const std::uint64_t* peers, std::size_t count) {
    const std::size_t begin = std::min(queues_.receives, queues_.unexpected);
    const std::size_t size =
        std::max(queues_.receives, queues_.unexpected) + queues_.length + kWord - begin;
    std::vector<char> bytes(count * size);
    std::vector<iovec> parts;
    for (std::size_t i = 0; i < count; ++i) parts.push_back({remote(peers[i] + begin), size});
    if (const Copied copied = copy(pid_, bytes.data(), bytes.size(), parts.data(), count);
        copied != Copied::kAll)
      return copied;
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t unexpected = 0;
      if (!add_list(bytes, i * size + queues_.receives - begin, lengths_.posted) ||
          !add_list(bytes, i * size + queues_.unexpected - begin, unexpected))
        return Copied::kNotAll;
      if (unexpected > 0) unexpected -= own_messages(peers[i] + queues_.unexpected, unexpected);
      is_too_large_ = looks_ > kMostLooksInAll;
      if (is_too_large_) return Copied::kNotAll;
      lengths_.unexpected += unexpected;
    }
    return Copied::kAll;
  }

  pid_t pid_;
  const QueuesCopy& queues_;
  QueueLengths lengths_;
  std::uint64_t peers_ = 0, looks_ = 0;
  bool is_too_large_ = false;
};

}  // namespace

QueueLengths read_queues(pid_t pid, const QueuesCopy& queues) {
  return QueueReader(pid, queues).read();
}

}  // namespace fathom::live
