// SPDX-License-Identifier: BSD-3-Clause
#include "live/page_copy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace fathom::live {
namespace {

constexpr int kTries = 20;  // for a line that is being written

base::Error refused(const std::string& why) {
  return base::Error{"the page of a process is refused: " + why};
}

bool read_exactly(int descriptor, void* to, std::size_t bytes, std::uint64_t offset) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = pread(descriptor, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool is_zero(const char* bytes, std::size_t size) {
  return std::all_of(bytes, bytes + size, [](char byte) { return byte == 0; });
}

// The size of a section's records; 0 for kinds that are none of its.
std::uint32_t record_bytes(std::uint32_t kind) {
  using profile::Section;
  switch (static_cast<Section>(kind)) {
    case Section::kText: return 1;
    case Section::kCommunicators: return sizeof(profile::CommunicatorRow);
    case Section::kForeignMembers: return sizeof(profile::ForeignMemberRow);
    case Section::kCells:
    case Section::kSizes: return sizeof(profile::CellRow);
    case Section::kCalls: return sizeof(profile::CallRow);
    case Section::kDurations: return sizeof(profile::DurationRow);
    default: break;
  }
  if (kind == kThreadLines) return sizeof(ThreadLine);
  if (kind == kQueueFacts) return sizeof(QueueFacts);
  if (kind == kQueuePlaces) return sizeof(QueuePlace);
  return kind == kChannelCounts ? sizeof(ChannelRow) : 0;
}

struct Part {
  std::uint32_t kind, element_bytes;
  std::uint64_t offset, bytes;
};

base::Result<std::vector<Part>> parts_of(const PageHeader& header, std::uint64_t file_bytes) {
  const std::uint32_t count = header.region_count.load(std::memory_order_relaxed);
  if (count > kMostRegions) return refused("it names more regions than there can be");
  std::vector<Part> parts;
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Region& region = header.regions[i];
    const std::uint64_t bytes =
        std::min(region.provided_bytes.load(std::memory_order_relaxed), region.capacity_bytes);
    if (region.offset < sizeof(PageHeader) || region.offset > file_bytes ||
        bytes > file_bytes - region.offset)
      return refused("a region lies outside its file");
    const std::uint32_t record = record_bytes(region.kind);
    if (record == 0) continue;  // of a later version, which may add kinds
    if (region.element_bytes != record)
      return refused("its records differ in size from those of this version");
    all += bytes;
    if (all > kMostPageBytes) return refused("it is too large");
    parts.push_back({region.kind, record, region.offset, bytes});
  }
  return parts;
}

// The used part: up to the first element that is zero; of text, the whole lines.
void cut_to_used(std::uint32_t kind, std::size_t element_bytes, std::string& bytes) {
  if (kind == static_cast<std::uint32_t>(profile::Section::kText)) {
    bytes.resize(std::min(bytes.find('\0'), bytes.size()));
    bytes.resize(bytes.rfind('\n') + 1);  // none: npos + 1 is 0
    return;
  }
  std::size_t used = 0;
  while (bytes.size() - used >= element_bytes && !is_zero(bytes.data() + used, element_bytes))
    used += element_bytes;
  bytes.resize(used);
}

void append_section(std::uint32_t kind, const std::string& payload, std::string& sections) {
  if (payload.empty()) return;
  const profile::SectionHeader header{static_cast<profile::Section>(kind), 0, payload.size()};
  sections.append(reinterpret_cast<const char*>(&header), sizeof header);
  sections += payload;
  sections.append((8 - payload.size() % 8) % 8, '\0');
}

// A line as bytes; its atomics have the layout of what they hold.
struct LineBytes {
  alignas(64) char bytes[sizeof(ThreadLine)];
  template <typename T>
  T at(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  }
};

std::optional<LineBytes> read_line(int descriptor, std::uint64_t offset) {
  LineBytes line{};
  for (int i = 0; i < kTries; ++i) {
    std::uint32_t before = 0, after = 0;
    if (!read_exactly(descriptor, &before, sizeof before, offset) ||
        !read_exactly(descriptor, line.bytes, sizeof line.bytes, offset) ||
        !read_exactly(descriptor, &after, sizeof after, offset))
      return std::nullopt;
    if (before == after && before % 2 == 0) return line;
  }
  // It changes too often to be caught: it calls, and nothing else is known.
  const auto calls = line.at<std::uint64_t>(offsetof(ThreadLine, calls));
  const auto site = line.at<std::uint64_t>(offsetof(ThreadLine, site));
  line = {};
  std::memcpy(line.bytes + offsetof(ThreadLine, calls), &calls, sizeof calls);
  std::memcpy(line.bytes + offsetof(ThreadLine, site), &site, sizeof site);
  const std::uint32_t none = kNoCommunicator;
  const std::int32_t no_rank = kNoRank;
  std::memcpy(line.bytes + offsetof(ThreadLine, communicator), &none, sizeof none);
  std::memcpy(line.bytes + offsetof(ThreadLine, root), &no_rank, sizeof no_rank);
  return line;
}

ThreadCopy thread_of(const LineBytes& line) {
  ThreadCopy thread;
  const char* name = line.bytes + offsetof(ThreadLine, function);
  thread.function.assign(name, strnlen(name, sizeof ThreadLine::function));
  for (char& c : thread.function)
    if (c < ' ' || c > '~') c = '?';
  thread.site = line.at<std::uint64_t>(offsetof(ThreadLine, site));
  thread.since_ns = line.at<std::uint64_t>(offsetof(ThreadLine, since_ns));
  thread.calls = line.at<std::uint64_t>(offsetof(ThreadLine, calls));
  thread.communicator = line.at<std::uint32_t>(offsetof(ThreadLine, communicator));
  thread.root = line.at<std::int32_t>(offsetof(ThreadLine, root));
  thread.bytes = line.at<std::uint64_t>(offsetof(ThreadLine, bytes));
  thread.collective = line.at<std::uint64_t>(offsetof(ThreadLine, collective));
  thread.waits_for_all = line.at<std::uint32_t>(offsetof(ThreadLine, waits_for_all)) != 0;
  thread.pending_left_out = line.at<std::uint64_t>(offsetof(ThreadLine, pending_left_out));
  const std::size_t count = std::min<std::size_t>(
      line.at<std::uint32_t>(offsetof(ThreadLine, pending_count)), kMostPendingLines);
  for (std::size_t i = 0; i < count; ++i)
    thread.pending.push_back(
        line.at<PendingLine>(offsetof(ThreadLine, pending) + i * sizeof(PendingLine)));
  return thread;
}

// Lines of threads that have ended stay used, but have nothing to say (calls is 0).
bool read_threads(int descriptor, const Part& part, std::vector<ThreadCopy>& threads) {
  for (std::uint64_t at = 0; part.bytes - at >= sizeof(ThreadLine); at += sizeof(ThreadLine)) {
    const auto line = read_line(descriptor, part.offset + at);
    if (!line) return false;
    if (is_zero(line->bytes, sizeof line->bytes)) return true;
    threads.push_back(thread_of(*line));
  }
  return true;
}

template <typename T>
T word_of(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

void take_queue_facts(const std::string& bytes, QueuesCopy& queues) {
  if (bytes.size() < sizeof(QueueFacts)) return;
  queues.communicator_class =
      word_of<std::uint64_t>(bytes, offsetof(QueueFacts, communicator_class));
  queues.list_class = word_of<std::uint64_t>(bytes, offsetof(QueueFacts, list_class));
  queues.wild_receives = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, wild_receives));
  queues.peers = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, peers));
  queues.peer_count = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, peer_count));
  queues.receives = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, receives));
  queues.unexpected = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, unexpected));
  queues.length = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, length));
  queues.end = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, end));
  queues.next = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, next));
  queues.tag = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, tag));
  queues.lowest_own_tag = word_of<std::int32_t>(bytes, offsetof(QueueFacts, lowest_own_tag));
  queues.is_complete = word_of<std::uint32_t>(bytes, offsetof(QueueFacts, left_out)) == 0;
  queues.are_there = true;
}

