// SPDX-License-Identifier: BSD-3-Clause
#include "live/job_state_json.h"

#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/byte_source.h"
#include "base/json/reader.h"

namespace fathom::live {
namespace {

constexpr char kStateAdvice[] =
    "give a run directory of a running job, or what 'fathom top --json' printed";

template <typename Enum>
using Words = std::span<const std::pair<Enum, const char*>>;

constexpr std::array<std::pair<RequestKind, const char*>, 5> kRequestWords = {{
    {RequestKind::kSend, "send"},
    {RequestKind::kSynchronousSend, "synchronous-send"},
    {RequestKind::kReceive, "receive"},
    {RequestKind::kCollective, "collective"},
    {RequestKind::kOther, "other"},
}};

constexpr std::array<std::pair<ProcessState, const char*>, 6> kProcessWords = {{
    {ProcessState::kStarting, "starting"},
    {ProcessState::kRunning, "running"},
    {ProcessState::kFinalizing, "finalizing"},
    {ProcessState::kEnded, "ended"},
    {ProcessState::kGone, "gone"},
    {ProcessState::kStopped, "stopped"},
}};

constexpr std::array<std::pair<QueueAccess, const char*>, 3> kQueueWords = {{
    {QueueAccess::kUnknown, "unknown"},
    {QueueAccess::kRead, "read"},
    {QueueAccess::kNotPermitted, "not-permitted"},
}};

template <typename Enum>
const char* word_of(Words<Enum> words, Enum value) {
  for (const auto& [each, word] : words) {
    if (each == value) return word;
  }
  return "";
}

void write_peer(base::JsonWriter& json, std::string_view name, std::int32_t number) {
  if (number == kUnknown) return;
  if (number == kAnyone) {
    json.field(name, "any");
  } else if (number == kNobody) {
    json.field(name, "none");
  } else {
    json.field(name, number);
  }
}

void write_pending(const Pending& pending, base::JsonWriter& json) {
  json.field("kind", word_of<RequestKind>(kRequestWords, pending.kind));
  write_peer(json, "peer", pending.peer);
  write_peer(json, "tag", pending.tag);
  json.field("communicator", pending.communicator);
  json.field("bytes", pending.bytes);
}

void write_thread(const ThreadState& thread, base::JsonWriter& json) {
  json.field("thread", thread.thread);
  json.field("function", thread.function);
  json.field("place", thread.place);
  json.field("since_s", thread.since_s);
  json.field("calls", thread.calls);
  json.field("communicator", thread.communicator);
  json.field("bytes", thread.bytes);
  write_peer(json, "root", thread.root);
  json.field("collective", thread.collective);
  json.field("waits_for_all", thread.waits_for_all);
  json.objects("pending", thread.pending, [&](const Pending& p) { write_pending(p, json); });
  json.field("pending_left_out", thread.pending_left_out);
}

void write_channel(const ChannelCount& channel, base::JsonWriter& json) {
  write_peer(json, "peer", channel.peer);
  json.field("communicator", channel.communicator);
  write_peer(json, "tag", channel.tag);
  json.field("sent", channel.sent);
  json.field("sent_bytes", channel.sent_bytes);
  json.field("received", channel.received);
  json.field("received_bytes", channel.received_bytes);
}

void write_rank(const RankState& rank, base::JsonWriter& json) {
  json.field("rank", rank.rank);
  json.field("host", rank.host);
  json.field("pid", rank.pid);
  json.field("state", word_of<ProcessState>(kProcessWords, rank.state));
  json.field("sample_age_s", rank.sample_age_s);
  json.field("samples_lost", rank.samples_lost);
  json.field("mpi_s", rank.mpi_s);
  json.field("waiting_s", rank.waiting_s);
  json.field("elapsed_s", rank.elapsed_s);
  json.field("processor_s", rank.processor_s);
  json.field("sent", rank.sent);
  json.field("sent_bytes", rank.sent_bytes);
  json.field("received", rank.received);
  json.field("received_bytes", rank.received_bytes);
  json.field("unexpected", rank.unexpected);
  json.field("posted", rank.posted);
  json.field("queues", word_of<QueueAccess>(kQueueWords, rank.queues));
  json.objects("threads", rank.threads, [&](const ThreadState& t) { write_thread(t, json); });
  json.objects("channels", rank.channels, [&](const ChannelCount& c) { write_channel(c, json); });
  json.objects("collectives", rank.collectives, [&](const CollectiveCount& count) {
    json.field("communicator", count.communicator);
    json.field("begun", count.begun);
  });
  json.field("channels_left_out", rank.channels_left_out);
}

base::Complaint complaint(std::string member, std::string text) {
  return {std::move(member), std::move(text), {}};
}

// Takes the values of one object as JSON has them, and converts those that C++ holds differently.
class Converted {
 public:
  base::Target peer(std::string_view name, std::int32_t& number) {
    return take(name, [&number](const std::string& json) {
      if (json == "\"any\"") return number = kAnyone, true;
      if (json == "\"none\"") return number = kNobody, true;
      const auto read = std::from_chars(json.data(), json.data() + json.size(), number);
      return read.ec == std::errc() && read.ptr == json.data() + json.size() && number >= 0;
    });
  }

