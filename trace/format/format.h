// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a trace: what one process of a job recorded, readable up to the instant of its end.
//
// A run's traces are in RUN/trace/: JOB.RANK.trace for each process and, while the process lives or
// after it was killed, JOB.RANK.live beside it. docs/trace-format.md explains the format with a
// worked example. Everything is little-endian and 8-byte aligned.
//
//   JOB.RANK.trace   FileHeader, then frames to the end. A frame is FrameHeader, stored payload,
//                    padding to 8 bytes. The last frame is the index, followed by a Trailer; a file
//                    without them was cut short and is read frame by frame.
//   JOB.RANK.live    LiveHeader, then chunk_count chunks of chunk_bytes: the memory that the
//                    process records into, mapped shared, so that it outlives SIGKILL. A chunk is a
//                    LiveChunkHeader and then words, as in an events frame; the first zero head
//                    ends it. Chunks that are already a frame of the .trace file (same thread, same
//                    sequence) count once. Removed when the process finishes its trace. If the disk
//                    has too little room, the file is the header alone, and chunk_count is 0.
//
// Frames of events belong to one thread and can be decoded alone: their first record's time is
// relative to first_ticks. Frames of definitions hold what profile/rows.h describes (RowsHeader,
// then sections). Later ones add to earlier ones: the last RowsHeader counts, text lines and clock
// rows are appended, a communicator with a known key replaces the earlier one in its place, and
// others are appended.
//
// Versions: a reader skips record kinds, sections and frame kinds that it does not know (all carry
// their length) and refuses only a FileHeader of a higher version.
#pragma once

#include <cstdint>

namespace fathom::trace {

// 1 had no packed frames, 2 one step in each kTransfer and no kSends
inline constexpr std::uint32_t kVersion = 3;

inline constexpr char kFileMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'T', 'R'};
inline constexpr char kLiveMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'L', 'V'};
inline constexpr char kFrameMagic[4] = {'F', 'R', 'A', 'M'};
inline constexpr char kTrailerMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'I', 'X'};

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t job;
  std::uint32_t rank;
  std::uint32_t reserved;
};
static_assert(sizeof(FileHeader) == 24);

enum class FrameKind : std::uint8_t { kDefinitions = 1, kEvents = 2, kIndex = 3 };
// FrameHeader::flags. With both, records were packed and then compressed.
inline constexpr std::uint8_t kCompressed = 1;  // the payload is one zstd frame
inline constexpr std::uint8_t kPacked = 2;      // of kEvents: packed_records.h

struct FrameHeader {
  char magic[4];
  FrameKind kind;
  std::uint8_t flags;
  std::uint16_t reserved;
  std::uint32_t thread;
  std::uint32_t records;
  std::uint64_t sequence;  // of this thread's frames, from 0; a gap is a lost frame
  std::uint64_t first_ticks;
  std::uint64_t last_ticks;
  std::uint32_t raw_bytes;     // of the payload when decompressed and unpacked
  std::uint32_t stored_bytes;  // of the payload in the file, without padding
  std::uint64_t payload_hash;  // XXH3, 64 bits, of the stored payload
  std::uint32_t reserved2;
  std::uint32_t header_hash;  // low half of the XXH3 of the preceding 60 bytes
};
static_assert(sizeof(FrameHeader) == 64);

struct IndexEntry {  // one for each frame before the index
  std::uint64_t offset;
  std::uint64_t sequence;
  std::uint64_t first_ticks;
  std::uint64_t last_ticks;
  std::uint32_t thread;
  std::uint32_t records;
  std::uint32_t kind;
  std::uint32_t reserved;
};
static_assert(sizeof(IndexEntry) == 48);

struct Trailer {
  std::uint64_t index_offset;
  char magic[8];
};
static_assert(sizeof(Trailer) == 16);

struct LiveHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t job;
  std::uint32_t rank;
  std::uint32_t chunk_bytes;
  std::uint32_t chunk_count;
  std::uint32_t header_bytes;  // where the first chunk begins
  std::uint64_t lost_records;  // so far, for whatever reason
};
static_assert(sizeof(LiveHeader) == 40);

enum class ChunkState : std::uint32_t { kFree = 0, kFilling = 1, kFull = 2 };

struct LiveChunkHeader {
  ChunkState state;
  std::uint32_t thread;
  std::uint64_t sequence;
  std::uint64_t first_ticks;
  std::uint64_t reserved;
};
static_assert(sizeof(LiveChunkHeader) == 32);

