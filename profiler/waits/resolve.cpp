// SPDX-License-Identifier: BSD-3-Clause
#include "profiler/waits/resolve.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "mpi/meaning.h"
#include "profiler/waits/exchange.h"
#include "profiler/waits/matched_messages.h"
#include "profiler/waits/neighbor_lists.h"
#include "profiler/waits/packed_bytes.h"
#include "profiler/waits/posted_order.h"
#include "profiler/waits/sequence_block.h"

namespace fathom::profiler {
namespace {

// Times are kept in units of some 20 ns.
constexpr std::int64_t kRounding = 100;

// Places in a communicator's sequence that are brought together at one process.
constexpr std::uint64_t kBlock = 4096;

// ---- what travels ----

enum class Content : std::uint64_t { kQuestions, kBlock };

struct ChannelQuestion {       // followed by the ordinals
  std::uint64_t communicator;  // CommunicatorRow::key
  ChannelKind kind;            // at the process that is asked
  std::int32_t tag;
  std::uint64_t ordinals;
};

// ---- one process ----

class Finder {
 public:
  Finder(ProfiledProcess& process, Gather& gather, const SharedClock& clock)
      : exchange_(gather, process),
        clock_(clock),
        job_(process.header().job),
        rank_(process.header().rank),
        size_(process.header().world_size),
        communicators_(process.registry().rows()) {}

  FoundWaits find(Gather::Places& told) {
    std::vector<Parcel> parcels = safely([this] { return ask(); });
    parcels = exchange_.ask(std::move(parcels), told, kGoesInRounds);
    if (told[kIsUnable].value != 0) return {};
    uncertainty_ns_ = uncertainty_ns(told);
    parcels = safely([&] { return answer(parcels); });
    parcels = exchange_.answer(std::move(parcels));
    try {
      read(parcels);
      return put_together();
    } catch (...) {
      return {};
    }
  }

 private:
  struct Asked {
    CollectiveFacts facts;
    std::uint64_t left;  // ticks
  };
  struct Wanted {                                       // of collectives
    std::vector<std::pair<std::uint64_t, Asked>> what;  // ordinals, ascending
    std::vector<Decision> answers;                      // one each
  };
  struct WantedMessages {
    std::vector<std::uint64_t> ordinals;  // ascending
    std::vector<std::int64_t> moments;    // the answers, one each
  };

  template <typename F>
  static std::vector<Parcel> safely(F make) try {
    return make();
  } catch (...) {
    return {};
  }

  static const Channel& channel(std::uint32_t number) { return WaitLog::channels()[number]; }
  const profile::CommunicatorRow& communicator(const Channel& channel) const {
    return communicators_[channel.key.communicator];
  }
  // Alone on its communicator, nobody waits.
  bool is_shared(const Channel& channel) const {
    const profile::CommunicatorRow& row = communicator(channel);
    return row.size + row.remote_size > 1 && (row.flags & profile::kPerProcess) == 0;
  }

  // visit(part, facts) for each part of the record.
  template <typename Visit>
  void for_each_part(const WaitLog::Record& record, Visit visit) {
    const std::uint64_t* words = record.parts;
    for (std::uint64_t i = 0; i < record.part_count; ++i) {
      if ((words[i] & WaitLog::kIsFacts) != 0) continue;
      CollectiveFacts facts{0, -1};
      if (i + 1 < record.part_count && (words[i + 1] & WaitLog::kIsFacts) != 0)
        facts = WaitLog::facts_of(words[i + 1]);
      visit(in_order(Part{words[i]}), facts);
    }
  }

  // With its place among the messages of its channel.
  Part in_order(Part part) {
    if (!part.is_known()) return part;
    const Channel& own = channel(part.channel());
    if (own.places_unknown) return {Part::kUnknown};
    if (!own.places_differ) return part;
    const std::uint64_t place = places(own).of(part.ordinal());
    if (place == PostedOrder::Places::kNone) return {Part::kUnknown};
    return {(part.bits & ~Part::kOrdinal) | place};
  }

  const PostedOrder::Places& places(const Channel& channel) {
    const auto [known, is_new] = places_.try_emplace(&channel);
    if (is_new) known->second = PostedOrder::places(channel, WaitLog::times());
    return known->second;
  }

