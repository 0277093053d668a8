#include "analysis/replay/function_facts.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace fathom::analysis {
namespace {

struct NamedFlow {
  std::string_view name;  // in lower case, without "mpi_" and the i of the non-blocking form
  Flow flow;
};

constexpr NamedFlow kFlows[] = {
    {"barrier", Flow::kBarrier},          {"bcast", Flow::kFromRoot},
    {"scatter", Flow::kFromRoot},         {"scatterv", Flow::kFromRoot},
    {"reduce", Flow::kToRoot},            {"gather", Flow::kToRoot},
    {"gatherv", Flow::kToRoot},           {"allreduce", Flow::kAllToAll},
    {"allgather", Flow::kAllToAll},       {"allgatherv", Flow::kAllToAll},
    {"alltoall", Flow::kAllToAll},        {"alltoallv", Flow::kAllToAll},
    {"alltoallw", Flow::kAllToAll},       {"reduce_scatter", Flow::kAllToAll},
    {"reduce_scatter_block", Flow::kAllToAll}, {"scan", Flow::kPrefix},
    {"exscan", Flow::kPrefix},
    // Constructors of communicators agree on a number first.
    {"comm_dup", Flow::kAllToAll},        {"comm_dup_with_info", Flow::kAllToAll},
    {"comm_idup", Flow::kAllToAll},
    {"comm_split", Flow::kAllToAll},      {"comm_split_type", Flow::kAllToAll},
    {"comm_create", Flow::kAllToAll},     {"cart_create", Flow::kAllToAll},
    {"cart_sub", Flow::kAllToAll},        {"graph_create", Flow::kAllToAll},
    {"dist_graph_create", Flow::kAllToAll}, {"dist_graph_create_adjacent", Flow::kAllToAll},
    // With a neighbourhood everybody waits for neighbours alone: joined, but nobody is named.
    {"neighbor_allgather", Flow::kNone},  {"neighbor_allgatherv", Flow::kNone},
    {"neighbor_alltoall", Flow::kNone},   {"neighbor_alltoallv", Flow::kNone},
    {"neighbor_alltoallw", Flow::kNone},
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

const NamedFlow* flow_named(std::string_view name) {
  for (const NamedFlow& row : kFlows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool has(const std::vector<trace::Attribute>& attributes, trace::Attribute wanted) {
  return std::find(attributes.begin(), attributes.end(), wanted) != attributes.end();
}

Completes completes(std::string_view name) {
  if (name == "wait" || name == "waitall") return Completes::kAll;
  if (name == "waitany" || name == "waitsome") return Completes::kSome;
  return name.starts_with("test") && name != "test_cancelled" ? Completes::kTest : Completes::kNothing;
}

Requests requests(std::string_view name, const trace::Function& function) {
  if (name == "start" || name == "startall") return Requests::kStarts;
  if (name == "request_free") return Requests::kFrees;
  if (!has(function.leave, trace::Attribute::kRequest)) return Requests::kNone;
  return name.ends_with("_init") ? Requests::kMakes : Requests::kMakesAndStarts;
}

FunctionFacts facts_of(const trace::Function& function) {
  const std::string whole = lower(function.name);
  std::string_view name = whole;
  if (name.starts_with("mpi_")) name.remove_prefix(4);
  FunctionFacts facts;
  facts.group = function.group;
  facts.completes = completes(name);
  facts.requests = requests(name, function);
  facts.synchronous = name == "ssend" || name == "issend" || name == "ssend_init";
  const NamedFlow* flow = flow_named(name);
  if (flow == nullptr && name.starts_with("i")) flow = flow_named(name.substr(1));
  if (flow == nullptr || !has(function.enter, trace::Attribute::kCommunicator)) return facts;
  facts.collective = true;
  facts.flow = flow->flow;
  facts.scatters = flow->name.starts_with("scatter") || flow->name.starts_with("gather");
  return facts;
}

}  // namespace

std::vector<FunctionFacts> function_facts(const trace::Definitions& definitions) {
  std::vector<FunctionFacts> all;
  for (const trace::Function& function : definitions.functions) all.push_back(facts_of(function));
  return all;
}

}  // namespace fathom::analysis