// ---- records: a head word, then up to 15 payload words ----
//
// head, from the low bits: kind 8 (never 0) | payload words 4 | small 20 | time 32: ticks since the
// previous record in this chunk. A longer step is preceded by a kTime record. The head is written
// last, so that a record is either whole or absent.

inline constexpr int kWordsShift = 8, kSmallShift = 12, kTimeShift = 32;
inline constexpr std::uint32_t kMaxWords = 15, kMaxSmall = (1u << 20) - 1;

constexpr std::uint64_t head(std::uint32_t kind, std::uint32_t words, std::uint32_t small,
                             std::uint32_t ticks) {
  return std::uint64_t{kind} | std::uint64_t{words} << kWordsShift |
         std::uint64_t{small} << kSmallShift | std::uint64_t{ticks} << kTimeShift;
}

enum class RecordKind : std::uint8_t {
  kTime = 1,  // word: absolute ticks, which the time of the next record adds to
  // small: function | kHasSite | kSends. Payload: the function's attributes at enter (leave), packed as
  // described below, then with kHasSite the return address.
  kEnter = 2,
  kLeave = 3,  // small: function | error class << 12 (0: MPI_SUCCESS; 255: that or more)
  // One message where it is transferred; what the profile counts. small: class. Words: communicator
  // 32 | peer 32; tag 32 | bytes 32; the request, absent or 0 if not known; of a partition, that of the
  // whole operation; if bytes is kLongBytes, the length. A sent message is recorded before it is handed
  // on: the next kActivate of a send on its thread, before the call returns, names its request.
  // communicator: position of its kind in the process's communicator section; peer: rank in it, as
  // the message was matched.
  kMessageSent = 4,
  kMessageReceived = 5,
  // Within a wait or test: a request that this call completed. small: 1 if cancelled. Word: the
  // request.
  kRequestCompleted = 6,
  // Steps of a transfer inside the library. small: TransferStep | kReceiving | also() of each later step
  // that followed at once, at the same time. Word: the request.
  kTransfer = 7,
  // The unexpected queue. small: 0 a message arrived that no receive was waiting for, 1 one left
  // it. Words: communicator 32 | source 32; tag 32 | 0.
  kUnexpected = 8,
  kLost = 9,         // word: how many records were dropped before this one
  kPhaseBegin = 10,  // small: phase
  kPhaseEnd = 11,
  kPause = 12,  // recording stops here: small: PauseReason; nothing is known until kResume
  kResume = 13,
  kProcessor = 14,  // small: the processor that the thread runs on
  // More of an attribute that holds several values: small: Attribute. Words: values. Follows its
  // kEnter; of MPI_Waitany and MPI_Waitsome it precedes what they completed, and is there only if
  // they waited.
  kValues = 15,
  // Replaces the events that sampling left out. small: function. Words: calls; ticks inside them.
  kSampled = 16,
  kVoid = 17,  // a record that was taken back
};

inline constexpr std::uint32_t kHasSite = 1u << 12;  // in small of kEnter; functions are below it
// In small of kEnter: the call sent a message at once, of the first class, with the first two words of this
// record, as a kMessageSent without a request would say.
inline constexpr std::uint32_t kSends = 1u << 13;
inline constexpr std::uint32_t kLongBytes =
    0xffffffffu;                                      // the length is in an extra word at the end
inline constexpr std::uint32_t kReceiving = 1u << 8;  // in small of kTransfer
// The tag of a message of class "partitioned" is this plus the library's own tag for the partition,
// which no other of its sender has.
inline constexpr std::int32_t kFirstPartitionTag = INT32_MIN;
inline constexpr std::uint64_t kNoRequest = 0;  // complete when its call returned

enum class TransferStep : std::uint8_t {
  kActivate = 1,  // the request exists (PERUSE_COMM_REQ_ACTIVATE)
  kPosted = 2,    // a receive was inserted in the posted queue (REQ_INSERT_IN_POSTED_Q)
  kUnposted = 3,  // removed from it; Fathom does not record this, because the match says the same
  kMatchedExpected = 4,    // an arriving message found a posted receive (MSG_MATCH_POSTED_REQ)
  kMatchedUnexpected = 5,  // a receive found its message in the unexpected queue (REQ_MATCH_UNEX)
  kBegin = 6,              // REQ_XFER_BEGIN
  kContinue = 7,           // REQ_XFER_CONTINUE
  kEnd = 8,                // REQ_XFER_END
  kComplete = 9,           // REQ_COMPLETE
};

// In small of kTransfer: the step followed, too. Steps follow each other in the order of their numbers.
inline constexpr std::uint32_t kAlsoShift = 9;
constexpr std::uint32_t also(TransferStep step) {
  return 1u << (kAlsoShift + static_cast<std::uint32_t>(step));
}