void take_queue_places(const std::string& bytes, QueuesCopy& queues) {
  for (std::size_t at = 0; at + sizeof(QueuePlace) <= bytes.size(); at += sizeof(QueuePlace)) {
    const auto place = word_of<std::uint64_t>(bytes, at + offsetof(QueuePlace, queues));
    if (place != 0) queues.places.push_back(place);
  }
}

base::Result<std::unique_ptr<PageHeader>> read_header(int descriptor, std::uint64_t& file_bytes) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode))
    return refused("it is not a regular file");
  file_bytes = static_cast<std::uint64_t>(file.st_size);
  auto header = std::make_unique<PageHeader>();
  if (!read_exactly(descriptor, header.get(), sizeof(PageHeader), 0))
    return refused("it is shorter than its header");
  if (std::memcmp(header->magic, kPageMagic, sizeof kPageMagic) != 0)
    return refused("it does not begin with a page's mark");
  if (header->version != kPageVersion || header->header_bytes != sizeof(PageHeader))
    return refused("it is of another version of Fathom");
  if (std::memcmp(header->rows.magic, profile::kRowsMagic, sizeof profile::kRowsMagic) != 0)
    return refused("its rows have no valid header");
  return header;
}

PageCopy copy_of(const PageHeader& header) {
  PageCopy page;
  page.rows = header.rows;
  page.rows.lost_messages = header.lost_messages.load(std::memory_order_relaxed) +
                            header.unknown_messages.load(std::memory_order_relaxed);
  page.process_started = header.process_started;
  page.state = std::min(header.state.load(std::memory_order_relaxed), PageState::kEnded);
  page.is_incomplete = header.private_regions.load(std::memory_order_relaxed) != 0;
  page.channels_left_out = header.channels_left_out.load(std::memory_order_relaxed);
  page.run.assign(header.run, strnlen(header.run, kRunBytes));
  return page;
}

}  // namespace

