// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/lateness/comm_events.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/engine/parcels.h"

namespace fathom::analysis {
namespace {

// Until all rows are in one place, an event is identified by its process and its number there.
struct SentMessage {
  std::uint32_t step = 0, event = 0;  // the kSend, and the event of its process that contains it
};
struct Taken {
  std::uint32_t process = 0, event = 0;
  std::uint32_t source = 0, source_step = 0;
};
struct Part {
  std::uint32_t process = 0, event = 0;
  std::int32_t communicator = 0;
  std::uint32_t object = 0, number = 0;
  bool completes = false;
};

struct Rows {
  ScratchVector<CommEvent> events;
  ScratchVector<std::uint64_t> sizes;  // process << 32 | events, process << 32 | sent messages
  ScratchVector<SentMessage> sent;
  ScratchVector<Taken> taken;
  ScratchVector<Part> parts;
};

class EventScan {
 public:
  EventScan(JoinedJob& job, std::uint64_t from_ns, std::uint64_t to_ns)
      : job_(job), from_ns_(from_ns), to_ns_(to_ns) {}

  Rows rows() {
    for (const std::uint32_t process : job_.own()) {
      process_ = process;
      const std::size_t events = rows_.events.size(), sent = rows_.sent.size();
      first_ = static_cast<std::uint32_t>(events);
      for (std::uint32_t number = 0; number < job_.steps().size(process); ++number) {
        if (number % StepFile::kBlockSteps == 0) job_.steps().touched(StepFile::kBlockSteps);
        const Step& step = job_.steps().at(process, number);
        if (step.kind != StepKind::kCall && step.kind != StepKind::kLost &&
            step.kind != StepKind::kGiven)
          take(number, step);
      }
      const auto size = [&](std::size_t count) {
        rows_.sizes.push_back(std::uint64_t{process} << 32 | count);
      };
      size(rows_.events.size() - events);
      size(rows_.sent.size() - sent);
    }
    return std::move(rows_);
  }

 private:
  const Step& step(std::uint32_t number) const { return job_.steps().at(process_, number); }

  void take(std::uint32_t number, const Step& part) {
    if (part.call == kNobody || is_internal(part)) return;
    const Step& call = step(part.call);
    if (call.time_ns < from_ns_ || call.time_ns >= to_ns_) return;
    if (part.kind == StepKind::kSend) {
      append(rows_.sent, {number, send_event(part.call)});
    } else if (part.kind == StepKind::kDone) {
      if (!part.has(kCancelled) && part.partner_step != kNobody)
        complete(part.call, step(part.partner_step));
    } else if (part.kind == StepKind::kProbe) {
      if (part.partner_step != kNobody && step(part.partner_step).kind == StepKind::kReceive)
        complete(part.call, step(part.partner_step));
    } else if (part.kind == StepKind::kCollective) {
      if (is_group(part)) take_part(part);
    } else if (!part.has(kByRequest)) {
      complete(part.call, part);
    }
  }

  bool is_group(const Step& part) const {
    return part.has(kJoined) && !part.has(kBystander) &&
           job_.facts().meaning_of(part, step(part.call)).flow != Flow::kNone;
  }

  void complete(std::uint32_t call, const Step& part) {
    if (part.kind == StepKind::kSend || (part.kind == StepKind::kCollective && !is_group(part)))
      return;
    const std::uint32_t event = event_of(call, CommKind::kReceive);
    if (part.kind == StepKind::kCollective) {
      append(rows_.parts, {process_, event, part.communicator, part.object, part.number, true});
    } else if (part.has(kJoined)) {
      append(rows_.taken, {process_, event, part.partner, part.partner_step});
    }
  }

  void take_part(const Step& part) {
    const std::uint32_t event =
        event_of(part.call, part.has(kByRequest) ? CommKind::kPost : CommKind::kCollective);
    append(rows_.parts, {process_, event, part.communicator, part.object, part.number, false});
  }

  // Consecutive non-blocking sends extend the last event. What counts is the call, not
  // kByRequest: an eager send is complete when MPI_Isend returns, and leaves no request.
  std::uint32_t send_event(std::uint32_t call) {
    const bool nonblocking = job_.facts().functions[step(call).number].immediate;
    const bool again = nonblocking && coalesces_ && rows_.events.size() > first_ &&
                       rows_.events.back().kind == CommKind::kSend;
    if (!again) {
      const std::uint32_t event = event_of(call, CommKind::kSend);
      coalesces_ = nonblocking;
      return event;
    }
    rows_.events.back().exit_ns = std::max(rows_.events.back().exit_ns, step(call).end_ns);
    return static_cast<std::uint32_t>(rows_.events.size() - 1) - first_;
  }

