// SPDX-License-Identifier: BSD-3-Clause
// Scenario files: combinations, errors with their place, the reference's own format, job logs, and
// several processes that share the work.
#include "scenario/scenario_reader.h"

#include <doctest/doctest.h>

#include <map>

#include "scenario/combination.h"
#include "scenario/job_log.h"
#include "scenario/share.h"
#include "test/unit/base/scratch_folder.h"

namespace fathom::scenario {
namespace {

class Files {
 public:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream((scratch_ / name)) << text;
    return (scratch_ / name);
  }
  std::string folder() const { return scratch_.path() + "/"; }

 private:
  test::Scratch scratch_;
};

constexpr char kJobs[] =
    "jobs:\n"
    "  - pattern: {kind: ring, ranks: 4, bytes: 100}\n"
    "    duration: 5\n";

std::vector<Scenario> combinations(const std::string& text) {
  Files files;
  auto file = read_scenarios(files.write("s.yml", text));
  REQUIRE_MESSAGE(file, file.error().message);
  return file->combinations;
}

std::string refusal(const std::string& text) {
  Files files;
  const std::string path = files.write("s.yml", text);
  const auto file = read_scenarios(path);
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message.starts_with(path + ':'));
  return file.error().message.substr(path.size() + 1);
}

TEST_CASE("every list is an axis, and the first varies slowest") {
  const auto all = combinations(
      std::string("cluster: ['torus:dims=2,2', {kind: xgft, m: [[2, 2], [4, 2]], w: [1, 2]}]\n"
                  "seed: [1, 2]\nrouting: [dmodk, greedy-max]\n") +
      kJobs);
  REQUIRE(all.size() == 3 * 2 * 2);
  CHECK(all[0].cluster == "torus:dims=2,2");
  CHECK(all[4].cluster == "xgft:m=2,2;w=1,2;");
  CHECK(all[8].cluster == "xgft:m=4,2;w=1,2;");
  std::map<std::pair<std::uint64_t, std::string>, int> seen;
  for (const Scenario& one : all) ++seen[{one.choice.seed, one.choice.router->name}];
  CHECK(seen.size() == 4);
  for (const auto& [choice, count] : seen) CHECK(count == 3);
  CHECK(all[8].varied[1] == std::pair<std::string, std::string>{"cluster.m", "[4, 2]"});
}

TEST_CASE("values inside a job are axes too, but a list of jobs is not") {
  const auto all = combinations(
      "cluster: 'torus:dims=2,2'\nduration: 10\njobs:\n"
      "  - {pattern: {kind: [ring, shift], ranks: 4, bytes: [1, 2, 3]}, duration: 5, submit: "
      "{rate: [0.1, 1]}}\n"
      "  - {pattern: {kind: ring, ranks: 2, bytes: 1}, duration: 5}\n");
  CHECK(all.size() == 2 * 3 * 2);
  CHECK(all[0].jobs.size() == 2);
  CHECK(all[11].varied.front() ==
        std::pair<std::string, std::string>{"jobs[0].pattern.kind", "shift"});
}

TEST_CASE("a rank file is a placement like others, of all jobs or of one") {
  const auto all = combinations(
      std::string("cluster: 'torus:dims=2,2'\n"
                  "placement: [cyclic, {rankfile: a/ranks}, rankfile:/tmp/more.txt]\n") +
      kJobs +
      "  - {pattern: {kind: ring, ranks: 2, bytes: 1}, duration: 5, placement: [block, {rankfile: "
      "own}]}\n");
  REQUIRE(all.size() == 3 * 2);
  CHECK(all[0].placement.name() == "cyclic");
  CHECK(all[2].placement.name() == "rankfile:ranks");
  CHECK(all[2].placement.rankfile.ends_with("/a/ranks"));  // in the scenario's folder
  CHECK(all[4].placement.rankfile == "/tmp/more.txt");
  CHECK(all[4].jobs[0].placement.rankfile == "/tmp/more.txt");
  CHECK(all[4].jobs[1].placement.name() == "block");
  CHECK(all[5].jobs[1].placement.name() == "rankfile:own");
  CHECK(all[2].varied.front() ==
        std::pair<std::string, std::string>{"placement", "{rankfile: a/ranks}"});
}

