// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/engine/remote_steps.h"

#include "analysis/engine/parcels.h"

namespace fathom::analysis {
namespace {

struct Question {
  std::uint32_t process = 0, step = 0;
};
struct Answer {
  Question question;
  Step step;
};

}  // namespace

void RemoteSteps::want(std::uint32_t process, std::uint32_t step) {
  if (process < job_.mapping().size() && !find(process, step)) wanted_[key(process, step)] = true;
}

const Step* RemoteSteps::find(std::uint32_t process, std::uint32_t step) const {
  if (process >= job_.mapping().size()) return nullptr;
  if (job_.is_own(process))
    return step < job_.steps().size(process) ? &job_.steps().at(process, step) : nullptr;
  return kept_.find(key(process, step));
}

std::size_t RemoteSteps::fetch() {
  Transport& transport = job_.transport();
  Parcels questions(transport.size()), answers(transport.size());
  wanted_.for_each([&](std::uint64_t wanted, bool) {
    const Question question{static_cast<std::uint32_t>(wanted >> 32),
                            static_cast<std::uint32_t>(wanted)};
    questions.send(job_.mapping()[question.process], 0, question);
  });
  wanted_.clear();
  const auto asked = transport.exchange(questions.take());
  for (std::size_t from = 0; from < asked.size(); ++from) {
    for (Received received(asked[from]); received.more();) {
      received.kind();
      const auto question = received.take<Question>();
      if (const Step* step = find(question.process, question.step))
        answers.send(from, 0, Answer{question, *step});
    }
  }
  std::size_t came = 0;
  for (const Transport::Bytes& bytes : transport.exchange(answers.take())) {
    for (Received received(bytes); received.more(); ++came) {
      received.kind();
      const auto answer = received.take<Answer>();
      if (!job_.is_own(answer.question.process))
        kept_[key(answer.question.process, answer.question.step)] = answer.step;
    }
  }
  return came;
}

}  // namespace fathom::analysis
