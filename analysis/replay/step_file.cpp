#include "analysis/replay/step_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fathom::analysis {
namespace {

std::string folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/var/tmp";
}

// Of all files that this process has mapped, in bytes; 0 if the kernel does not say.
std::size_t resident_file_bytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  unsigned long size = 0, resident = 0, shared = 0;
  if (length <= 0 || std::sscanf(text, "%lu %lu %lu", &size, &resident, &shared) != 3) return 0;
  return shared * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// A file without a name, also where the file system has no O_TMPFILE.
int open_nameless() {
  const int file = open(folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string path = folder() + "/fathom-analysis-XXXXXX";
  const int made = mkostemp(path.data(), O_CLOEXEC);
  if (made >= 0) unlink(path.c_str());
  return made;
}

}  // namespace

StepFile::StepFile(StepFile&& other) noexcept { *this = std::move(other); }

StepFile& StepFile::operator=(StepFile&& other) noexcept {
  std::swap(blocks_, other.blocks_);
  std::swap(sizes_, other.sizes_);
  std::swap(segments_, other.segments_);
  std::swap(used_blocks_, other.used_blocks_);
  std::swap(touched_bytes_, other.touched_bytes_);
  std::swap(passed_bytes_, other.passed_bytes_);
  std::swap(resident_before_, other.resident_before_);
  std::swap(file_, other.file_);
  std::swap(problem_, other.problem_);
  return *this;
}

StepFile::~StepFile() {
  for (char* segment : segments_) munmap(segment, kSegmentBlocks * kBlockBytes);
  if (file_ >= 0) close(file_);
}

base::Status StepFile::status() const {
  if (problem_.empty()) return base::Done{};
  return base::Error{problem_};
}

void StepFile::add_block(std::size_t process) {
  if (used_blocks_ == segments_.size() * kSegmentBlocks) {
    char* segment = problem_.empty() ? new_segment() : nullptr;
    if (segment == nullptr) {  // the analysis ends with an error; until then steps overwrite each other
      if (segments_.empty()) segments_.push_back(static_cast<char*>(mmap(nullptr, kSegmentBlocks * kBlockBytes,
          PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
      blocks_[process].push_back(0);
      return;
    }
    segments_.push_back(segment);
  }
  touched(kBlockSteps);
  blocks_[process].push_back(used_blocks_++);
#ifdef MADV_POPULATE_WRITE
  madvise(block(used_blocks_ - 1), kBlockBytes, MADV_POPULATE_WRITE);
#endif
}

// Room is taken in advance, so that no store into the mapping can meet a full disk.
char* StepFile::new_segment() {
  if (file_ < 0) file_ = open_nameless();
  constexpr std::size_t kBytes = kSegmentBlocks * kBlockBytes;
  const auto begin = static_cast<off_t>(segments_.size() * kBytes);
  int error = file_ < 0 ? errno : posix_fallocate(file_, begin, static_cast<off_t>(kBytes));
  if (error == 0) {
    void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, begin);
    if (mapped != MAP_FAILED) return static_cast<char*>(mapped);
    error = errno;
  }
  problem_ = "cannot keep the steps of the analysis in " + folder() + ": " + std::strerror(error) +
             "; set TMPDIR to a folder with more room";
  return nullptr;
}

void StepFile::will_write(std::size_t process, std::uint32_t step) {
#ifdef MADV_POPULATE_WRITE  // where the kernel does not know it (before 5.14), pages come one by one
  if (step < sizes_[process]) madvise(&at(process, step - step % kBlockSteps), kBlockBytes, MADV_POPULATE_WRITE);
#else
  static_cast<void>(process), static_cast<void>(step);
#endif
}

void StepFile::look() {
  passed_bytes_ += touched_bytes_;
  touched_bytes_ = 0;
  if (passed_bytes_ >= kMostResident || resident_file_bytes() >= resident_before_ + kMostResident) give_back();
}

void StepFile::give_back() {
  passed_bytes_ = 0;
  if (file_ < 0) return;
  for (char* segment : segments_) madvise(segment, kSegmentBlocks * kBlockBytes, MADV_DONTNEED);
  resident_before_ = resident_file_bytes();
}

}  // namespace fathom::analysis
