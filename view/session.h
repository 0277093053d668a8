// SPDX-License-Identifier: BSD-3-Clause
// What all questions to one server share, and the table of its answers.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "view/query.h"
#include "view/reply.h"
#include "view/tools.h"
#include "view/viewed_run.h"

namespace fathom::view {

// The answers that were asked for last. Threading: any thread.
class KeptReplies {
 public:
  std::optional<Reply> find(const std::string& key);
  void keep(const std::string& key, const Reply& reply);

 private:
  static constexpr std::size_t kMostBytes = 48 << 20, kLargest = 16 << 20;
  struct Kept {
    std::string key;
    Reply reply;
  };
  // With what list and map add.
  static std::size_t size_of(const Kept& kept) {
    return kept.reply.body.size() + 2 * kept.key.size() + 512;
  }
  std::mutex mutex_;
  std::list<Kept> replies_;  // last used first
  std::map<std::string, std::list<Kept>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

// The matrices that were asked for last, because a page asks for many tiles of one. Threading: any thread.
struct Matrix;
class KeptMatrices {
 public:
  std::shared_ptr<const Matrix> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    for (const Kept& kept : kept_) {
      if (kept.key == key) return kept.matrix;
    }
    return nullptr;
  }
  // One that is larger than kMostBytes is not kept.
  void keep(const std::string& key, std::shared_ptr<const Matrix> matrix, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    kept_.push_front({key, std::move(matrix), bytes});
    bytes_ += bytes;
    for (; kept_.size() > 4 || bytes_ > kMostBytes; kept_.pop_back()) bytes_ -= kept_.back().bytes;
  }

 private:
  static constexpr std::size_t kMostBytes = 256 << 20;
  struct Kept {
    std::string key;
    std::shared_ptr<const Matrix> matrix;
    std::size_t bytes = 0;
  };
  std::mutex mutex_;
  std::list<Kept> kept_;
  std::size_t bytes_ = 0;
};

struct Session {
  Tools tools;
  std::vector<std::unique_ptr<ViewedRun>> runs;
  KeptReplies kept;
  KeptMatrices matrices;
};

// The run that `run=` names, or why there is none.
base::Result<ViewedRun*> run_of(Session& session, const Query& query);

struct AnswerRow {
  const char* path;  // "/api/meta"
  Reply (*answer)(Session& session, const Query& query);
};
std::span<const AnswerRow> all_answers();

// The answer to a question, computed or kept.
Reply answer(Session& session, const std::string& path, const Query::Parameters& parameters);

// One file each; the paths are those of docs/view-protocol.md.
Reply answer_runs(Session&, const Query&);
Reply answer_meta(Session&, const Query&);
Reply answer_report(Session&, const Query&);
Reply answer_analysis(Session&, const Query&);
Reply answer_findings(Session&, const Query&);
Reply answer_breakdown(Session&, const Query&);
Reply answer_functions(Session&, const Query&);
Reply answer_compare(Session&, const Query&);
Reply answer_tile(Session&, const Query&);
Reply answer_strip(Session&, const Query&);
Reply answer_path(Session&, const Query&);
Reply answer_phases(Session&, const Query&);
Reply answer_raw(Session&, const Query&);
Reply answer_sites(Session&, const Query&);
Reply answer_messages(Session&, const Query&);
Reply answer_window(Session&, const Query&);
Reply answer_matrix(Session&, const Query&);
Reply answer_calls(Session&, const Query&);
Reply answer_machine(Session&, const Query&);
Reply answer_machine_traffic(Session&, const Query&);
Reply answer_machine_sizes(Session&, const Query&);
Reply answer_machine_cards(Session&, const Query&);
Reply answer_network(Session&, const Query&);
Reply answer_network_link(Session&, const Query&);
Reply answer_live(Session&, const Query&);
Reply answer_live_state(Session&, const Query&);

}  // namespace fathom::view