TEST_CASE("errors say where they are and what is there instead") {
  const std::string jobs = kJobs;
  CHECK(refusal("cluster: x:\n") == "1:11: illegal map value");
  CHECK(refusal("- a\n- b\n") == "1:1: is not a mapping of keys to values");
  CHECK(refusal("routing: dmodk\n" + jobs).find("'cluster' is missing") != std::string::npos);
  CHECK(refusal("cluster: 'torus:dims=2,2'\nrouting: [dmodk,\n  shortest]\n" + jobs)
            .starts_with("3:3: there is no routing 'shortest'; there are dmodk, smodk"));
  CHECK(refusal("cluster: 'torus:dims=2,2'\nscheduler: sjf\n" + jobs) ==
        "2:12: there is no scheduler 'sjf'; there are fcfs, easy, conservative");
  CHECK(refusal("cluster: 'torus:dims=2,2'\nplacement: best\n" + jobs) ==
        "2:12: there is no placement 'best'; there are block, cyclic, random, bisection, "
        "treematch, search, rankfile:FILE");
  CHECK(refusal("cluster: 'torus:dims=2,2'\nplacement: {file: x}\n" + jobs)
            .starts_with("2:13: there is no key 'file' in 'placement'; there are rankfile"));
  CHECK(refusal("cluster: 'torus:dims=2,2'\n\n  \nseeds: 3\n" + jobs)
            .starts_with("4:1: there is no key 'seeds'; there are "));
  CHECK(refusal("cluster: 'torus:dims=2,2'\nseed: one\n" + jobs) ==
        "2:7: 'seed' must be a number, not 'one'");
  CHECK(refusal("cluster: 'torus:dims=2,2'\nseed: -1\n" + jobs) ==
        "2:7: 'seed' must be a whole number, 0 or more");
  CHECK(refusal("cluster: 'torus:dims=2,2'\nseed: []\n" + jobs) == "2:7: 'seed' is an empty list");
  CHECK(refusal("cluster: 'torus:dims=2,2'\nseed: 1\nseed: 2\n" + jobs) ==
        "3:1: 'seed' is given twice");
  CHECK(refusal("cluster: {kind: ring}\n" + jobs)
            .starts_with("1:17: there is no topology 'ring'; there are xgft"));
  CHECK(
      refusal(std::string("cluster: 'torus:dims=2,2'\n") + kJobs +
              "    submit: {distribution: seldom}\n")
          .starts_with("5:28: there is no distribution 'seldom'; there are constant, exponential"));
  CHECK(refusal(std::string("cluster: 'torus:dims=2,2'\n") + kJobs + "    submit: {rate: 1}\n")
            .starts_with("3:5: these jobs never stop arriving"));
  CHECK(refusal(std::string("cluster: 'torus:dims=2,2'\n") + kJobs + "    prio: 1\n")
            .starts_with("5:5: there is no key 'prio' in 'jobs[0]'; there are "));
  CHECK(refusal("cluster: 'torus:dims=2,2'\njobs:\n  - duration: 1\n") ==
        "3:5: a job needs 'profile', 'pattern' or 'log'");
}

TEST_CASE("a misspelt key is named rather than the key that is missing") {
  const std::string cluster =
      "cluster: 'torus:dims=2,2'\njobs:\n  - pattern: {kind: ring, ranks: 2}\n";
  CHECK(refusal(cluster + "    duration: {distribution: exponential, meen: 5}\n") ==
        "4:43: there is no key 'meen' in 'jobs[0].duration'; there are distribution, lambd, mean, "
        "params, rate");
  CHECK(refusal(cluster + "    duration: {distribution: exponential}\n") ==
        "4:15: 'jobs[0].duration.rate' is missing");
  CHECK(refusal(cluster + "    durations: 5\n")
            .starts_with("4:5: there is no key 'durations' in 'jobs[0]'; "));
  CHECK(
      refusal(
          "cluster: 'torus:dims=2,2'\njobs:\n  - patern: {kind: ring, ranks: 2}\n    duration: 1\n")
          .starts_with("3:5: there is no key 'patern'"));
  CHECK(
      refusal(
          "cluster: 'torus:dims=2,2'\njobs:\n  - pattern: {kind: ring, rank: 2}\n    duration: 1\n")
          .starts_with("3:27: there is no key 'rank'"));
  CHECK(refusal("clutser: 'torus:dims=2,2'\njobs:\n  - pattern: {kind: ring, ranks: 2}\n    "
                "duration: 1\n")
            .starts_with("1:1: there is no key 'clutser'"));
  CHECK(
      refusal(
          "cluster: {m: [4, 4]}\njobs:\n  - pattern: {kind: ring, ranks: 2}\n    duration: 1\n") ==
      "1:10: 'cluster.kind' is missing");
}