  // A number that cannot be negative, into an integer of any width.
  template <typename Integer>
  base::Target number(std::string_view name, Integer& number) {
    return take(name, [&number](const std::string& json) {
      const auto read = std::from_chars(json.data(), json.data() + json.size(), number);
      return read.ec == std::errc() && read.ptr == json.data() + json.size() && number >= 0;
    });
  }

  base::Target maybe(std::string_view name, std::optional<std::uint64_t>& number) {
    return take(name, [&number](const std::string& json) {
      number.reset();
      if (json == "null") return true;
      std::uint64_t value = 0;
      const auto read = std::from_chars(json.data(), json.data() + json.size(), value);
      if (read.ec != std::errc() || read.ptr != json.data() + json.size()) return false;
      number = value;
      return true;
    });
  }

  template <typename Enum>
  base::Target word(std::string_view name, Words<Enum> words, Enum& value) {
    return take(name, [words, &value](const std::string& json) {
      for (const auto& [each, text] : words) {
        if (json == base::json_string(text)) return value = each, true;
      }
      return false;
    });
  }

  std::optional<base::Complaint> convert() {
    for (const auto& taken : taken_) {
      if (!taken->read(taken->json))
        return complaint(taken->name, "cannot be " + taken->json.substr(0, 40));
    }
    return std::nullopt;
  }

 private:
  struct Taken {
    std::string name, json;
    std::function<bool(const std::string&)> read;
  };

  base::Target take(std::string_view name, std::function<bool(const std::string&)> read) {
    taken_.push_back(std::make_unique<Taken>(Taken{std::string(name), {}, std::move(read)}));
    return base::JsonText{&taken_.back()->json};
  }

