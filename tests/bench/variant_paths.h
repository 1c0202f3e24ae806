// SPDX-License-Identifier: MIT
// The paths from option values to a variant that variant_bench compares: building each anew, an
// assembler that remembers, two assemblers on two threads, and asking for known variants again.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/driver/request.h"
#include "tests/bench/combinations.h"

namespace kiln::bench {

double ThreadCpuMicroseconds();

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

// What building every combination once came to.
struct PathRun {
  Times variant;  // CPU of one variant from settings to words, metadata and digests
  uint64_t words = 0;
  std::set<Hash128> results, vertex, fragment;
  std::vector<std::vector<uint32_t>> modules;  // distinct ones, in order of meeting
};
PathRun RunDirect(const UberProgram& uber);

struct AssemblerRun {
  PathRun fresh;              // with all modules written
  Times only_new;             // the same without modules that were written before
  Times known;                // asking whether a variant that was built is known
  size_t linked_modules = 0;  // modules that were told apart before they were written
  uint64_t segment_versions = 0;
};
AssemblerRun RunAssembler(const UberProgram& uber);

// What an assembler that built every variant added to the resident set.
uint64_t MeasureMemory(const UberProgram& uber);

// Mean CPU time of a variant when each of two threads builds half of them, and when one builds all;
// in pairs, so that both see the same machine.
struct ThreadsRun {
  double one = 0, two = 0;
};
ThreadsRun RunThreads(const UberProgram& uber);

// Builds everything once and measures nothing: what callgrind counts (instructions.py).
uint64_t BuildAllDirect(const UberProgram& uber);
uint64_t BuildAllAssembled(const UberProgram& uber);

}  // namespace kiln::bench