TEST_CASE("a distribution is refused by the name of the parameter that is wrong") {
  const auto duration = [](const std::string& text) {
    const std::string refused = refusal(
        "cluster: 'torus:dims=2,2'\njobs:\n  - pattern: {kind: ring, ranks: 2}\n"
        "    duration: " +
        text + "\n");
    return refused.substr(refused.find(": ") + 2);
  };
  CHECK(duration("{distribution: weibull, scale: 2, shape: 0}") == "'shape' must be above 0");
  CHECK(duration("{distribution: weibull, scale: -2, shape: 1}") == "'scale' must be above 0");
  CHECK(duration("{distribution: lognormal, median: 2, sigma: -1}") == "'sigma' must be above 0");
  CHECK(duration("{distribution: uniform, low: 3, high: 2}") == "'high' must not be below 'low'");
  CHECK(duration("{distribution: exponential, mean: -5}") == "'mean' must be above 0");
  CHECK(duration("{distribution: exponential, mean: 0}") == "'mean' must be above 0");
  CHECK(duration("{distribution: exponential, lambd: 0}") == "'lambd' must be above 0");
  CHECK(duration("-5") == "'duration' must be 0 or more");
}

TEST_CASE("a second document is not left out silently") {
  CHECK(refusal(std::string("cluster: 'torus:dims=2,2'\n") + kJobs + "---\nseed: 2\n") ==
        "6:1: a second document begins here; only one is read, so put this into another file");
  CHECK(combinations(std::string("---\ncluster: 'torus:dims=2,2'\n") + kJobs + "...\n").size() ==
        1);
}

TEST_CASE("a misspelt key of a cluster is named with its place") {
  Files files;
  const std::string path =
      files.write("s.yml", std::string("seed: 1\ncluster: {kind: torus, dimz: [2, 2]}\n") + kJobs);
  Workload workload;
  const auto loaded = workload.load(read_scenarios(path)->combinations.front());
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == path +
                                      ":2:10: 'torus:dimz=2,2;': there is no 'dimz'; there are "
                                      "capacity, dims, hosts, latency, slots, taper");
}

TEST_CASE("lists that make too many combinations are refused at once, with their number") {
  const std::string ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
  std::string text = "cluster: 'torus:dims=2,2'\n";
  for (const char* key : {"seed", "slots", "capacity", "duration", "failed_share"})
    text += std::string(key) + ": " + (key[0] == 'f' ? "[0, 0.1]" : ten) + '\n';
  text += "jobs:\n  - pattern: {kind: ring, ranks: " + ten + ", bytes: " + ten + "}\n" +
          "    duration: " + ten + "\n";
  Files files;
  const auto file = read_scenarios(files.write("s.yml", text));
  REQUIRE_FALSE(file);
  CHECK(file.error().message == files.folder() +
                                    "s.yml: its lists make 20000000 combinations; a scenario may "
                                    "have 100000");
  // A list inside one of several clusters counts for that one only.
  const auto all = combinations(
      "cluster: [{kind: torus, dims: [[2, 2], [2, 3]]}, 'torus:dims=3,3']\n"
      "seed: " +
      ten + "\n" + kJobs);
  CHECK(all.size() == 3 * 10);
}

TEST_CASE("numbers out of range are refused and not replaced") {
  const std::string jobs = kJobs;
  CHECK(refusal("cluster: 'torus:dims=2,2'\nslots: 99999999\n" + jobs) ==
        "2:8: 'slots' must be between 1 and 1048576, not 99999999");
  CHECK(refusal("cluster: 'torus:dims=2,2'\n" + jobs + "    phases: 0\n") ==
        "5:13: 'phases' must be between 1 and 1048576, not 0");
  CHECK(refusal("cluster: 'torus:dims=2,2'\njobs:\n  - pattern: {kind: ring, ranks: 1000000000}\n"
                "    duration: 1\n")
            .starts_with("3:34: 'ranks' must not be above 16777216"));
}