  // The last event if it is of this call and kind, otherwise a new one.
  std::uint32_t event_of(std::uint32_t call, CommKind kind) {
    auto& events = rows_.events;
    if (events.size() == first_ || events.back().call != call || events.back().kind != kind) {
      CommEvent& event = append(events, {});
      event.enter_ns = step(call).time_ns;
      event.exit_ns = step(call).end_ns;
      event.process = process_;
      event.call = call;
      event.kind = kind;
      coalesces_ = false;
    }
    return static_cast<std::uint32_t>(events.size() - 1) - first_;
  }

  JoinedJob& job_;
  const std::uint64_t from_ns_, to_ns_;
  Rows rows_;
  std::uint32_t process_ = 0, first_ = 0;
  bool coalesces_ = false;  // the last event consists of non-blocking sends
};

// At process 0 the rows of all processes, in order. They arrive in pieces, so memory never holds a
// second copy of them.
template <typename Row>
ScratchVector<Row> all_of(Transport& transport, ScratchVector<Row>&& own) {
  constexpr std::size_t kPiece = 1 << 16;
  Parcels parcels(transport.size());
  for (std::size_t to = 0; to < transport.size(); ++to)
    parcels.send(to, 0, std::uint64_t{own.size()});
  std::vector<std::uint64_t> sizes;
  for (const Transport::Bytes& bytes : transport.exchange(parcels.take())) {
    Received received(bytes);
    received.kind();
    sizes.push_back(received.take<std::uint64_t>());
  }
  ScratchVector<Row> all;
  if (transport.rank() == 0) all.swap(own);
  for (std::size_t sender = 1; sender < sizes.size(); ++sender) {
    for (std::size_t begin = 0; begin < sizes[sender]; begin += kPiece) {
      std::vector<Row> piece;
      if (sender == transport.rank())
        piece.assign(own.data() + begin,
                     own.data() + std::min<std::size_t>(begin + kPiece, own.size()));
      for (const Row& row : gathered(transport, piece)) append(all, row);
    }
  }
  return all;
}

// Pairs (i, to) as Links; the entries of each i are in the order of the pairs.
template <typename Pairs, typename From, typename To>
Links links(std::size_t size, const Pairs& pairs, From from, To to) {
  Links made;
  made.first.assign(size + 1, 0);
  std::uint32_t count = 0;
  for (const auto& pair : pairs) {
    CommEvents::touched(count++);
    ++made.first[from(pair) + 1];
  }
  for (std::size_t i = 0; i < size; ++i) made.first[i + 1] += made.first[i];
  ScratchVector<std::uint32_t> at(made.first.begin(), made.first.end() - 1);
  made.to.resize(made.first.back());
  for (const auto& pair : pairs) {
    CommEvents::touched(count++);
    made.to[at[from(pair)]++] = to(pair);
  }
  return made;
}

struct MemberPlace {
  std::size_t events = 0, sent = 0;  // where the process's gathered rows begin
  std::uint32_t event_count = 0, sent_count = 0;
  std::size_t hint = 0;  // lookups of messages are nearly in order
};

class Assembly {
 public:
  // Rows arrive by analysis process; the result must not depend on how many there are.
  Assembly(Rows&& rows, std::size_t processes) : rows_(std::move(rows)), places_(processes) {
    sort_by_process(rows_.taken);
    sort_by_process(rows_.parts);
  }

  CommEvents assemble() {
    place();
    link_messages();
    link_groups();
    return std::move(made_);
  }

 private:
  // Stable counting sort: counts, then positions.
  template <typename Row>
  void sort_by_process(ScratchVector<Row>& rows) const {
    std::vector<std::size_t> at(places_.size() + 1);
    std::uint32_t count = 0, before = 0;
    bool sorted = true;
    for (const Row& row : rows) {
      CommEvents::touched(count++);
      ++at[row.process + 1];
      sorted = sorted && before <= row.process;
      before = row.process;
    }
    if (sorted) return;
    std::partial_sum(at.begin(), at.end(), at.begin());
    ScratchVector<Row> placed(rows.size());
    for (const Row& row : rows) {
      CommEvents::touched(count++);
      placed[at[row.process]++] = row;
    }
    rows.swap(placed);
  }

