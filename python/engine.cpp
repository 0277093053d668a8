// SPDX-License-Identifier: BSD-3-Clause
#include "python/engine.h"

#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/engine/engine.h"
#include "python/failure.h"
#include "python/object_transport.h"
#include "python/step_fields.h"

namespace fathom::python {
namespace {

namespace py = pybind11;

// Python owns the callbacks (fathom/engine.py), so that its garbage collector sees what they hold.
// Operations that may be collective run with the interpreter lock released.
class Engine {
 public:
  Engine(const std::string& path, const py::object& comm) {
    if (!comm.is_none()) transport_ = std::make_unique<ObjectTransport>(comm);
    engine_ = value_or_throw(analysis::Engine::open(path, transport_.get()));
  }

  analysis::Engine& engine() { return *engine_; }
  analysis::JoinedJob& job() {
    const py::gil_scoped_release released;
    return *value_or_throw(engine_->job());
  }

  void set_mapping(const py::object& strategy) {
    strategy_ = strategy;
    if (strategy.is_none()) return engine_->set_mapping(analysis::neighbours_together);
    engine_->set_mapping([this](const std::vector<std::uint64_t>& loads, std::size_t owners) {
      return ask(loads, owners);
    });
  }

 private:
  analysis::Mapping ask(const std::vector<std::uint64_t>& loads, std::size_t owners) const {
    const py::gil_scoped_acquire locked;
    analysis::Mapping mapping;
    for (const std::int64_t owner : strategy_(loads, owners).cast<std::vector<std::int64_t>>()) {
      const bool is_there = owner >= 0 && static_cast<std::size_t>(owner) < owners;
      mapping.push_back(is_there ? static_cast<std::uint32_t>(owner)
                                 : analysis::kNobody);  // rejected later
    }
    return mapping;
  }

  std::unique_ptr<ObjectTransport> transport_;
  py::object strategy_;
  std::unique_ptr<analysis::Engine> engine_;
};

std::vector<std::int64_t> ranks_of(Engine& engine) {
  std::vector<std::int64_t> ranks;
  for (const trace::Process& process : engine.engine().definitions().processes)
    ranks.push_back(process.rank);
  return ranks;
}

std::vector<std::string> functions_of(Engine& engine) {
  std::vector<std::string> names;
  for (const trace::Function& function : engine.engine().definitions().functions)
    names.push_back(function.name);
  return names;
}

std::vector<std::uint64_t> loads_of(Engine& engine) {
  const py::gil_scoped_release released;
  return value_or_throw(engine.engine().loads());
}

std::unique_ptr<analysis::CausalOrder> engine_replay_of(Engine& engine, bool backward) {
  return std::make_unique<analysis::CausalOrder>(
      engine.job(), backward ? analysis::Direction::kBackward : analysis::Direction::kForward);
}

void fetch(Engine& engine) {
  const py::gil_scoped_release released;
  if (const base::Status fetched = engine.engine().fetch(); !fetched)
    throw Failure(fetched.error().message);
}

// None for a step of another process that was not fetched or does not exist.
py::object engine_step_of(Engine& engine, std::uint32_t process, std::uint32_t number) {
  engine.job();
  const analysis::Step* step = engine.engine().step(process, number);
  if (!step) return py::none();
  return step_fields(engine.engine().definitions(), process, number, *step);
}

}  // namespace

void bind_engine(py::module_& module) {
  py::class_<Engine>(module, "Engine")
      .def(py::init<const std::string&, const py::object&>())
      .def("parallel", [](Engine& engine) { return engine.engine().parallel(); })
      .def("set_parallel", [](Engine& engine, bool on) { engine.engine().set_parallel(on); })
      .def("set_hidden", [](Engine& engine, bool on) { engine.engine().set_hidden_messages(on); })
      .def("set_mapping", &Engine::set_mapping)
      .def("mapping", [](Engine& engine) { return engine.job().mapping(); })
      .def("loads", &loads_of)
      .def("ranks", &ranks_of)
      .def("functions", &functions_of)
      .def("replay", &engine_replay_of, py::keep_alive<0, 1>())
      .def("want", [](Engine& engine, std::uint32_t process,
                      std::uint32_t step) { engine.engine().want(process, step); })
      .def("fetch", &fetch)
      .def("forget", [](Engine& engine) { engine.engine().forget(); })
      .def("step", &engine_step_of);
}

}  // namespace fathom::python
