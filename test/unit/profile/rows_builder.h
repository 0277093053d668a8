// SPDX-License-Identifier: BSD-3-Clause
// Rows (profile/rows.h) of one process, written by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "profile/rows.h"

namespace fathom::test {

inline constexpr std::uint32_t kRowsJob = 77;
inline constexpr std::uint32_t kUserClass = 0, kPostedClass = 1, kOneSidedClass = 2,
                               kAllreduceClass = 6;

inline profile::CommunicatorRow communicator_row(std::uint64_t key, std::uint32_t size,
                                                 std::uint32_t my_rank, std::string_view made_by,
                                                 std::string_view name = "") {
  profile::CommunicatorRow row{};
  row.key = key;
  row.group_key = key * 10;
  row.size = size;
  row.my_rank = my_rank;
  row.instances = 1;
  std::memcpy(row.made_by, made_by.data(), made_by.size());
  std::memcpy(row.name, name.data(), name.size());
  return row;
}

inline std::uint64_t cell_key(profile::Direction direction, std::uint32_t class_id,
                              std::uint32_t phase, std::uint32_t communicator, std::uint32_t peer) {
  return std::uint64_t{static_cast<std::uint32_t>(direction)} << profile::kDirectionShift |
         std::uint64_t{class_id} << profile::kClassShift |
         std::uint64_t{phase} << profile::kPhaseShift |
         std::uint64_t{communicator} << profile::kCommunicatorShift | peer;
}

class RowsBuilder {
 public:
  RowsBuilder(std::uint32_t rank, std::uint32_t world_size) {
    std::memcpy(header.magic, profile::kRowsMagic, sizeof header.magic);
    header.job = kRowsJob;
    header.rank = rank;
    header.world_size = world_size;
    header.pid = 1000 + rank;
    header.started_unix_ns = 5'000'000'000 + rank;
    header.elapsed_ns = 1'500'000'000;
    text = "host n" + std::to_string(rank) +
           "\nexecutable app\nwitness-sent pml\nwitness-received peruse\nclass 0 0 point-to-point\n"
           "posted 1 one-sided\nclass 2 1 one-sided\nclass 6 1 MPI_Allreduce\n";
    communicators.push_back(communicator_row(1, world_size, rank, "predefined", "MPI_COMM_WORLD"));
    communicators[0].flags = profile::kPredefined;
  }

  RowsBuilder& sent(std::uint32_t peer, std::uint64_t bytes, std::uint64_t messages,
                    std::uint32_t class_id = kUserClass, std::uint32_t phase = 0) {
    return cell(profile::Direction::kSent, class_id, phase, 0, peer, bytes, messages);
  }
  RowsBuilder& received(std::uint32_t peer, std::uint64_t bytes, std::uint64_t messages,
                        std::uint32_t class_id = kUserClass, std::uint32_t phase = 0) {
    return cell(profile::Direction::kReceived, class_id, phase, 0, peer, bytes, messages);
  }
  RowsBuilder& unreceived(std::uint32_t peer, std::uint64_t bytes, std::uint64_t messages) {
    return cell(profile::Direction::kUnreceived, kUserClass, 0, 0, peer, bytes, messages);
  }
  RowsBuilder& cell(profile::Direction direction, std::uint32_t class_id, std::uint32_t phase,
                    std::uint32_t communicator, std::uint32_t peer, std::uint64_t bytes,
                    std::uint64_t messages, std::uint32_t job = kRowsJob) {
    cells.push_back(
        {cell_key(direction, class_id, phase, communicator, peer), bytes, messages, job, peer});
    return *this;
  }
  RowsBuilder& size(std::uint32_t class_id, std::uint64_t bytes, std::uint64_t messages,
                    bool binned = false) {
    sizes.push_back({std::uint64_t{class_id} << (profile::kSizeBits + 1) |
                         (binned ? profile::kBinned : 0) | bytes,
                     0, messages, 0, 0});
    return *this;
  }
  // Calls of function 9 at `address` in code file 1 (add "timed-function" and "code-file" lines).
  RowsBuilder& called(std::uint64_t address, std::uint64_t times, std::uint64_t ticks,
                      std::uint64_t shortest, std::uint64_t longest, std::uint64_t bytes,
                      std::uint32_t communicator = 0, std::uint32_t phase = 0,
                      std::uint64_t estimated = 0) {
    calls.push_back({{address + 0x1000, communicator, phase},
                     times,
                     ticks,
                     shortest,
                     longest,
                     bytes,
                     {address, 1, 9},
                     estimated});
    return *this;
  }
  RowsBuilder& lasted(std::uint64_t address, int bin, std::uint64_t times) {
    profile::DurationRow row{};
    row.key = address + 0x1000;
    row.calls[bin] = times;
    row.place = {address, 1, 9};
    durations.push_back(row);
    return *this;
  }
  // Calls of the same function that waited for `peer`.
  RowsBuilder& waited(std::uint64_t address, std::uint32_t kind, std::uint32_t peer,
                      std::uint64_t times, std::uint64_t total_ns, std::uint64_t longest_ns,
                      std::uint32_t phase = 0, std::uint32_t job = kRowsJob) {
    profile::WaitRow row{};
    row.key = {address + 0x1000, 0, phase};
    row.kind = kind;
    row.peer_job = job;
    row.peer_rank = peer;
    row.waits = times;
    row.total_ns = total_ns;
    row.longest_ns = longest_ns;
    row.place = {address, 1, 9};
    waits.push_back(row);
    return *this;
  }
  RowsBuilder& on_path(std::uint64_t address, bool program, std::uint64_t stretches,
                       std::uint64_t total_ns, std::uint32_t window = 0) {
    profile::PathRow row{};
    row.key = {address + 0x1000, 0, 0};
    row.window = window;
    row.is_program = program ? 1 : 0;
    row.stretches = stretches;
    row.total_ns = total_ns;
    row.place = {address, 1, 9};
    path.push_back(row);
    return *this;
  }
  // Inside a window: as often as it was opened, or calls of the same function.
  RowsBuilder& inside(std::uint32_t window, std::uint64_t openings, std::uint64_t total_ns) {
    windows.push_back(
        {window, profile::kNoFunction, profile::kNoCommunicator, 0, openings, total_ns, 0, 0});
    return *this;
  }
  RowsBuilder& called_inside(std::uint32_t window, std::uint64_t calls, std::uint64_t total_ns,
                             std::uint64_t waiting_ns, std::uint64_t bytes) {
    windows.push_back({window, 9, 0, 0, calls, total_ns, waiting_ns, bytes});
    return *this;
  }
  RowsBuilder& ended(profile::EndReason reason, std::uint32_t detail = 0) {
    header.end_reason = reason;
    header.end_detail = detail;
    return *this;
  }
  RowsBuilder& witnesses(std::string_view sent_by, std::string_view received_by) {
    const auto begin = text.find("witness-sent");
    text.erase(begin, text.find("class 0") - begin);
    if (!sent_by.empty()) text += "witness-sent " + std::string(sent_by) + "\n";
    if (!received_by.empty()) text += "witness-received " + std::string(received_by) + "\n";
    return *this;
  }

