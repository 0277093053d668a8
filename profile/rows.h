// SPDX-License-Identifier: BSD-3-Clause
// What one process of a job leaves behind: its own counts, in fixed-size records.
//
// The same bytes travel up the tree at MPI_Finalize, or are in RUN/partial/JOB.RANK.rows if the job
// was cut short or ended in a session; assemble.h turns those of all processes into one Profile.
//
// Layout, native byte order, everything 8-byte aligned:
//   RowsHeader, then sections until the end: SectionHeader, payload, padding to 8 bytes.
// A section may occur more than once (the counts of each lane are separate sections); counts with
// equal keys are added. A file that ends early is used up to its last whole record.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fathom::profile {

inline constexpr char kRowsMagic[8] = {'F', 'T', 'H', 'M', 'R', 'O', 'W', '1'};

enum class EndReason : std::uint32_t {
  kFinalize = 0,  // MPI_Finalize was reached, or the end of the last session
  kAbort = 1,     // MPI_Abort; detail: the error code
  kSignal = 2,    // detail: the signal's number
  kExit = 3,      // exit without MPI_Finalize
  kUnconnected =
      4,  // MPI_Finalize was reached, but the process above in the tree runs without Fathom
};

struct RowsHeader {
  char magic[8];
  std::uint32_t job;         // Open MPI's job number: which world
  std::uint32_t rank;        // rank in that world's MPI_COMM_WORLD
  std::uint32_t world_size;  // of that world
  std::uint32_t pid;
  std::uint64_t started_unix_ns;  // at MPI_Init
  std::uint64_t elapsed_ns;       // from MPI_Init to MPI_Finalize, or an earlier end
  EndReason end_reason;
  std::uint32_t end_detail;
  std::uint64_t lost_messages;
};
static_assert(sizeof(RowsHeader) == 56);

enum class Section : std::uint32_t {
  kText = 1,            // lines "key value\n"; the keys are listed at the end of this file
  kCommunicators = 2,   // CommunicatorRow
  kForeignMembers = 3,  // ForeignMemberRow
  kCells = 4,           // CellRow
  kSizes = 5,           // CellRow with a size key
  kCalls = 6,           // CallRow
  kDurations = 7,       // DurationRow
  kWaits = 8,           // WaitRow
  kPath = 9,            // PathRow
  kWindows = 10,        // WindowRow
  kTimeLine = 11,  // for process 0, which follows the path (profiler/waits/path.h); not in files
};

struct SectionHeader {
  Section kind;
  std::uint32_t reserved;
  std::uint64_t payload_bytes;
};
static_assert(sizeof(SectionHeader) == 16);

// One kind of communicator, as one process knows it; cells refer to it by its position in the
// section.
struct CommunicatorRow {
  std::uint64_t
      key;  // the same on all members: hash of how it was made, parent, groups, context id
  std::uint64_t parent_key;  // 0: none
  std::uint64_t group_key;   // hash of the local group: the side, for an intercommunicator
  std::uint32_t size;
  std::uint32_t remote_size;  // 0 unless an intercommunicator
  std::uint32_t my_rank;
  std::uint32_t instances;
  std::uint32_t flags;  // kInternal | …, below
  std::uint32_t reserved;
  char made_by[40];
  // Hash of how it was made, parent, groups, and its ordinal among those alive in this process.
  // Kinds to which all processes give the same ordinal key are one communicator of the run. 0: the
  // kind is a communicator by itself, because this process gave it several ordinals, or because its
  // rows are older than ordinal keys (these bytes were then the end of made_by).
  std::uint64_t ordinal_key;
  char name[64];
};
static_assert(sizeof(CommunicatorRow) == 160 && offsetof(CommunicatorRow, ordinal_key) == 88);
inline constexpr std::uint32_t kInternal = 1, kIntercommunicator = 2, kPredefined = 4;
// Each process has its own (MPI_COMM_SELF and what is made from it alone); no members are listed.
inline constexpr std::uint32_t kPerProcess = 8;
// Reported by a process outside it (in traces that tools write): my_rank has no meaning.
inline constexpr std::uint32_t kNotMember = 16;

// A member that belongs to another world and so cannot report its own place in a group.
struct ForeignMemberRow {
  std::uint32_t communicator;  // position in the communicator section
  std::uint32_t remote;        // 1: in the remote group
  std::uint32_t position;
  std::uint32_t job;
  std::uint32_t rank;
  std::uint32_t reserved;
};
static_assert(sizeof(ForeignMemberRow) == 24);

// Bytes and messages of one (communicator, class, phase, direction, peer).
struct CellRow {
  std::uint64_t key;  // CellKey, or a size key
  std::uint64_t bytes;
  std::uint64_t messages;
  std::uint32_t peer_job;
  std::uint32_t peer_rank;
};
static_assert(sizeof(CellRow) == 32);

enum class Direction : std::uint32_t {
  kSent = 0,      // this process is the source
  kReceived = 1,  // this process is the destination
  kInvisible =
      2,  // calls of a module that bypasses the PML: `peer` numbers the module (text "module")
  kUnreceived = 3,  // from `peer`; still unmatched when its communicator was freed or the run ended
};

// key, from the low bits: peer 24 | communicator 20 | phase 11 | class 7 | direction 2.
// The peer is lowest, where it mixes best: everything else is constant for long stretches.
inline constexpr int kPeerBits = 24, kCommunicatorBits = 20, kPhaseBits = 11, kClassBits = 7;
inline constexpr int kCommunicatorShift = kPeerBits;
inline constexpr int kPhaseShift = kCommunicatorShift + kCommunicatorBits;
inline constexpr int kClassShift = kPhaseShift + kPhaseBits;
inline constexpr int kDirectionShift = kClassShift + kClassBits;

