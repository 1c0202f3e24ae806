// SPDX-License-Identifier: MIT
#include "tests/bench/machine_speed.h"

#include <numeric>
#include <vector>

#include "tests/bench/measure.h"
#include "tests/bench/relocation_floor.h"

namespace kiln::bench {
namespace {

constexpr uint32_t kModules = 900;
constexpr uint32_t kWords = 2300;  // what the modules of the uber shader have
constexpr uint32_t kIds = 1 << 10;

std::vector<RelocatableModule> MakeModules() {
  std::vector<RelocatableModule> modules(kModules);
  uint32_t random = 1;
  for (RelocatableModule& module : modules) {
    module.words.resize(kWords);
    for (uint32_t word = 0; word < kWords; ++word) {
      random = random * 1664525 + 1013904223;
      module.words[word] = random >> 22;
      if (random >> 31 != 0) {
        module.id_positions.push_back(word);
      }
    }
  }
  return modules;
}

}  // namespace

double SlowerThanReference() {
  static const std::vector<RelocatableModule> modules = MakeModules();
  std::vector<uint32_t> ids(kIds);
  std::iota(ids.begin(), ids.end(), 1u);
  std::vector<uint32_t> out;
  size_t words = 0;
  const double start = ThreadCpuMicroseconds();
  for (const RelocatableModule& module : modules) {
    words += CopyAndRenumber(module, ids, out);
  }
  return (ThreadCpuMicroseconds() - start) * 1e3 / static_cast<double>(words) / kReferenceNsPerWord;
}

}  // namespace kiln::bench
