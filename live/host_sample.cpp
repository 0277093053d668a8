// SPDX-License-Identifier: BSD-3-Clause
#include "live/host_sample.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <type_traits>
#include <utility>

#include "base/process/parallel.h"

namespace fathom::live {
namespace {

constexpr char kHostMagic[8] = {'F', 'T', 'H', 'M', 'H', 'S', 'T', '3'};
constexpr char kHostsMagic[8] = {'F', 'T', 'H', 'M', 'H', 'S', 'T', 'S'};
constexpr char kCollectedName[] = "+hosts";  // no name of a host
constexpr char kAskedName[] = "details.asked";
constexpr int kFileLevel = 1;
constexpr std::size_t kMostReaders = 8;   // threads that unpack a file
constexpr std::size_t kLeastFrames = 32;  // for each of them
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

base::Error refused() { return base::Error{"the sample of a host is damaged"}; }

class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_ += text;
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    put_text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }
  std::string bytes_;
};

// After a read that does not fit, good() is false and all values are zero.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

  template <typename T>
  T get() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    if (good_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view get_view() { return take(get<std::uint64_t>()); }
  std::string get_text() { return std::string(get_view()); }
  template <typename T>
  std::vector<T> get_all() {
    const std::string_view bytes = take(get<std::uint64_t>());
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (!good_ || size > rest_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

void put_thread(Writer& writer, const ThreadCopy& thread) {
  writer.put_text(thread.function);
  writer.put(thread.site);
  writer.put(thread.since_ns);
  writer.put(thread.calls);
  writer.put(thread.communicator);
  writer.put(thread.root);
  writer.put(thread.bytes);
  writer.put(thread.collective);
  writer.put<std::uint8_t>(thread.waits_for_all);
  writer.put_all(thread.pending);
  writer.put(thread.pending_left_out);
}

ThreadCopy get_thread(Reader& reader) {
  ThreadCopy thread;
  thread.function = reader.get_text();
  thread.site = reader.get<std::uint64_t>();
  thread.since_ns = reader.get<std::uint64_t>();
  thread.calls = reader.get<std::uint64_t>();
  thread.communicator = reader.get<std::uint32_t>();
  thread.root = reader.get<std::int32_t>();
  thread.bytes = reader.get<std::uint64_t>();
  thread.collective = reader.get<std::uint64_t>();
  thread.waits_for_all = reader.get<std::uint8_t>() != 0;
  thread.pending = reader.get_all<PendingLine>();
  thread.pending.resize(std::min(thread.pending.size(), kMostPendingLines));
  thread.pending_left_out = reader.get<std::uint64_t>();
  return thread;
}

void put_process(Writer& writer, const ProcessSample& sample) {
  writer.put(sample.pid);
  writer.put(sample.state);
  writer.put(sample.processor_s);
  writer.put(sample.clock_ns);
  writer.put(sample.page.rows);
  writer.put(sample.page.process_started);
  writer.put<std::uint8_t>(sample.page.is_incomplete);
  writer.put(sample.page.channels_left_out);
  writer.put<std::uint8_t>(sample.is_summary);
  if (sample.is_summary) writer.put(sample.sums);
  writer.put(sample.queues.unexpected);
  writer.put(sample.queues.posted);
  writer.put(sample.queues.access);
  writer.put_text(sample.page.sections);
  writer.put_all(sample.page.channels);
  writer.put<std::uint64_t>(sample.page.threads.size());
  for (std::size_t i = 0; i < sample.page.threads.size(); ++i) {
    put_thread(writer, sample.page.threads[i]);
    writer.put_text(i < sample.places.size() ? sample.places[i] : "");
  }
}

// As get_process(), for what is only passed on: nothing is allocated.
void skip_process(Reader& reader) {
  reader.get<std::int64_t>();
  reader.get<std::uint8_t>();
  reader.get<double>();
  reader.get<std::uint64_t>();
  reader.get<profile::RowsHeader>();
  reader.get<std::uint64_t>();
  reader.get<std::uint8_t>();
  reader.get<std::uint64_t>();
  if (reader.get<std::uint8_t>() != 0) reader.get<ProcessSums>();
  for (int words = 0; words < 2; ++words) reader.get<std::uint64_t>();  // queues
  reader.get<std::uint8_t>();
  reader.get_view();  // sections
  reader.get_view();  // channels
  const auto threads = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < threads && reader.good(); ++i) {
    reader.get_view();
    for (int words = 0; words < 3; ++words) reader.get<std::uint64_t>();
    reader.get<std::uint32_t>();
    reader.get<std::int32_t>();
    for (int words = 0; words < 2; ++words) reader.get<std::uint64_t>();
    reader.get<std::uint8_t>();
    reader.get_view();
    reader.get<std::uint64_t>();
    reader.get_view();  // place
  }
}

ProcessSample get_process(Reader& reader) {
  ProcessSample sample;
  sample.pid = reader.get<std::int64_t>();
  const auto state = reader.get<std::uint8_t>();
  sample.state = static_cast<ProcessState>(
      std::min<std::uint8_t>(state, static_cast<std::uint8_t>(ProcessState::kStopped)));
  sample.processor_s = reader.get<double>();
  sample.clock_ns = reader.get<std::uint64_t>();
  sample.page.rows = reader.get<profile::RowsHeader>();
  sample.page.process_started = reader.get<std::uint64_t>();
  sample.page.is_incomplete = reader.get<std::uint8_t>() != 0;
  sample.page.channels_left_out = reader.get<std::uint64_t>();
  sample.is_summary = reader.get<std::uint8_t>() != 0;
  if (sample.is_summary) sample.sums = reader.get<ProcessSums>();
  sample.queues.unexpected = reader.get<std::uint64_t>();
  sample.queues.posted = reader.get<std::uint64_t>();
  sample.queues.access = static_cast<QueueAccess>(
      std::min(reader.get<std::uint8_t>(), static_cast<std::uint8_t>(QueueAccess::kNotPermitted)));
  sample.page.sections = reader.get_text();
  sample.page.channels = reader.get_all<ChannelRow>();
  const auto threads = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < threads && reader.good(); ++i) {
    sample.page.threads.push_back(get_thread(reader));
    sample.places.push_back(reader.get_text());
  }
  return sample;
}

std::string name_of_this_host() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

// Without a dot, which marks a file that is being written.
std::string file_of_this_host() {
  std::string name = name_of_this_host();
  for (char& c : name)
    if (c == '/' || c == '.') c = '_';
  return name.empty() ? "host" : name;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Whole or not at all.
void replace(const std::string& folder, const std::string& path,
             const std::vector<std::string_view>& parts) {
  mkdir(folder.c_str(), 0700);
  const std::string temporary = path + ".new";
  const int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return;
  const bool written = std::all_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return write_all(descriptor, part);
  });
  if (close(descriptor) != 0 || !written || rename(temporary.c_str(), path.c_str()) != 0)
    unlink(temporary.c_str());
}