struct CellKey {
  std::uint32_t peer, communicator, phase, class_id;
  Direction direction;
};
constexpr CellKey unpack_cell_key(std::uint64_t key) {
  const auto bits = [key](int shift, int width) {
    return static_cast<std::uint32_t>(key >> shift & ((std::uint64_t{1} << width) - 1));
  };
  return {bits(0, kPeerBits), bits(kCommunicatorShift, kCommunicatorBits),
          bits(kPhaseShift, kPhaseBits), bits(kClassShift, kClassBits),
          static_cast<Direction>(bits(kDirectionShift, 2))};
}

// Size key: class 7 bits (high) | 1 if binned | 56 bits: the size, or for a bin its lower edge.
inline constexpr int kSizeBits = 56;
inline constexpr std::uint64_t kBinned = std::uint64_t{1} << kSizeBits;
inline constexpr std::uint64_t kSizeMask = kBinned - 1;
// This many distinct sizes per class (and lane) are kept exactly, later ones in log2 bins.
inline constexpr std::uint32_t kExactSizes = 1024;

// Calls of the program from one place, on one communicator and in one phase, and the time spent in
// them. A call that the program makes inside another (from a reduction of its own, say) belongs to
// the outer one.
struct CallKey {
  std::uint64_t return_address = 0;  // has a meaning in this process only
  std::uint32_t communicator = 0;    // position in the communicator section; kNoCommunicator
  std::uint32_t phase = 0;
  bool operator==(const CallKey&) const = default;
};
inline constexpr std::uint32_t kNoCommunicator = ~0u;

// A place in a file's code. The same in every process that maps the file.
struct CodePlaceRow {
  std::uint64_t address;   // in the file's own address space
  std::uint32_t file;      // text "code-file"; 0: no file, and the address is the process's own
  std::uint32_t function;  // the MPI function called there: text "timed-function"
};

struct CallRow {
  CallKey key;
  std::uint64_t calls;
  std::uint64_t ticks;  // spent in them; text "ticks-per-ns"
  std::uint64_t shortest_ticks, longest_ticks;
  std::uint64_t bytes;  // as in the arguments: what is sent, written or offered to a receive
  CodePlaceRow place;
  std::uint64_t
      estimated;  // of the calls, those whose time was not read (profiler/waits/failing_polls.h)
};
static_assert(sizeof(CallRow) == 80);

// How long the calls from one place took: calls[i] took [2^i, 2^(i+1)) ns; the first bin also holds
// shorter ones, the last (from 9 minutes on) all longer ones.
inline constexpr int kDurationBins = 40;
struct DurationRow {
  std::uint64_t key;  // the return address
  std::uint64_t calls[kDurationBins];
  CodePlaceRow place;
};
static_assert(sizeof(DurationRow) == 344);

// How the calls from one place waited for one other process, found without a trace
// (profiler/waits/).
struct WaitRow {
  CallKey key;         // of the calls that waited
  std::uint32_t kind;  // mpi::WaitKind
  std::uint32_t reserved;
  std::uint32_t peer_job, peer_rank;  // the process they waited for
  std::uint64_t waits, total_ns, longest_ns;
  CodePlaceRow place;
};
static_assert(sizeof(WaitRow) == 72);

// This process's part of the critical path through a window of the run: the calls from one place,
// or what the program did outside MPI before them.
struct PathRow {
  CallKey key;
  std::uint32_t window;      // text "path-window"; 0: the whole run
  std::uint32_t is_program;  // 1: outside MPI, before the calls of this place
  std::uint64_t stretches, total_ns;
  std::uint64_t calls, bytes;  // as in CallRow; 0 outside MPI
  CodePlaceRow place;
};
static_assert(sizeof(PathRow) == 72);

// The calls of one function on one communicator that this process made inside a window that the
// program names, on the thread that called MPI_Init.
struct WindowRow {
  std::uint32_t window;
  std::uint32_t function;      // text "timed-function"; kNoFunction: the window itself
  std::uint32_t communicator;  // kNoCommunicator
  std::uint32_t reserved;
  std::uint64_t calls;  // of the window itself: how often it was opened
  std::uint64_t total_ns, waiting_ns, bytes;
};
static_assert(sizeof(WindowRow) == 48);
inline constexpr std::uint32_t kNoFunction = ~0u;

// Keys of the text section. A value holds no newline ('\n' is written as "\\n", '\\' as "\\\\").
//   host H · executable E · argument A (once each) · library L · version V · pml P · source S ·
//   step-down SOURCE REASON · note N · witness-sent W · witness-received W · class ID HIDDEN NAME ·
//   posted ID NAME (a class of operations of this process; kSent: it is the source of the data) ·
//   phase ID NAME · module ID NAME · pvar NAME\tDESCRIPTION\tBOUND\tVALUE VALUE …
//   timed-function ID NAME · code-file ID BUILD-ID PATH · ticks-per-ns N (the last one counts) ·
//   uncounted-calls N · peak-memory BYTES · processor-wait NS ·
//   waits THRESHOLD_NS LEFT_OUT LEFT_OUT_NS UNRESOLVED UNRESOLVED_NS (once: calls shorter than the
//   threshold were left out of the waits, so many of them, so long together; so many more could not
//   be resolved, because what their peers remember did not reach back) ·
//   waits-unknown REASON (once, in place of the former: why there are none) ·
//   path-window ID NAME · path ID ELAPSED_NS JUMPS ERROR_NS (where the path through a window begins;
//   of a window that was opened several times the sums are of those that begin here: how long it is,
//   how often the path changes process, and how much of it may be waiting) ·
//   world NAME (the run is not the first world) · trace-lost REASON RECORDS ERROR
//   (profile/trace_loss.h)

}  // namespace fathom::profile