constexpr char kReference[] =
    "---\nduration: 100.0\ntopology:\n  - kind: pfsim.topology.XGFTTopology\n    params:\n"
    "      h: 2\n      m: [4, 4]\n      w: [1, 2]\n      npe: 8\noutput: results/x\n"
    "algorithms:\n  scheduler:\n    - pfsim.scheduler.FCFSScheduler\n"
    "  host_selector:\n    - pfsim.host_selector.LinearHostSelector\n    - "
    "pfsim.host_selector.RandomHostSelector\n"
    "  process_mapper:\n    - pfsim.process_mapper.LinearProcessMapper\n    - "
    "pfsim.process_mapper.CyclicProcessMapper\n"
    "  router:\n    - pfsim.router.DmodKRouter\n    - pfsim.router.GreedyRouter\n    - "
    "pfsim.router.GreedyRouter2\n"
    "jobs:\n  - submit:\n      distribution: pfsim.math.ExponentialDistribution\n      params:\n   "
    "     lambd: 0.1\n"
    "    duration:\n      distribution: pfsim.math.ExponentialDistribution\n      params:\n        "
    "lambd: 0.2\n"
    "    trace: traces/job.tar.gz\n";

TEST_CASE("the reference's scenario files are read unchanged") {
  Files files;
  const auto file = read_scenarios(files.write("cg.yml", kReference));
  REQUIRE_MESSAGE(file, file.error().message);
  REQUIRE(file->combinations.size() == 12);
  CHECK(file->output == files.folder() + "results/x");
  const Scenario& last = file->combinations.back();
  CHECK(last.cluster == "xgft:slots=8;capacity=1;m=4,4;w=1,2");
  CHECK(last.choice.selector->name == std::string("random"));
  CHECK(last.placement.row->name == std::string("cyclic"));
  CHECK(last.choice.router->name == std::string("greedy-max"));
  CHECK(file->combinations[1].choice.router->name == std::string("greedy-sum"));  // its order, too
  CHECK(last.choice.until_s == 100);
  CHECK(last.jobs.front().profile == files.folder() + "traces/job.tar.gz");
  CHECK(last.jobs.front().submit.parameters[0] == 0.1);
  CHECK(last.jobs.front().duration.parameters[0] == 0.2);
  std::string older = kReference;  // a path in place of a list of classes
  const std::size_t begin = older.find("topology:"), end = older.find("output:");
  older.replace(begin, end - begin, "topology: topologies/milk.graphml\n");
  const auto old = read_scenarios(files.write("old.yml", older));
  REQUIRE_MESSAGE(old, old.error().message);
  CHECK(old->combinations.front().cluster == files.folder() + "topologies/milk.graphml");
}

TEST_CASE("the seed alone decides what is drawn") {
  const std::string text =
      std::string("cluster: 'torus:dims=4,4'\nduration: 1000\nseed: [1, 1, 2]\n") + kJobs +
      "    submit: {distribution: exponential, mean: 10}\n";
  auto all = combinations(text);
  const auto submits = [&](Scenario& scenario) {
    Workload workload;
    REQUIRE(workload.load(scenario));
    std::vector<double> times;
    const auto arrivals = workload.arrivals(scenario);
    for (const NamedArrival& named : *arrivals) times.push_back(named.arrival.submit_s);
    return times;
  };
  CHECK(submits(all[0]) == submits(all[1]));
  CHECK(submits(all[0]) != submits(all[2]));
  CHECK(submits(all[0]).size() == doctest::Approx(100).epsilon(0.3));
}

TEST_CASE("job logs in the Standard Workload Format are read") {
  Files files;
  const std::string path =
      files.write("log.swf",
                  "; UnixStartTime: 0\n"
                  "1 0 5 100 4 -1 -1 8 200 -1 1 1 1 1 1 -1 -1 -1\n"
                  "2 10 -1 -1 4 -1 -1 4 200 -1 0 1 1 1 1 -1 -1 -1\n"  // cancelled
                  "  3   20  0  50  2 -1 -1 -1 -1 -1 1 1 1 1 1 -1 -1 -1\n\n");
  const auto jobs = read_job_log(path);
  REQUIRE_MESSAGE(jobs, jobs.error().message);
  REQUIRE(jobs->size() == 2);
  CHECK((*jobs)[0].ranks == 8);
  CHECK((*jobs)[0].request_s == 200);
  CHECK((*jobs)[1].ranks == 2);
  CHECK((*jobs)[1].request_s == 50);
  const auto bad = read_job_log(files.write("bad.swf", "1 0 5 100 4 -1 -1 8 200\n1 0 five\n"));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.find("bad.swf:2: is not a job") != std::string::npos);
}