// Empty if it is damaged.
std::string decompressed(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kMostFileBytes)
    return {};
  std::string sample(size, '\0');
  if (ZSTD_decompress(sample.data(), sample.size(), bytes.data(), bytes.size()) != size) return {};
  return sample;
}

// Each on its own; those of a large job by several threads.
std::vector<base::Result<HostSample>> unpacked(const std::vector<std::string_view>& frames) {
  std::vector<base::Result<HostSample>> samples(frames.size(), refused());
  const auto unpack = [&](std::size_t i) { samples[i] = host_sample_of(decompressed(frames[i])); };
  base::in_parallel(
      frames.size(), unpack,
      std::min({std::size_t{base::worker_threads()}, kMostReaders, frames.size() / kLeastFrames}));
  return samples;
}

std::string content_of(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return {};
  struct stat file {};
  std::string bytes;
  if (fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
      static_cast<std::uint64_t>(file.st_size) <= kMostFileBytes) {
    bytes.resize(static_cast<std::size_t>(file.st_size));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
      const ssize_t got = read(descriptor, bytes.data() + filled, bytes.size() - filled);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
  }
  close(descriptor);
  return bytes;
}

}  // namespace

std::string bytes_of(const HostSample& sample) {
  Writer writer;
  writer.put(kHostMagic);
  writer.put(sample.sequence);
  writer.put(sample.taken_unix_ns);
  writer.put_text(sample.host);
  writer.put<std::uint64_t>(sample.processes.size());
  for (const ProcessSample& process : sample.processes) put_process(writer, process);
  return std::move(writer.bytes_);
}

base::Result<HostSample> host_sample_of(std::string_view bytes) {
  if (bytes.substr(0, sizeof kHostMagic) != std::string_view(kHostMagic, sizeof kHostMagic))
    return refused();
  Reader reader(bytes.substr(sizeof kHostMagic));
  HostSample sample;
  sample.sequence = reader.get<std::uint64_t>();
  sample.taken_unix_ns = reader.get<std::int64_t>();
  sample.host = reader.get_text();
  const auto processes = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < processes && reader.good(); ++i) {
    sample.processes.push_back(get_process(reader));
    sample.processes.back().host = sample.host;
    sample.processes.back().taken_unix_ns = sample.taken_unix_ns;
  }
  if (!reader.good() || !reader.at_end()) return refused();
  return sample;
}

