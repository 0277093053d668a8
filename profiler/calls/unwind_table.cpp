// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/calls/unwind_table.h"

#include <cstring>

namespace fathom::profiler {
namespace {

// Pointer encodings (LSB, 10.5.1).
enum : std::uint8_t {
  kAbsolute = 0x00,
  kUdata4 = 0x03,
  kSdata4 = 0x0b,
  kPcRelative = 0x10,
  kDataRelative = 0x30
};

constexpr std::uint64_t kStackPointer = 7;  // rsp's number in DWARF (System V ABI, AMD64, 3.6.2)

class Bytes {
 public:
  Bytes(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}

  bool more() const { return at_ < end_ && !broken_; }
  bool broken() const { return broken_; }
  const std::uint8_t* at() const { return at_; }

  template <typename T>
  T fixed() {
    T value{};
    if (end_ - at_ < static_cast<std::ptrdiff_t>(sizeof value)) return broken_ = true, value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  std::int64_t sleb() {
    std::int64_t value = 0;
    int shift = 0;
    std::uint8_t byte = 0x80;
    while ((byte & 0x80) != 0 && shift < 64) {
      byte = fixed<std::uint8_t>();
      value |= static_cast<std::int64_t>(byte & 0x7fu) << shift;
      shift += 7;
    }
    if (shift < 64 && (byte & 0x40) != 0) value -= std::int64_t{1} << shift;
    return value;
  }
  void skip(std::uint64_t bytes) {
    if (bytes > static_cast<std::uint64_t>(end_ - at_))
      broken_ = true;
    else
      at_ += bytes;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool broken_ = false;
};

// The body of a CIE or FDE, after its length; empty for entries that this cannot read.
Bytes entry_at(const std::uint8_t* entry) {
  std::uint32_t length = 0;
  std::memcpy(&length, entry, sizeof length);
  if (length == 0xffffffffu) length = 0;  // 64-bit DWARF
  return {entry + 4, entry + 4 + length};
}

struct Common {  // a CIE
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointers = kAbsolute;
  bool has_augmentation = false;
  bool understood = false;
  const std::uint8_t* program = nullptr;
  const std::uint8_t* end = nullptr;
};

Common read_common(const std::uint8_t* entry) {
  Common common;
  std::uint32_t length = 0;
  std::memcpy(&length, entry, sizeof length);
  Bytes bytes = entry_at(entry);
  bytes.fixed<std::uint32_t>();  // 0: a CIE
  const auto version = bytes.fixed<std::uint8_t>();
  const auto* augmentation = reinterpret_cast<const char*>(bytes.at());
  bytes.skip(std::strlen(augmentation) + 1);
  common.code_factor = bytes.uleb();
  common.data_factor = bytes.sleb();
  version == 1 ? static_cast<void>(bytes.fixed<std::uint8_t>()) : static_cast<void>(bytes.uleb());
  common.understood = true;
  if (*augmentation == 'z') {
    common.has_augmentation = true;
    const std::uint64_t size = bytes.uleb();
    Bytes data(bytes.at(), bytes.at() + size);
    bytes.skip(size);
    for (const char* c = augmentation + 1; *c != '\0' && common.understood; ++c) {
      if (*c == 'R')
        common.pointers = data.fixed<std::uint8_t>();
      else if (*c == 'L')
        data.fixed<std::uint8_t>();
      else if (*c != 'S')
        common.understood = false;  // 'P', a personality: C++ code, not a binding
    }
  } else if (*augmentation != '\0') {
    common.understood = false;
  }
  common.program = bytes.at();
  common.end = entry + 4 + length;
  common.understood = common.understood && !bytes.broken();
  return common;
}

// How to compute the canonical frame address: register and offset (DWARF 5, 6.4.2).
class Rule {
 public:
  // Runs instructions until they describe code beyond `stop`. False: not understood.
  bool run(Bytes program, std::uintptr_t location, std::uintptr_t stop, const Common& common) {
    while (program.more()) {
      const auto code = program.fixed<std::uint8_t>();
      const std::uint8_t low = code & 0x3f;
      switch (code >> 6) {
        case 1: location += low * common.code_factor; break;  // advance_loc
        case 2: program.uleb(); break;                        // offset
        case 3: break;                                        // restore
        default:
          if (!extended(low, program, location, common)) return false;
      }
      if (location > stop) return true;
    }
    return !program.broken();
  }

  std::int64_t from_stack_pointer() const {
    return now_.reg == kStackPointer && now_.offset >= 8 ? now_.offset : -1;
  }

 private:
  struct Place {
    std::uint64_t reg = ~std::uint64_t{0};
    std::int64_t offset = 0;
  };

  bool extended(std::uint8_t code, Bytes& program, std::uintptr_t& location, const Common& common) {
    switch (code) {
      case 0x00: return true;  // nop
      case 0x02:
        location += program.fixed<std::uint8_t>() * common.code_factor;
        return true;  // advance_loc1
      case 0x03:
        location += program.fixed<std::uint16_t>() * common.code_factor;
        return true;  // advance_loc2
      case 0x04:
        location += program.fixed<std::uint32_t>() * common.code_factor;
        return true;  // advance_loc4
      case 0x05:
        program.uleb();
        program.uleb();
        return true;  // offset_extended
      case 0x06:
      case 0x07:
      case 0x08: program.uleb(); return true;  // restore_extended, undefined, same_value
      case 0x09:
        program.uleb();
        program.uleb();
        return true;  // register
      case 0x0a: return remember();
      case 0x0b: return recall();
      case 0x0c:
        now_.reg = program.uleb();
        now_.offset = static_cast<std::int64_t>(program.uleb());
        return true;
      case 0x0d: now_.reg = program.uleb(); return true;  // def_cfa_register
      case 0x0e:
        now_.offset = static_cast<std::int64_t>(program.uleb());
        return true;  // def_cfa_offset
      case 0x0f:
        program.skip(program.uleb());
        now_ = {};
        return true;  // def_cfa_expression
      case 0x10:
      case 0x16:
        program.uleb();
        program.skip(program.uleb());
        return true;  // (val_)expression
      case 0x11:
        program.uleb();
        program.sleb();
        return true;  // offset_extended_sf
      case 0x12:
        now_.reg = program.uleb();
        now_.offset = program.sleb() * common.data_factor;
        return true;
      case 0x13: now_.offset = program.sleb() * common.data_factor; return true;
      case 0x2e: program.uleb(); return true;  // GNU_args_size
      default: return false;
    }
  }
  bool remember() {
    if (kept_ == kMostKept) return false;
    stack_[kept_++] = now_;
    return true;
  }
  bool recall() {
    if (kept_ == 0) return false;
    now_ = stack_[--kept_];
    return true;
  }

  static constexpr int kMostKept = 8;
  Place now_;
  Place stack_[kMostKept];
  int kept_ = 0;
};

// The FDE whose function may contain `address`: the last one that begins at or before it.
const std::uint8_t* find_entry(const std::uint8_t* header, std::uintptr_t address) {
  constexpr std::uint8_t kHeader[] = {1, kPcRelative | kSdata4, kUdata4, kDataRelative | kSdata4};
  if (std::memcmp(header, kHeader, sizeof kHeader) != 0) return nullptr;
  std::uint32_t count = 0;
  std::memcpy(&count, header + 8, sizeof count);
  struct Row {
    std::int32_t begin, entry;  // relative to the header
  };
  const std::uint8_t* rows = header + 12;
  const auto row_at = [rows](std::uint32_t i) {
    Row row{};
    std::memcpy(&row, rows + std::size_t{i} * sizeof row, sizeof row);
    return row;
  };
  const std::int64_t wanted =
      static_cast<std::int64_t>(address - reinterpret_cast<std::uintptr_t>(header));
  std::uint32_t first = 0, last = count;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    row_at(middle).begin <= wanted ? first = middle + 1 : last = middle;
  }
  return first == 0 ? nullptr : header + row_at(first - 1).entry;
}

}  // namespace

std::int64_t frame_size_at(const std::uint8_t* frame_header, std::uintptr_t address) {
  const std::uint8_t* entry = frame_header == nullptr ? nullptr : find_entry(frame_header, address);
  if (entry == nullptr) return -1;
  Bytes bytes = entry_at(entry);
  const std::uint8_t* pointer_place = bytes.at();
  const std::uint8_t* common_at = pointer_place - bytes.fixed<std::uint32_t>();
  const Common common = read_common(common_at);
  if (!common.understood || common.pointers != (kPcRelative | kSdata4)) return -1;
  const auto begin_place = reinterpret_cast<std::uintptr_t>(bytes.at());
  const std::uintptr_t begin =
      begin_place + static_cast<std::uintptr_t>(std::int64_t{bytes.fixed<std::int32_t>()});
  const std::uintptr_t size = bytes.fixed<std::uint32_t>();
  if (address - begin >= size) return -1;
  if (common.has_augmentation) bytes.skip(bytes.uleb());
  std::uint32_t length = 0;
  std::memcpy(&length, entry, sizeof length);
  Rule rule;
  if (!rule.run({common.program, common.end}, 0, ~std::uintptr_t{0}, common)) return -1;
  if (bytes.broken() || !rule.run({bytes.at(), entry + 4 + length}, begin, address, common))
    return -1;
  return rule.from_stack_pointer();
}

}  // namespace fathom::profiler