base::Result<PageCopy> read_page_header(int descriptor) {
  std::uint64_t file_bytes = 0;
  const auto header = read_header(descriptor, file_bytes);
  if (!header) return header.error();
  return copy_of(**header);
}

base::Result<PageCopy> read_page(int descriptor) {
  std::uint64_t file_bytes = 0;
  const auto header = read_header(descriptor, file_bytes);
  if (!header) return header.error();
  const auto parts = parts_of(**header, file_bytes);
  if (!parts) return parts.error();
  PageCopy page = copy_of(**header);
  for (const Part& part : *parts) {
    if (part.kind == kThreadLines) {
      if (!read_threads(descriptor, part, page.threads)) return refused("it ends early");
      continue;
    }
    std::string bytes(part.bytes, '\0');
    if (!read_exactly(descriptor, bytes.data(), bytes.size(), part.offset))
      return refused("it ends early");
    cut_to_used(part.kind, part.element_bytes, bytes);
    if (part.kind == kQueueFacts) {
      take_queue_facts(bytes, page.queues);
      continue;
    }
    if (part.kind == kQueuePlaces) {
      take_queue_places(bytes, page.queues);
      continue;
    }
    if (part.kind != kChannelCounts) {
      append_section(part.kind, bytes, page.sections);
      continue;
    }
    page.channels.resize(bytes.size() / sizeof(ChannelRow));
    if (!bytes.empty()) std::memcpy(page.channels.data(), bytes.data(), bytes.size());
  }
  return page;
}

std::string row_file(const PageCopy& page, profile::EndReason reason, std::uint32_t detail) {
  profile::RowsHeader header = page.rows;
  header.end_reason = reason;
  header.end_detail = detail;
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  return file + page.sections;
}

}  // namespace fathom::live
