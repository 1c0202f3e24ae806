// SPDX-License-Identifier: MIT
#include "tests/support/plan_rules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace kiln::test {
namespace {

using Json = nlohmann::json;

struct Checker {
  const Json& plan;
  const Json& chains;
  std::vector<std::string> broken = {};

  std::vector<std::pair<int, int>> Lives() const;
  void Schedule();
  void Placement();
  void Semaphores();
  void Batches();
  std::string Name(size_t chain) const { return chains[chain]["name"].get<std::string>(); }
};

void Checker::Schedule() {
  std::map<uint32_t, int64_t> place;  // by declared index: index in the order
  for (size_t i = 0; i < plan["passes"].size(); ++i) {
    const Json& pass = plan["passes"][i];
    place[pass["declared"]] = static_cast<int64_t>(i);
    if (i > 0 && pass["position"].is_null() && !plan["passes"][i - 1]["position"].is_null()) {
      broken.push_back("host pass after a device pass");
    }
  }
  for (const Json& pass : plan["passes"]) {
    const int64_t here = place[pass["declared"]];
    for (const Json& access : pass["accesses"]) {
      const Json& version = plan["versions"][access["version"].get<size_t>()];
      const std::string name =
          pass["name"].get<std::string>() + " and " + access["name"].get<std::string>();
      const bool def = access["op"] != "create" && !version["def"].is_null();
      if (def && (place.count(version["def"]) == 0 || place[version["def"]] > here)) {
        broken.push_back("used before it is made: " + name);
      }
      if (access["op"] == "read" && !version["kill"].is_null() &&
          place.count(version["kill"]) != 0 && place[version["kill"]] < here) {
        broken.push_back("read after it is overwritten: " + name);
      }
    }
  }
}

// The first and last position of each chain.
std::vector<std::pair<int, int>> Checker::Lives() const {
  std::vector<std::pair<int, int>> life(chains.size(), {1 << 30, -1});
  int end = -1;
  for (const Json& pass : plan["passes"]) {
    for (const Json& access : pass["accesses"]) {
      const size_t chain = plan["versions"][access["version"].get<size_t>()]["chain"];
      const int position = pass["position"].is_null() ? -1 : pass["position"].get<int>();
      life[chain] = {std::min(life[chain].first, position), std::max(life[chain].second, position)};
    }
    end = pass["position"].is_null() ? end : pass["position"].get<int>();
  }
  for (const Json& version : plan["versions"]) {
    const size_t chain = version["chain"];
    if (version["output"].get<bool>() && life[chain].second >= 0) {
      life[chain].second = end;
    }
  }
  return life;
}

void Checker::Placement() {
  const std::vector<std::pair<int, int>> life = Lives();
  for (size_t a = 0; a < chains.size(); ++a) {
    if (!chains[a].contains("address")) {
      continue;
    }
    const uint64_t begin = chains[a]["address"];
    const uint64_t size = chains[a]["size"];
    if (chains[a]["offset"].get<uint64_t>() + size > chains[a]["block_size"].get<uint64_t>() ||
        chains[a]["offset"].get<uint64_t>() % chains[a]["alignment"].get<uint64_t>() != 0) {
      broken.push_back("'" + Name(a) + "' lies outside its block or unaligned");
    }
    for (size_t b = a + 1; b < chains.size(); ++b) {
      if (!chains[b].contains("address") || chains[a]["class"] != chains[b]["class"]) {
        continue;
      }
      const uint64_t other = chains[b]["address"];
      const bool bytes = begin < other + chains[b]["size"].get<uint64_t>() && other < begin + size;
      if (bytes && life[a].first <= life[b].second && life[b].first <= life[a].second) {
        broken.push_back("'" + Name(a) + "' and '" + Name(b) +
                         "' share bytes while both are alive");
      }
    }
  }
}

// Waits begin a batch, signals end one.
void Checker::Semaphores() {
  const auto has = [](const Json& uses, const Json& use) {
    return std::any_of(uses.begin(), uses.end(), [&](const Json& other) {
      return other["semaphore"] == use["semaphore"] && other["value"] == use["value"];
    });
  };
  for (const Json& pass : plan["passes"]) {
    if (pass["position"].is_null()) {
      continue;
    }
    const Json& batch = plan["batches"][pass["batch"].get<size_t>()];
    for (const Json& use : pass["waits"]) {
      if (batch["first"] != pass["position"] || !has(batch["waits"], use)) {
        broken.push_back("the wait of '" + pass["name"].get<std::string>() +
                         "' does not begin its batch");
      }
    }
    for (const Json& use : pass["signals"]) {
      if (batch["last"] != pass["position"] || !has(batch["signals"], use)) {
        broken.push_back("the signal of '" + pass["name"].get<std::string>() +
                         "' does not end its batch");
      }
    }
  }
}

void Checker::Batches() {
  int next = 0;
  std::map<std::string, uint64_t> last;
  for (const Json& batch : plan["batches"]) {
    if (batch["first"] != next || batch["last"] < batch["first"]) {
      broken.push_back("batches do not follow each other");
    }
    next = batch["last"].get<int>() + 1;
    for (const Json& signal : batch["signals"]) {
      uint64_t& value = last[signal["semaphore"]];
      if (signal["value"] != 0 && signal["value"].get<uint64_t>() <= value) {
        broken.push_back("values of '" + signal["semaphore"].get<std::string>() +
                         "' are not ordered");
      }
      value = signal["value"];
    }
  }
}

}  // namespace

std::vector<std::string> FindBrokenRules(const Json& plan) {
  Checker checker{.plan = plan, .chains = plan["chains"]};
  checker.Schedule();
  checker.Placement();
  checker.Semaphores();
  checker.Batches();
  return checker.broken;
}

}  // namespace kiln::test
