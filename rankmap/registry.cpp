// SPDX-License-Identifier: BSD-3-Clause
#include "rankmap/registry.h"

#include <algorithm>
#include <cstring>

#include "mpi/makers.h"

namespace fathom::rankmap {
namespace {

constexpr std::size_t kMaxKinds = std::size_t{1} << profile::kCommunicatorBits;

// FNV-1a over 64-bit words with a final mix. A collision would merge the rows of two communicators
// in the profile, but never their ranks.
class Hash {
 public:
  Hash() = default;
  explicit Hash(std::uint64_t value) : state_(value) {}  // continues from there

  Hash& add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x100000001b3;
    state_ ^= state_ >> 29;
    return *this;
  }
  Hash& add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    return *this;
  }
  std::uint64_t value() const { return state_ == 0 ? 1 : state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

struct GroupFacts {
  std::uint64_t key;
  bool has_foreign = false;
  bool self_reports = false;  // this process is the first of its world in the group
};

GroupFacts facts_of(const void* group, Identity self) {
  Hash hash;
  GroupFacts facts{};
  bool met_own = false;
  for (int i = 0; i < group_size(group); ++i) {
    const Identity who = member(group, i);
    hash.add(std::uint64_t{who.job} << 32 | who.rank);
    if (who.job != self.job) {
      facts.has_foreign = true;
    } else if (!met_own) {
      met_own = true;
      facts.self_reports = who == self;
    }
  }
  facts.key = hash.value();
  return facts;
}

template <std::size_t N>
void copy_text(char (&to)[N], std::string_view from) {
  const std::size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  std::memset(to + length, 0, N - length);
}

}  // namespace

bool Registry::open(Identity self, base::SharedMemory* shared) {
  self_ = self;
  const auto kind = [](profile::Section section) { return static_cast<std::uint32_t>(section); };
  return rows_.reserve(kMaxKinds, shared, kind(profile::Section::kCommunicators)) &&
         foreign_.reserve(kMaxKinds, shared, kind(profile::Section::kForeignMembers));
}

Registry::Number Registry::next_number(std::uint64_t origin) const {
  Number number{.origin = origin};
  if (const auto known = taken_.find(origin); known != taken_.end()) {
    const auto free = std::find(known->second.begin(), known->second.end(), false);
    number.ordinal = static_cast<std::uint32_t>(free - known->second.begin());
  }
  number.key = Hash(origin).add(number.ordinal).value();
  return number;
}

void Registry::take(const Number& number) {
  std::vector<bool>& taken = taken_[number.origin];
  if (taken.size() <= number.ordinal) taken.resize(number.ordinal + 1);
  taken[number.ordinal] = true;
}

std::uint32_t Registry::add(const void* comm, std::string_view made_by, std::uint32_t parent,
                            std::uint32_t flags) {
  const bool inter = is_intercommunicator(comm);
  const GroupFacts local = facts_of(local_group(comm), self_);
  const GroupFacts remote = inter ? facts_of(remote_group(comm), self_) : GroupFacts{};
  const bool parent_per_process =
      parent != kNoKind && (rows_[parent].flags & profile::kPerProcess) != 0;
  if (!inter && group_size(local_group(comm)) == 1 && parent_per_process) {
    flags |= profile::kPerProcess;
  }
  if (inter) flags |= profile::kIntercommunicator;
  const bool per_process = (flags & profile::kPerProcess) != 0;

  Hash made;
  made.add(mpi::shared_maker(made_by));
  Hash origin = made;
  // The two sides of an intercommunicator know different parents, and see the groups swapped.
  if (!inter && parent != kNoKind) {
    made.add(rows_[parent].key);
    origin.add(numbers_[parent].key);
  }
  if (!per_process) {
    made.add(local.key + remote.key);
    origin.add(local.key + remote.key);
  }
  const Number number = next_number(origin.value());
  // If each process has its own, the index differs between processes, so the ordinal is used.
  const std::uint64_t key = made.add(per_process ? number.ordinal : index(comm)).value();

  if (const auto known = kinds_by_key_.find(key); known != kinds_by_key_.end()) {
    const std::uint32_t kind = known->second;
    take(number);
    numbers_[kind] = number;
    profile::CommunicatorRow& row = rows_[kind];
    ++row.instances;
    if (row.ordinal_key != number.key) row.ordinal_key = 0;
    return kind;
  }
  profile::CommunicatorRow* row = rows_.append();
  if (row == nullptr) return kNoKind;
  const auto kind = static_cast<std::uint32_t>(rows_.size() - 1);
  row->key = key;
  row->ordinal_key = number.key;
  row->parent_key = parent == kNoKind ? 0 : rows_[parent].key;
  row->group_key = local.key;
  row->size = static_cast<std::uint32_t>(group_size(local_group(comm)));
  row->remote_size = inter ? static_cast<std::uint32_t>(group_size(remote_group(comm))) : 0;
  row->my_rank = static_cast<std::uint32_t>(my_rank(comm));
  row->instances = 1;
  row->flags = flags;
  copy_text(row->made_by, made_by);
  kinds_by_key_.emplace(key, kind);
  numbers_.push_back(number);
  take(number);
  if (local.has_foreign && local.self_reports) {
    add_foreign_members(kind, local_group(comm), false);
  }
  // All members of the remote group may be foreign, so the local group's first member reports both.
  if (inter && remote.has_foreign && local.self_reports) {
    add_foreign_members(kind, remote_group(comm), true);
  }
  return kind;
}

void Registry::add_foreign_members(std::uint32_t kind, const void* group, bool remote) {
  for (int i = 0; i < group_size(group); ++i) {
    const Identity who = member(group, i);
    if (who.job == self_.job) continue;
    if (profile::ForeignMemberRow* row = foreign_.append()) {
      *row = {kind, remote ? 1u : 0u, static_cast<std::uint32_t>(i), who.job, who.rank, 0};
    }
  }
}

void Registry::retire(std::uint32_t kind) {
  const Number& number = numbers_[kind];
  taken_[number.origin][number.ordinal] = false;
}

void Registry::keep_name(std::uint32_t kind, const void* comm) {
  const std::string_view name = given_name(comm);
  if (!name.empty() && rows_[kind].name[0] == '\0') copy_text(rows_[kind].name, name);
}

void Registry::describe(std::uint32_t kind, std::string_view made_by, std::string_view name) {
  copy_text(rows_[kind].made_by, made_by);
  copy_text(rows_[kind].name, name);
}

void Registry::clear() {
  rows_.clear();
  foreign_.clear();
  kinds_by_key_.clear();
  numbers_.clear();
  taken_.clear();
}

}  // namespace fathom::rankmap