std::optional<SampleDescription> described_host_sample(std::string_view bytes) {
  if (bytes.substr(0, sizeof kHostMagic) != std::string_view(kHostMagic, sizeof kHostMagic))
    return std::nullopt;
  Reader reader(bytes.substr(sizeof kHostMagic));
  SampleDescription description;
  description.sequence = reader.get<std::uint64_t>();
  reader.get<std::int64_t>();
  description.host = reader.get_text();
  const auto processes = reader.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < processes && reader.good(); ++i) skip_process(reader);
  if (!reader.good() || !reader.at_end()) return std::nullopt;
  return description;
}

HostSample next_host_sample(std::uint64_t sequence, std::vector<ProcessSample> processes) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t taken = processes.empty()
                                 ? std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec
                                 : processes.front().taken_unix_ns;
  return {name_of_this_host(), sequence, taken, std::move(processes)};
}

HostSampleFile::HostSampleFile(const std::string& run)
    : folder_(run + "/live"), path_(folder_ + "/" + file_of_this_host()) {}

void HostSampleFile::write(std::string_view sample) {
  is_written_ = true;
  replace(folder_, path_, {sample});
}

void HostSampleFile::remove() {
  if (!std::exchange(is_written_, false)) return;
  unlink(path_.c_str());
  rmdir(folder_.c_str());  // stays while another host has a file there
}

CollectedSamplesFile::CollectedSamplesFile(const std::string& run)
    : folder_(run + "/live"), path_(folder_ + "/" + kCollectedName) {}

void CollectedSamplesFile::write(const std::vector<std::string_view>& samples) {
  is_written_ = true;
  Writer writer;
  writer.put(kHostsMagic);
  for (const std::string_view sample : samples) {
    compressed_.resize(ZSTD_compressBound(sample.size()));
    const std::size_t size = ZSTD_compress(compressed_.data(), compressed_.size(), sample.data(),
                                           sample.size(), kFileLevel);
    if (ZSTD_isError(size) == 0) writer.put_text(std::string_view(compressed_).substr(0, size));
  }
  replace(folder_, path_, {writer.bytes_});
}

void CollectedSamplesFile::remove() {
  if (!std::exchange(is_written_, false)) return;
  unlink(path_.c_str());
  // Once more if a reader has asked meanwhile.
  for (int tries = 0; tries < 3; ++tries) {
    unlink((folder_ + "/" + kAskedName).c_str());
    if (rmdir(folder_.c_str()) == 0) return;
  }
}

void ask_for_details(const std::string& run) {
  const std::string path =
      run + "/live/" + kAskedName;  // no folder is made: the job may have ended
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return;
  futimens(file, nullptr);
  close(file);
}

std::int64_t details_asked_ns(const std::string& run) {
  struct stat file {};
  if (lstat((run + "/live/" + kAskedName).c_str(), &file) != 0) return 0;
  return std::int64_t{file.st_mtim.tv_sec} * 1'000'000'000 + file.st_mtim.tv_nsec;
}

bool has_samples_of_others(const std::string& run) {
  std::error_code error;
  const std::string own = file_of_this_host();
  for (std::filesystem::directory_iterator file(run + "/live", error), end; !error && file != end;
       file.increment(error)) {
    const auto name = file->path().filename();
    if (file->path().extension().empty() && name != own && name != kCollectedName) return true;
  }
  return false;
}

std::vector<HostSample> read_host_samples(const std::string& run) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator file(run + "/live", error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension().empty()) paths.push_back(file->path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<HostSample> samples;
  std::map<std::string, std::size_t> known;  // by host
  const auto add = [&](base::Result<HostSample> sample) {
    if (!sample) return;
    const auto [at, is_new] = known.try_emplace(sample->host, samples.size());
    if (is_new) {
      samples.push_back(std::move(*sample));
    } else if (samples[at->second].taken_unix_ns < sample->taken_unix_ns) {
      samples[at->second] = std::move(*sample);
    }
  };
  for (const std::string& path : paths) {
    const std::string bytes = content_of(path);
    const std::string_view hosts(kHostsMagic, sizeof kHostsMagic);
    if (!bytes.starts_with(hosts)) {
      add(host_sample_of(bytes));
      continue;
    }
    Reader reader(std::string_view(bytes).substr(hosts.size()));
    std::vector<std::string_view> frames;
    while (!reader.at_end() && reader.good()) {
      const std::string_view frame = reader.get_view();
      if (reader.good()) frames.push_back(frame);
    }
    for (auto& sample : unpacked(frames)) add(std::move(sample));
  }
  return samples;
}

}  // namespace fathom::live