  // In the order of processes, independent of who scanned them.
  void place() {
    std::size_t events = 0, sent = 0;
    for (std::size_t i = 0; i < rows_.sizes.size(); i += 2) {
      MemberPlace& one = places_[rows_.sizes[i] >> 32];
      one.events = events;
      one.sent = sent;
      one.event_count = static_cast<std::uint32_t>(rows_.sizes[i]);
      one.sent_count = static_cast<std::uint32_t>(rows_.sizes[i + 1]);
      events += one.event_count;
      sent += one.sent_count;
    }
    made_.first_of.push_back(0);
    bool in_order = true;
    for (const MemberPlace& one : places_) {
      in_order = in_order && one.events == made_.first_of.back();
      made_.first_of.push_back(made_.first_of.back() + one.event_count);
    }
    if (in_order) {
      made_.events = std::move(rows_.events);
      return;
    }
    made_.events.reserve(rows_.events.size());
    for (const MemberPlace& one : places_) {
      for (std::uint32_t event = 0; event < one.event_count; ++event) {
        CommEvents::touched(event);
        made_.events.push_back(rows_.events[one.events + event]);
      }
    }
    rows_.events = {};
  }

  std::uint32_t number(std::uint32_t process, std::uint32_t event) const {
    return made_.first_of[process] + event;
  }

  std::uint32_t sender_of(const Taken& taken) {
    MemberPlace& place = places_[taken.source];
    const SentMessage* begin = rows_.sent.data() + place.sent;
    const std::size_t size = place.sent_count;
    std::size_t step = 1, low = place.hint;
    if (low >= size || begin[low].step > taken.source_step) low = 0;
    while (low + step < size && begin[low + step].step <= taken.source_step) low += step, step *= 2;
    const SentMessage* end = begin + std::min(size, low + step + 1);
    const SentMessage* found = std::lower_bound(
        begin + std::min(low, size), end, taken.source_step,
        [](const SentMessage& sent, std::uint32_t wanted) { return sent.step < wanted; });
    place.hint = static_cast<std::size_t>(found - begin);
    return found != end && found->step == taken.source_step ? number(taken.source, found->event)
                                                            : kNobody;
  }

  void link_messages() {
    struct Message {
      std::uint32_t sender = 0, receiver = 0;
    };
    ScratchVector<Message> messages;
    std::uint32_t count = 0;
    for (const Taken& taken : rows_.taken) {
      CommEvents::touched(count++);
      const std::uint32_t sender = sender_of(taken);
      if (sender != kNobody) append(messages, {sender, number(taken.process, taken.event)});
    }
    rows_.taken = {};
    rows_.sent = {};
    const auto sender = [](const Message& message) { return message.sender; };
    const auto receiver = [](const Message& message) { return message.receiver; };
    made_.senders = links(made_.events.size(), messages, receiver, sender);
    made_.receivers = links(made_.events.size(), messages, sender, receiver);
  }

  void link_groups() {
    std::map<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
    struct Member {
      std::uint32_t group = 0, event = 0;
    };
    ScratchVector<Member> members, completions;
    for (const Part& part : rows_.parts) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      const std::uint32_t group =
          numbers.emplace(std::tuple(part.communicator, part.object, part.number), next)
              .first->second;
      const std::uint32_t event = number(part.process, part.event);
      append(part.completes ? completions : members, {group, event});
      if (!part.completes) made_.events[event].group = group;
    }
    const auto group = [](const Member& member) { return member.group; };
    const auto event = [](const Member& member) { return member.event; };
    made_.members = links(numbers.size(), members, group, event);
    made_.completions = links(numbers.size(), completions, group, event);
    made_.completed = links(made_.events.size(), completions, event, group);
  }

  Rows rows_;
  std::vector<MemberPlace> places_;
  CommEvents made_;
};

}  // namespace

CommEvents comm_events(JoinedJob& job, std::uint64_t from_ns, std::uint64_t to_ns) {
  Transport& transport = job.transport();
  Rows own = EventScan(job, from_ns, to_ns).rows();
  Rows all;
  all.events = all_of(transport, std::move(own.events));
  all.sizes = all_of(transport, std::move(own.sizes));
  all.sent = all_of(transport, std::move(own.sent));
  all.taken = all_of(transport, std::move(own.taken));
  all.parts = all_of(transport, std::move(own.parts));
  return Assembly(std::move(all), job.mapping().size()).assemble();  // elsewhere there are no rows
}

}  // namespace fathom::analysis