  void want_all() {
    WaitLog::for_each_record([this](const WaitLog::Record& record, std::uint32_t, std::size_t) {
      for_each_part(record, [&](Part part, CollectiveFacts facts) {
        if (!part.is_known()) return;
        if (channel(part.channel()).key.kind == ChannelKind::kCollectives) {
          wanted_[part.channel()].what.emplace_back(part.ordinal(), Asked{facts, record.left});
        } else {
          wanted_messages_[part.channel()].ordinals.push_back(part.ordinal());
        }
      });
    });
    for (auto& [number, wanted] : wanted_) {
      std::sort(wanted.what.begin(), wanted.what.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
      wanted.what.erase(std::unique(wanted.what.begin(), wanted.what.end(), same),
                        wanted.what.end());
      wanted.answers.resize(wanted.what.size());
    }
    for (auto& [number, wanted] : wanted_messages_) {
      std::vector<std::uint64_t>& ordinals = wanted.ordinals;
      std::sort(ordinals.begin(), ordinals.end());
      ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
      wanted.moments.resize(ordinals.size(), kUnknown);
    }
  }

  std::vector<Parcel> ask() {
    want_all();
    std::map<std::uint32_t, std::vector<char>> questions;  // by process
    for (const auto& [number, wanted] : wanted_messages_) {
      const Channel& own = channel(number);
      if (own.peer_job != job_) continue;
      std::vector<char>& data = questions[own.peer_rank];
      if (data.empty()) put_value(data, Content::kQuestions);
      const ChannelKind other =
          own.key.kind == ChannelKind::kSent ? ChannelKind::kReceived : ChannelKind::kSent;
      put_value(data,
                ChannelQuestion{communicator(own).key, other, own.key.tag, wanted.ordinals.size()});
      for (const std::uint64_t ordinal : wanted.ordinals) put_value(data, ordinal);
      asked_[own.peer_rank].push_back(number);
    }
    std::vector<Parcel> parcels;
    for (auto& [process, data] : questions) parcels.push_back({process, rank_, std::move(data)});
    for (std::uint32_t number = 0; number < WaitLog::channels().size(); ++number) {
      if (channel(number).key.kind == ChannelKind::kCollectives && is_shared(channel(number)))
        send_blocks(number, parcels);
    }
    return parcels;
  }

  void send_blocks(std::uint32_t number, std::vector<Parcel>& parcels) {
    const Channel& own = channel(number);
    const profile::CommunicatorRow& row = communicator(own);
    const std::uint64_t sequence = sequence_of(own);
    const Wanted* wanted = nullptr;
    if (const auto found = wanted_.find(number); found != wanted_.end()) wanted = &found->second;
    TimeLog::Reader times(WaitLog::times(), own.times);
    std::size_t next = 0;
    for (std::uint64_t first = 0; first < own.times.count; first += kBlock) {
      const std::uint64_t end = std::min(first + kBlock, own.times.count);
      const std::size_t begin = next;
      while (wanted != nullptr && next < wanted->what.size() && wanted->what[next].first < end)
        ++next;
      Parcel parcel{home_of(sequence, first), rank_, {}};
      put_value(parcel.data, Content::kBlock);
      const bool has_ranks = (row.flags & profile::kIntercommunicator) == 0;
      std::vector<BlockQuestion> questions;
      std::vector<std::int32_t> lists;  // of neighbours, by their number here
      for (std::size_t i = begin; i < next; ++i) {
        BlockQuestion question = question_about(wanted->what[i].first, wanted->what[i].second);
        if (question.among_neighbors) question.root = place_in(lists, question.root);
        questions.push_back(question);
      }
      put_value(parcel.data, BlockHeader{sequence, first, row.size + row.remote_size,
                                         has_ranks ? row.my_rank : kNoRank, end - first,
                                         next - begin, lists.size()});
      for (std::uint64_t ordinal = first; ordinal < end; ++ordinal)
        put_value(parcel.data, moment(times, ordinal));
      for (const BlockQuestion& question : questions) put_value(parcel.data, question);
      for (const std::int32_t list : lists) put_list(parcel.data, *NeighborLists::list(list));
      parcels.push_back(std::move(parcel));
      if (next > begin) asked_blocks_[{sequence, first}] = {number, begin};
    }
  }

  // The place of a list of neighbours among those that are sent; -1 if it is not known.
  static std::int32_t place_in(std::vector<std::int32_t>& lists, std::int32_t number) {
    if (NeighborLists::list(number) == nullptr) return -1;
    const auto known = std::find(lists.begin(), lists.end(), number);
    const auto place = static_cast<std::int32_t>(known - lists.begin());
    if (known == lists.end()) lists.push_back(number);
    return place;
  }

  static void put_list(std::vector<char>& data, const std::vector<std::uint32_t>& ranks) {
    put_value(data, static_cast<std::uint32_t>(ranks.size()));
    for (const std::uint32_t rank : ranks) put_value(data, rank);
  }
  static std::vector<std::uint32_t> get_list(Bytes& bytes) {
    std::uint32_t size = 0, rank = 0;
    std::vector<std::uint32_t> ranks;
    bytes.get(size);
    while (size-- > 0 && bytes.get(rank)) ranks.push_back(rank);
    return ranks;
  }

  // Names the sequence for all its members.
  std::uint64_t sequence_of(const Channel& channel) const {
    const auto object = static_cast<std::uint64_t>(static_cast<std::uint32_t>(channel.key.tag));
    return communicator(channel).key ^ object * 0xc2b2ae3d27d4eb4f;
  }

  BlockQuestion question_about(std::uint64_t ordinal, const Asked& asked) const {
    const mpi::Meaning& means = meaning(asked.facts);
    const bool among_neighbors = mpi::is_neighborhood(means.collective);
    const bool may_be_alone = among_neighbors || means.collective == mpi::Collective::kNone;
    return {ordinal, asked.facts.root, means.flow, among_neighbors,
            may_be_alone ? clock_.at(asked.left) : kNeverAlone};
  }

  std::uint32_t home_of(std::uint64_t sequence, std::uint64_t first) const {
    const std::uint64_t mixed = (sequence ^ first) * 0x9e3779b97f4a7c15;
    return static_cast<std::uint32_t>((mixed >> 32) % size_);
  }

  static const mpi::Meaning& meaning(const CollectiveFacts& facts) {
    return mpi::meaning_of(WaitLog::name_of(facts.function));
  }

  std::int64_t moment(TimeLog::Reader& times, std::uint64_t ordinal) const {
    const std::uint64_t ticks = times.at(ordinal);
    return ticks == 0 ? kUnknown : clock_.at(ticks);
  }

  // When the message was sent, or its receive posted.
  std::int64_t moment_of(const Channel& own, TimeLog::Reader& times, std::uint64_t ordinal) {
    std::uint64_t ticks = 0;
    if (!own.places_differ) {
      ticks = MatchedMessages::moment(own, ordinal, times.at(ordinal));
    } else if (const auto& posted = places(own).ticks; ordinal < posted.size()) {
      ticks = posted[ordinal];
    }
    return ticks == 0 ? kUnknown : clock_.at(ticks);
  }

  // ---- answers ----

  std::vector<Parcel> answer(const std::vector<Parcel>& received) {
    std::vector<Parcel> answers;
    std::map<std::pair<std::uint64_t, std::uint64_t>, SequenceBlock> blocks;
    for (const Parcel& parcel : received) {
      Bytes bytes(parcel.data);
      Content content;
      if (!bytes.get(content)) continue;
      if (content == Content::kQuestions) {
        answers.push_back({parcel.from, rank_, answer_questions(parcel.from, bytes)});
      } else {
        add_to_block(parcel.from, bytes, blocks);
      }
    }
    for (auto& [place, block] : blocks) {
      for (const SequenceBlock::Asker& asker : block.askers) {
        Parcel parcel{asker.process, rank_, {}};
        put_value(parcel.data, Content::kBlock);
        put_value(parcel.data, place.first);
        put_value(parcel.data, place.second);
        for (const BlockQuestion& question : asker.questions)
          put_value(parcel.data, block.answer(question, question.ordinal - place.second, asker,
                                              uncertainty_ns_ + kRounding));
        answers.push_back(std::move(parcel));
      }
    }
    return answers;
  }

  std::vector<char> answer_questions(std::uint32_t asker, Bytes& bytes) {
    std::vector<char> data;
    put_value(data, Content::kQuestions);
    ChannelQuestion question;
    while (bytes.get(question)) {
      const Channel* own = find_channel(question, asker);
      static const TimeLog::List kNone;
      TimeLog::Reader times(WaitLog::times(), own == nullptr ? kNone : own->times);
      for (std::uint64_t i = 0; i < question.ordinals; ++i) {
        std::uint64_t ordinal = 0;
        if (!bytes.get(ordinal)) break;
        const bool known = own != nullptr && !own->posts_unknown && !own->places_unknown;
        put_value(data, known ? moment_of(*own, times, ordinal) : kUnknown);
      }
    }
    return data;
  }

  const Channel* find_channel(const ChannelQuestion& question, std::uint32_t peer) {
    if (channels_by_peer_.empty()) {
      for (std::uint32_t number = 0; number < WaitLog::channels().size(); ++number) {
        const Channel& own = channel(number);
        if (own.key.kind == ChannelKind::kCollectives || own.peer_job != job_) continue;
        channels_by_peer_[{communicator(own).key, own.peer_rank, own.key.tag, own.key.kind}] = &own;
      }
    }
    const auto found =
        channels_by_peer_.find({question.communicator, peer, question.tag, question.kind});
    return found == channels_by_peer_.end() ? nullptr : found->second;
  }

  static void add_to_block(
      std::uint32_t from, Bytes& bytes,
      std::map<std::pair<std::uint64_t, std::uint64_t>, SequenceBlock>& blocks) {
    BlockHeader header;
    if (!bytes.get(header)) return;
    SequenceBlock& block = blocks[{header.communicator, header.first}];
    if (header.member == kNoRank) header.member = block.without_rank++;
    if (header.member >= header.members) return;
    block.times.resize(header.members);
    block.processes.resize(header.members);
    std::vector<std::int64_t>& times = block.times[header.member];
    times.resize(header.times);
    for (std::int64_t& ns : times) bytes.get(ns);
    block.processes[header.member] = from;
    if (header.questions == 0) return;
    SequenceBlock::Asker& asker = block.askers.emplace_back();
    asker.process = from;
    asker.member = header.member;
    asker.questions.resize(header.questions);
    for (BlockQuestion& question : asker.questions) {
      if (bytes.get(question) && !question.among_neighbors)
        block.left(question.ordinal - header.first, question.left_ns);
    }
    for (std::uint64_t i = 0; i < header.lists; ++i) asker.neighbors.push_back(get_list(bytes));
  }

  // ---- what was answered ----

  void read(const std::vector<Parcel>& parcels) {
    for (const Parcel& parcel : parcels) {
      Bytes bytes(parcel.data);
      Content content;
      if (!bytes.get(content)) continue;
      if (content == Content::kQuestions) {
        read_answers(parcel.from, bytes);
      } else {
        read_block(bytes);
      }
    }
  }

  void read_answers(std::uint32_t from, Bytes& bytes) {
    for (const std::uint32_t number : asked_[from]) {
      for (std::int64_t& ns : wanted_messages_[number].moments) {
        if (!bytes.get(ns)) return;
      }
    }
  }

  void read_block(Bytes& bytes) {
    std::pair<std::uint64_t, std::uint64_t> place;
    if (!bytes.get(place.first) || !bytes.get(place.second)) return;
    const auto asked = asked_blocks_.find(place);
    if (asked == asked_blocks_.end()) return;
    auto& [number, begin] = asked->second;
    std::vector<Decision>& answers = wanted_[number].answers;
    for (std::size_t i = begin; i < answers.size() && bytes.get(answers[i]); ++i) {
    }
  }

  Decision decision(Part part) {
    const Channel& own = channel(part.channel());
    if (own.key.kind != ChannelKind::kCollectives) {
      const WantedMessages& wanted = wanted_messages_[part.channel()];
      const auto place =
          std::lower_bound(wanted.ordinals.begin(), wanted.ordinals.end(), part.ordinal());
      return {wanted.moments[static_cast<std::size_t>(place - wanted.ordinals.begin())],
              own.peer_rank, 0};
    }
    const Wanted& wanted = wanted_[part.channel()];
    const auto place = std::lower_bound(
        wanted.what.begin(), wanted.what.end(), part.ordinal(),
        [](const auto& known, std::uint64_t ordinal) { return known.first < ordinal; });
    return wanted.answers[static_cast<std::size_t>(place - wanted.what.begin())];
  }

  // As CallWait::wait() in analysis/engine/call_wait.cpp.
  FoundWaits put_together() {
    FoundWaits found;
    WaitLog::for_each_record([&](const WaitLog::Record& record, std::uint32_t number, std::size_t) {
      if (record.row == nullptr) return;
      FoundWait wait;
      wait.entered_ns = clock_.at(record.entered);
      wait.left_ns = clock_.at(record.left);
      wait.decided_ns = kUnknown;
      wait.of_main = record.of_main;
      wait.number = number;
      wait.entered_ticks = record.entered;
      wait.row = record.row;
      const std::uint32_t function = record.row->place.function;
      const bool for_first = WaitLog::waits_for_first(function);
      bool is_first = true, some_unknown = false;
      for_each_part(record, [&](Part part, CollectiveFacts facts) {
        if (!part.is_known()) {
          some_unknown = true;
          return;
        }
        const Channel& own = channel(part.channel());
        const bool unlinked = own.key.kind == ChannelKind::kCollectives && !is_shared(own);
        Decision one = unlinked ? Decision{kNoWait, 0, 0} : decision(part);
        if (one.ns == kUnknown) {
          some_unknown = true;
          return;
        }
        mpi::WaitKind kind = mpi::WaitKind::kLateSender;
        if (own.key.kind == ChannelKind::kSent) {
          kind = mpi::WaitKind::kLateReceiver;
          if (one.ns > wait.left_ns) one.ns = kNoWait;  // it did not wait for the receive
        } else if (own.key.kind == ChannelKind::kCollectives) {
          kind = mpi::wait_kind_of(meaning(facts));
        } else {
          // The message had arrived by then. If it was sent later than that, it is another one: a
          // receive that is never completed took the one before, and nobody knows.
          if (one.ns > wait.left_ns + uncertainty_ns_ + kRounding) {
            some_unknown = true;
            return;
          }
          one.ns = std::min(one.ns, wait.left_ns);
        }
        const bool better = for_first ? one.ns < wait.decided_ns : one.ns > wait.decided_ns;
        if (is_first || better) {
          wait.decided_ns = one.ns;
          wait.peer_rank = one.rank;
          wait.kind = kind;
        }
        is_first = false;
      });
      if (WaitLog::polls(function)) wait.kind = mpi::WaitKind::kPolling;
      const bool waited = !is_first && wait.decided_ns > wait.entered_ns;
      if (some_unknown && (!waited || for_first)) {
        found.unresolved.push_back(number);
        found.unresolved_ns += static_cast<std::uint64_t>(wait.left_ns - wait.entered_ns);
      } else if (waited && wait.ns() > uncertainty_ns_) {
        found.waits.push_back(wait);
      }
    });
    return found;
  }

  struct PeerChannel {
    std::uint64_t communicator;
    std::uint32_t peer;
    std::int32_t tag;
    ChannelKind kind;
    auto operator<=>(const PeerChannel&) const = default;
  };

  Exchange exchange_;
  const SharedClock& clock_;
  std::int64_t uncertainty_ns_ = 0;  // of two processes
  const std::uint32_t job_, rank_, size_;
  const base::ReservedArray<profile::CommunicatorRow>& communicators_;
  std::map<std::uint32_t, Wanted> wanted_;  // by channel
  std::map<std::uint32_t, WantedMessages> wanted_messages_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> asked_;  // channels, by process
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint32_t, std::size_t>>
      asked_blocks_;  // (communicator, first place): channel, first question
  std::map<PeerChannel, const Channel*> channels_by_peer_;
  std::map<const Channel*, PostedOrder::Places>
      places_;  // where they differ from the order of appending
};

}  // namespace

FoundWaits find_waits(ProfiledProcess& process, Gather& gather, const SharedClock* clock,
                      Gather::Places& told) noexcept try {
  if (clock != nullptr) return Finder(process, gather, *clock).find(told);
  Exchange(gather, process).ask({}, told, kGoesInRounds);
  return {};
} catch (...) {
  return {};
}

}  // namespace fathom::profiler