enum class PauseReason : std::uint8_t { kPcontrol = 1, kTimeWindow = 2, kPhase = 3, kSizeCap = 4 };

// The lock of a window. kNoCheck: with MPI_MODE_NOCHECK, which promises that nobody holds a conflicting one.
enum class LockType : std::uint8_t { kUnknown = 0, kExclusive = 1, kShared = 2, kNoCheck = 3 };

// ---- attributes of calls ----
//
// The definitions give each function the attributes of its kEnter and kLeave, in order:
//   text line "function ID NAME GROUP enter=A,B leave=C"
// 4-byte attributes are packed two to a word, in order (the low half first), before the 8-byte
// ones; a single one leaves the high half 0. If kBytes is kLongBytes, a word follows after
// everything else.
enum class Attribute : std::uint8_t {
  // 4 bytes
  kCommunicator = 1,  // "comm": kind, as in messages; ~0: none
  kPeer = 2,          // "peer": destination or source as given; -1 any source, -2 null process
  kTag = 3,           // "tag"; -1 any tag
  kBytes = 4,         // "bytes": count x size of the datatype
  kRoot = 5,          // "root"
  kPeer2 = 6,         // "peer2": the source of a sendrecv
  kTag2 = 7,          // "tag2"
  kBytes2 = 8,  // "bytes2": the receiving side's; also escapes with kLongBytes (after kBytes's)
  kCount = 9,   // "count": requests given to a wait or test, messages, elements
  kNewCommunicator = 10,  // "newcomm": at leave
  kFlag = 11,             // "flag": at leave, of a test or probe
  kCompleted = 12,        // "completed": at leave, how many requests completed
  kLock = 13,             // "lock": LockType, of MPI_Win_lock and MPI_Win_lock_all
  // 8 bytes
  kRequest = 32,   // "request": handle, a number that is unique among the live requests
  kWindow = 33,    // "win"
  kFile = 34,      // "file"
  kOffset = 35,    // "offset": target displacement, file offset
  kRequests = 36,  // "requests": several, as kValues records after kEnter: those of MPI_Waitall and
                   // MPI_Startall; those that MPI_Waitany and MPI_Waitsome left active
  kMembers = 37,   // "members": of a group, as kValues records after kEnter: world ranks, without
                   // processes of other worlds
  kMessage =
      38,  // "message": handle, a number that is unique among the messages that probes hold: at
           // leave of MPI_Mprobe and MPI_Improbe, at enter of MPI_Mrecv and MPI_Imrecv
};
// Whether its values are kValues records, not words of kEnter.
constexpr bool is_list(Attribute attribute) {
  return attribute == Attribute::kRequests || attribute == Attribute::kMembers;
}
constexpr bool is_wide(Attribute attribute) { return static_cast<int>(attribute) >= 32; }

// ---- additions to the sections of profile/rows.h ----

inline constexpr std::uint32_t kClockSection = 16;  // ClockRow

// The same moment on several clocks. Ticks become nanoseconds of the run by interpolation between
// the moments of the process; `reference_ns`, measured on one process of each host, relates the
// hosts to each other (docs/trace-format.md, "Time").
struct ClockRow {
  std::uint64_t ticks;         // the clock of the records
  std::uint64_t monotonic_ns;  // CLOCK_MONOTONIC, the same for all processes of a host
  std::uint64_t unix_ns;       // CLOCK_REALTIME
  std::uint64_t
      reference_ns;  // CLOCK_MONOTONIC of the host of rank 0 at this moment; 0: not measured
  std::uint64_t uncertainty_ns;
};
static_assert(sizeof(ClockRow) == 40);

// Keys of the text section, besides those of profile/rows.h:
//   lost N (records, of this process) · dropped N (records that a flight recorder let go before the
//   first one that is here) ·
//   function ID NAME GROUP enter=… leave=… · thread ID NAME ·
//   affinity CPULIST · socket N · numa N ·
//   code BASE SIZE OFFSET BUILDID PATH (one for each mapped executable segment, hexadecimal) ·
//   site ADDRESS LINE FILE<tab>FUNCTION (of an import or a slice: what a call site is; ADDRESS hexadecimal) ·
//   clock tsc|monotonic · own-clock NS|unbounded (of an import: its uncertainty) · level calls|transfers · chosen-communicators PATTERN ·
//   selection WHAT VALUE (what was selected, one line each: functions, ranks, phases, after, for,
//                         sample, from, to)

}  // namespace fathom::trace