TEST_CASE("a compressed job log is read like the log, and one that is cut short is refused") {
  Files files;
  // "; UnixStartTime: 0\n1 0 5 100 4 -1 -1 8 200 -1 1 1 1 1 1 -1 -1 -1\n", by gzip.
  const char packed[] =
      "\037\213\010\000\000\000\000\000\002\003\263\126\010\315\313\254\010\056\111\054\052"
      "\011\311\314\115\265\122\060\340\062\124\060\120\060\125\060\064\060\120\060\121\320"
      "\065\004\041\013\005\043\040\017\310\100\100\135\050\342\002\000\336\302\044\311\101"
      "\000\000\000";
  const std::string log(packed, sizeof packed - 1);
  const auto jobs = read_job_log(files.write("log.swf.gz", log));
  REQUIRE_MESSAGE(jobs, jobs.error().message);
  REQUIRE(jobs->size() == 1);
  CHECK(jobs->front().ranks == 8);
  CHECK(jobs->front().duration_s == 100);
  const auto cut = read_job_log(files.write("cut.swf.gz", log.substr(0, log.size() - 12)));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().message.find("cut.swf.gz: cannot be unpacked") != std::string::npos);
  CHECK(read_job_log(files.write("empty.swf", ""))->empty());
}

TEST_CASE("distributions have their expected means") {
  for (const auto& [name, parameters, mean] :
       {std::tuple{"constant", simulator::Parameters{3, 0}, 3.0},
        std::tuple{"exponential", simulator::Parameters{0.5, 0}, 2.0},
        std::tuple{"uniform", simulator::Parameters{1, 3}, 2.0},
        std::tuple{"lognormal", simulator::Parameters{2, 0.5}, 2.0 * std::exp(0.125)},
        std::tuple{"weibull", simulator::Parameters{2, 2}, 2.0 * std::sqrt(std::acos(-1.0)) / 2}}) {
    const std::string shown = name;  // clang 14 captures no structured binding
    CAPTURE(shown);
    const simulator::Distribution distribution{*simulator::find_distribution(name), parameters};
    base::Random random(7);
    double sum = 0;
    for (int draw = 0; draw < 100000; ++draw) sum += distribution.sample(random);
    CHECK(sum / 100000 == doctest::Approx(mean).epsilon(0.02));
  }
}

TEST_CASE("processes share the combinations, and the first gathers them in order") {
  const std::map<std::string, std::string> variables = {
      {"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}, {"PMIX_NAMESPACE", "12/34"}};
  const Share second = share_from([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
  CHECK(second.process == 1);
  CHECK(second.processes == 3);
  CHECK(second.job == "1234");
  CHECK(second.mine(4));
  CHECK_FALSE(second.mine(3));
  CHECK(share_from([](const std::string&) { return std::nullopt; }).processes == 1);

  Files files;
  Share first = second, third = second;
  first.process = 0;
  third.process = 2;
  REQUIRE(leave_parts(third, files.folder(), {{2, {"c", ""}}, {5, {"f"}}}, ""));
  REQUIRE(leave_parts(second, files.folder(), {{1, {"b"}}}, ""));
  std::vector<Part> parts = {{0, {"a"}}, {3, {"d"}}};
  REQUIRE(gather_parts(first, files.folder(), 5, parts));
  REQUIRE(parts.size() == 5);
  CHECK(parts[2].texts == std::vector<std::string>{"c", ""});
  CHECK(parts[4].combination == 5);

  REQUIRE(leave_parts(second, files.folder(), {}, "no such cluster"));
  const auto failed = gather_parts(first, files.folder(), 5, parts);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "no such cluster");
  const auto nothing = gather_parts(first, files.folder(), 0.05, parts);
  CHECK_FALSE(nothing);
}

}  // namespace
}  // namespace fathom::scenario