  std::vector<std::unique_ptr<Taken>> taken_;
};

// An object whose members member(converted, key) names.
template <typename Member>
base::Object object_with(Member member) {
  auto converted = std::make_shared<Converted>();
  return {[converted, member](std::string_view key) { return member(*converted, key); },
          [converted] { return converted->convert(); }};
}

base::Target pending_target(Pending& pending) {
  return object_with([&pending](Converted& converted, std::string_view key) -> base::Target {
    if (key == "kind") return converted.word<RequestKind>(key, kRequestWords, pending.kind);
    if (key == "peer") return converted.peer(key, pending.peer);
    if (key == "tag") return converted.peer(key, pending.tag);
    if (key == "communicator") return &pending.communicator;
    if (key == "bytes") return &pending.bytes;
    return {};
  });
}

base::Target thread_target(ThreadState& thread) {
  return object_with([&thread](Converted& converted, std::string_view key) -> base::Target {
    if (key == "thread") return converted.number(key, thread.thread);
    if (key == "function") return &thread.function;
    if (key == "place") return &thread.place;
    if (key == "since_s") return &thread.since_s;
    if (key == "calls") return &thread.calls;
    if (key == "communicator") return &thread.communicator;
    if (key == "bytes") return &thread.bytes;
    if (key == "root") return converted.peer(key, thread.root);
    if (key == "collective") return &thread.collective;
    if (key == "waits_for_all") return &thread.waits_for_all;
    if (key == "pending") return base::list_of(thread.pending, pending_target);
    if (key == "pending_left_out") return &thread.pending_left_out;
    return {};
  });
}

base::Target channel_target(ChannelCount& channel) {
  return object_with([&channel](Converted& converted, std::string_view key) -> base::Target {
    if (key == "peer") return converted.peer(key, channel.peer);
    if (key == "tag") return converted.peer(key, channel.tag);
    if (key == "communicator") return &channel.communicator;
    if (key == "sent") return &channel.sent;
    if (key == "sent_bytes") return &channel.sent_bytes;
    if (key == "received") return &channel.received;
    if (key == "received_bytes") return &channel.received_bytes;
    return {};
  });
}

base::Target collective_target(CollectiveCount& count) {
  return base::Object{[&count](std::string_view key) -> base::Target {
                        if (key == "communicator") return &count.communicator;
                        if (key == "begun") return &count.begun;
                        return {};
                      },
                      {}};
}

base::Target rank_list(RankState& rank, std::string_view key) {
  if (key == "threads") return base::list_of(rank.threads, thread_target);
  if (key == "channels") return base::list_of(rank.channels, channel_target);
  if (key == "collectives") return base::list_of(rank.collectives, collective_target);
  return {};
}

base::Target rank_target(RankState& rank) {
  return object_with([&rank](Converted& converted, std::string_view key) -> base::Target {
    if (key == "rank") return converted.number(key, rank.rank);
    if (key == "host") return &rank.host;
    if (key == "pid") return converted.number(key, rank.pid);
    if (key == "state") return converted.word<ProcessState>(key, kProcessWords, rank.state);
    if (key == "sample_age_s") return &rank.sample_age_s;
    if (key == "samples_lost") return &rank.samples_lost;
    if (key == "mpi_s") return &rank.mpi_s;
    if (key == "waiting_s") return &rank.waiting_s;
    if (key == "elapsed_s") return &rank.elapsed_s;
    if (key == "processor_s") return &rank.processor_s;
    if (key == "sent") return &rank.sent;
    if (key == "sent_bytes") return &rank.sent_bytes;
    if (key == "received") return &rank.received;
    if (key == "received_bytes") return &rank.received_bytes;
    if (key == "unexpected") return converted.maybe(key, rank.unexpected);
    if (key == "posted") return converted.maybe(key, rank.posted);
    if (key == "queues") return converted.word<QueueAccess>(key, kQueueWords, rank.queues);
    if (key == "channels_left_out") return &rank.channels_left_out;
    return rank_list(rank, key);
  });
}

// Lists of ranks are read as 64 bits wide and narrowed at the end of the object.
base::Target communicator_target(Communicator& communicator) {
  struct Wide {
    std::vector<std::int64_t> members, remote;
  };
  auto wide = std::make_shared<Wide>();
  const auto narrow = [](const std::vector<std::int64_t>& from, std::vector<std::int32_t>& to) {
    for (const std::int64_t rank : from) {
      if (rank > std::numeric_limits<std::int32_t>::max()) return false;
      to.push_back(static_cast<std::int32_t>(rank));
    }
    return true;
  };
  return base::Object{[wide, &communicator](std::string_view key) -> base::Target {
                        if (key == "id") return &communicator.id;
                        if (key == "name") return &communicator.name;
                        if (key == "members") return &wide->members;
                        if (key == "remote") return &wide->remote;
                        return {};
                      },
                      [wide, narrow, &communicator]() -> std::optional<base::Complaint> {
                        if (!narrow(wide->members, communicator.members))
                          return complaint("members", "holds a number that is not a rank");
                        if (!narrow(wide->remote, communicator.remote))
                          return complaint("remote", "holds a number that is not a rank");
                        return std::nullopt;
                      }};
}

base::Target pair_target(PairState& pair) {
  return object_with([&pair](Converted& converted, std::string_view key) -> base::Target {
    if (key == "from") return converted.number(key, pair.from);
    if (key == "to") return converted.number(key, pair.to);
    if (key == "kind") return &pair.kind;
    if (key == "sent") return &pair.sent;
    if (key == "sent_bytes") return &pair.sent_bytes;
    if (key == "received") return &pair.received;
    if (key == "received_bytes") return &pair.received_bytes;
    return {};
  });
}

base::Object state_object(JobState& state, std::string& schema) {
  return object_with([&](Converted& converted, std::string_view key) -> base::Target {
    if (key == "schema") return &schema;
    if (key == "run") return &state.run;
    if (key == "program") return &state.program;
    if (key == "taken_at_s") return &state.taken_at_s;
    if (key == "world_size") return converted.number(key, state.world_size);
    if (key == "communicators") return base::list_of(state.communicators, communicator_target);
    if (key == "ranks") return base::list_of(state.ranks, rank_target);
    if (key == "pairs") return base::list_of(state.pairs, pair_target);
    if (key == "hosts_late") return &state.hosts_late;
    return {};
  });
}

base::Result<JobState> read_from(base::ByteSource& source, const std::string& name) {
  JobState state;
  std::string schema;
  const auto read = base::read_json(source, name, state_object(state, schema), kStateAdvice);
  if (!read) return read.error();
  if (schema != kLiveSchema)
    return base::Error{name + ": this is not the state of a running job (\"schema\" is not " +
                       kLiveSchema + "); " + kStateAdvice};
  return state;
}

}  // namespace

void write_members(const JobState& state, base::JsonWriter& json) {
  json.field("schema", kLiveSchema);
  json.field("run", state.run);
  json.field("program", state.program);
  json.field("taken_at_s", state.taken_at_s);
  json.field("world_size", state.world_size);
  json.objects("communicators", state.communicators, [&](const Communicator& communicator) {
    json.field("id", communicator.id);
    json.field("name", communicator.name);
    json.field("members", communicator.members);
    if (!communicator.remote.empty()) json.field("remote", communicator.remote);
  });
  json.objects("ranks", state.ranks, [&](const RankState& rank) { write_rank(rank, json); });
  json.objects("pairs", state.pairs, [&](const PairState& pair) {
    json.field("from", pair.from);
    json.field("to", pair.to);
    json.field("kind", pair.kind);
    json.field("sent", pair.sent);
    json.field("sent_bytes", pair.sent_bytes);
    json.field("received", pair.received);
    json.field("received_bytes", pair.received_bytes);
  });
  json.field("hosts_late", state.hosts_late);
}

std::string json_of(const JobState& state) {
  return base::json_text(base::kReadableIndent,
                         [&](base::JsonWriter& json) { write_members(state, json); }) +
         "\n";
}

base::Result<JobState> read_job_state(const std::string& path) {
  auto file = base::open_file(path);
  if (!file) return file.error();
  return read_from(**file, path);
}

base::Result<JobState> parse_job_state(std::string_view text, const std::string& name) {
  base::MemorySource source(text);
  return read_from(source, name);
}

}  // namespace fathom::live
