// SPDX-License-Identifier: BSD-3-Clause
// Prints what a reader sees of a running job, once or until it has ended, as one JSON object a line.
//
// usage: print_job RUN [SECONDS]   with SECONDS: a line each SECONDS until no process is left
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "live/job_reader.h"

namespace {

using namespace fathom::live;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

template <typename List, typename F>
void print_list(const char* name, const List& list, F&& print) {
  std::printf(", \"%s\": [", name);
  const char* between = "";
  for (const auto& item : list) {
    std::fputs(between, stdout);
    print(item);
    between = ", ";
  }
  std::fputs("]", stdout);
}

void print_number(std::int32_t number) { std::printf("%d", number); }

void print_thread(const ThreadState& thread) {
  std::printf(
      "{\"function\": %s, \"place\": %s, \"since\": %.3f, \"calls\": %lu, \"communicator\": %lu, "
      "\"bytes\": %lu, \"root\": %d, \"collective\": %lu, \"all\": %d, \"left_out\": %lu",
      quoted(thread.function).c_str(), quoted(thread.place).c_str(), thread.since_s, thread.calls,
      thread.communicator, thread.bytes, thread.root, thread.collective, thread.waits_for_all,
      thread.pending_left_out);
  print_list("pending", thread.pending, [](const Pending& pending) {
    std::printf("{\"kind\": %d, \"peer\": %d, \"tag\": %d, \"communicator\": %lu, \"bytes\": %lu}",
                static_cast<int>(pending.kind), pending.peer, pending.tag, pending.communicator,
                pending.bytes);
  });
  std::fputs("}", stdout);
}

std::string number_or_null(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "null";
}

void print_rank(const RankState& rank) {
  std::printf(
      "{\"rank\": %d, \"host\": %s, \"pid\": %ld, \"state\": %d, \"age\": %.3f, \"lost\": %lu, "
      "\"mpi\": %.6f, \"elapsed\": %.6f, \"processor\": %.3f, \"sent\": %lu, \"sent_bytes\": %lu, "
      "\"received\": %lu, \"received_bytes\": %lu, \"channels_left_out\": %lu, \"unexpected\": %s, "
      "\"posted\": %s, \"queues\": %d",
      rank.rank, quoted(rank.host).c_str(), rank.pid, static_cast<int>(rank.state),
      rank.sample_age_s, rank.samples_lost, rank.mpi_s, rank.elapsed_s, rank.processor_s, rank.sent,
      rank.sent_bytes, rank.received, rank.received_bytes, rank.channels_left_out,
      number_or_null(rank.unexpected).c_str(), number_or_null(rank.posted).c_str(),
      static_cast<int>(rank.queues));
  print_list("threads", rank.threads, print_thread);
  print_list("channels", rank.channels, [](const ChannelCount& channel) {
    std::printf(
        "{\"peer\": %d, \"communicator\": %lu, \"tag\": %d, \"sent\": %lu, \"sent_bytes\": %lu, "
        "\"received\": %lu, \"received_bytes\": %lu}",
        channel.peer, channel.communicator, channel.tag, channel.sent, channel.sent_bytes,
        channel.received, channel.received_bytes);
  });
  std::fputs("}", stdout);
}

void print(const JobState& job) {
  std::printf("{\"program\": %s, \"size\": %d", quoted(job.program).c_str(), job.world_size);
  print_list("ranks", job.ranks, print_rank);
  print_list("pairs", job.pairs, [](const PairState& pair) {
    std::printf(
        "{\"from\": %d, \"to\": %d, \"kind\": %s, \"sent\": %lu, \"sent_bytes\": %lu, "
        "\"received\": %lu, \"received_bytes\": %lu}",
        pair.from, pair.to, quoted(pair.kind).c_str(), pair.sent, pair.sent_bytes, pair.received,
        pair.received_bytes);
  });
  print_list("communicators", job.communicators, [](const Communicator& communicator) {
    std::printf("{\"id\": %lu, \"name\": %s", communicator.id, quoted(communicator.name).c_str());
    print_list("members", communicator.members, print_number);
    print_list("remote", communicator.remote, print_number);
    std::fputs("}", stdout);
  });
  print_list("late", job.hosts_late,
             [](const std::string& host) { std::fputs(quoted(host).c_str(), stdout); });
  std::puts("}");
  std::fflush(stdout);
}

bool has_ended(const JobState& job) {
  for (const RankState& rank : job.ranks)
    if (rank.state != ProcessState::kEnded && rank.state != ProcessState::kGone) return false;
  return true;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  JobReader reader(words[1]);
  const double every = count > 2 ? std::atof(words[2]) : 0;
  for (;;) {
    const auto job = reader.read();
    if (!job) {
      std::fprintf(stderr, "%s\n", job.error().message.c_str());
      return 1;
    }
    print(*job);
    if (every <= 0 || has_ended(*job)) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(every));
  }
}
