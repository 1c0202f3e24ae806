// SPDX-License-Identifier: MIT
// The paths from option values to a variant that variant_bench compares: building each anew, an
// assembler that remembers, two assemblers on two threads, and asking for known variants again.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/driver/request.h"
#include "compiler/driver/variant_assembler.h"
#include "tests/bench/combinations.h"

namespace kiln::bench {

// p10 and median of a list of times.
struct Times {
  double p10 = 0, median = 0, mean = 0;
};
Times TimesOf(std::vector<double> all);

// The uber shader, linked, with the checked settings of a list of combinations.
struct UberProgram {
  driver::LinkedProgram linked;
  std::vector<resolve::EntryPoint> entries;
  target::Target target;
  std::vector<std::vector<resolve::OptionSetting>> settings;
  Times parse_and_link;
};
UberProgram MakeUber(const std::vector<Combination>& combinations);

// What building every combination once made.
struct PathRun {
  uint64_t words = 0;
  std::set<Hash128> results, vertex, fragment;
  std::vector<uint32_t> distinct;              // the first combination of each result
  std::vector<std::vector<uint32_t>> modules;  // distinct ones, in order of meeting
  size_t linked_modules = 0;                   // told apart before they were written
  size_t region_versions = 0;
};
PathRun BuildEachDirect(const UberProgram& uber);
PathRun BuildEachAssembled(const UberProgram& uber);

// CPU times of a variant, from settings to words, metadata and digests: means of small chunks.
std::vector<double> TimeDirect(const UberProgram& uber, std::span<const uint32_t> variants);
struct AssembledTimes {
  std::vector<double> fresh;     // a new assembler, all modules written
  std::vector<double> known;     // asking whether a variant that was built is known
  std::vector<double> only_new;  // a new assembler, modules that were written before left out
};
AssembledTimes TimeAssembled(const UberProgram& uber, std::span<const uint32_t> variants);

// What an assembler that built every variant added to the resident set.
uint64_t MeasureMemory(const UberProgram& uber);

// Mean CPU time of a variant when one thread builds all and when each of two builds half of them:
// the best of rounds in which both took turns.
struct ThreadsRun {
  double one = 0, two = 0;
};
ThreadsRun RunThreads(const UberProgram& uber);

// Each of every variant once and nothing measured: what callgrind counts (instructions.py).
uint64_t BuildAllDirect(const UberProgram& uber);
uint64_t BuildAllAssembled(const UberProgram& uber, driver::VariantAssembler& assembler);
uint64_t FindAllKnown(const UberProgram& uber, const driver::VariantAssembler& assembler);

}  // namespace kiln::bench