  std::string bytes() const {
    std::string out(reinterpret_cast<const char*>(&header), sizeof header);
    section(out, profile::Section::kText, text.data(), text.size());
    array(out, profile::Section::kCommunicators, communicators);
    array(out, profile::Section::kForeignMembers, foreign_members);
    array(out, profile::Section::kCells, cells);
    array(out, profile::Section::kSizes, sizes);
    array(out, profile::Section::kCalls, calls);
    array(out, profile::Section::kDurations, durations);
    array(out, profile::Section::kWaits, waits);
    array(out, profile::Section::kPath, path);
    array(out, profile::Section::kWindows, windows);
    return out;
  }

  static void section(std::string& out, profile::Section kind, const void* data, std::size_t size) {
    if (size == 0) return;
    const profile::SectionHeader section_header{kind, 0, size};
    out.append(reinterpret_cast<const char*>(&section_header), sizeof section_header);
    out.append(static_cast<const char*>(data), size);
    out.append((8 - size % 8) % 8, '\0');
  }

  profile::RowsHeader header{};
  std::string text;
  std::vector<profile::CommunicatorRow> communicators;
  std::vector<profile::ForeignMemberRow> foreign_members;
  std::vector<profile::CellRow> cells;
  std::vector<profile::CellRow> sizes;
  std::vector<profile::CallRow> calls;
  std::vector<profile::DurationRow> durations;
  std::vector<profile::WaitRow> waits;
  std::vector<profile::PathRow> path;
  std::vector<profile::WindowRow> windows;

 private:
  template <typename Row>
  static void array(std::string& out, profile::Section kind, const std::vector<Row>& rows) {
    section(out, kind, rows.data(), rows.size() * sizeof(Row));
  }
};

// Two processes with something in every section, as a target for damage.
inline std::string sample_rows() {
  RowsBuilder zero(0, 2), one(1, 2);
  for (RowsBuilder* process : {&zero, &one}) {
    process->text +=
        "argument -x\nlibrary Open MPI\nversion 4.1.4\npml ob1\nsource peruse\nphase 1 solve\n"
        "module 3 coll/sm\nnote a\\nb\nstep-down peruse no events\n"
        "pvar posted\tqueue length\t\t1 2.5\ntimed-function 9 MPI_Send\n"
        "code-file 1 - /app\nticks-per-ns 2.5\npeak-memory 4096\nwaits 1000 1 2 3 4\n"
        "path-window 1 solver\npath 1 900 1 0\n";
    process->called(0x40, 2, 10, 4, 6, 8).lasted(0x40, 1, 2);
    process->waited(0x40, 0, 1 - process->header.rank, 2, 9, 6).waited(0x40, 3, 5, 1, 4, 4, 1, 88);
    process->on_path(0x40, true, 1, 400, 1).on_path(0x40, false, 1, 50, 1);
    process->inside(1, 2, 450).called_inside(1, 3, 50, 10, 8);
    process->communicators.push_back(
        communicator_row(2, 2, process->header.rank, "MPI_Comm_accept"));
    process->communicators[1].flags = profile::kIntercommunicator;
    process->communicators[1].parent_key = 1;
    process->communicators[1].remote_size = 1;
    process->cell(profile::Direction::kInvisible, kAllreduceClass, 0, 0, 3, 0, 4);
  }
  zero.foreign_members.push_back({1, 1, 0, 88, 5, 0});
  zero.sent(1, 300, 3).sent(1, 80, 1, kAllreduceClass).sent(1, 7, 1, kUserClass, 1);
  zero.sent(1, 9, 1, kPostedClass);
  zero.cell(profile::Direction::kSent, kUserClass, 0, 1, 5, 11, 1, 88);
  one.received(0, 300, 3).received(0, 80, 1, kAllreduceClass).received(0, 7, 1, kUserClass, 1);
  one.size(kUserClass, 100, 3).size(kUserClass, 7, 1).size(kAllreduceClass, 64, 1, true);
  return zero.bytes() + one.bytes();
}

}  // namespace fathom::test
