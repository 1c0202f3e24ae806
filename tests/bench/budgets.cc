// SPDX-License-Identifier: MIT
#include "tests/bench/budgets.h"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/emit/spirv/code_object_table.h"
#include "tests/bench/measure.h"

namespace kiln::bench {
namespace {

constexpr int kRuns = 21;
constexpr uint32_t kConstants = 128;  // as many as a large module has

template <class Run>
double MedianTime(Run run) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    const double start = ThreadCpuMicroseconds();
    run();
    times.push_back(ThreadCpuMicroseconds() - start);
  }
  return TimesOf(std::move(times)).median;
}

// What the first variant costs more than the same one again, for each unit that it met.
double UnitVersion(const UberProgram& uber) {
  const resolve::OptionValues values =
      *resolve::CheckOptions(uber.linked.program, uber.settings[0]).value;
  std::vector<double> times;
  for (int i = 0; i < kRuns; ++i) {
    driver::VariantAssembler assembler(uber.linked, uber.entries, uber.target);
    const double start = ThreadCpuMicroseconds();
    (void)assembler.Build(values);
    const double first = ThreadCpuMicroseconds();
    (void)assembler.Build(values);
    const double again = ThreadCpuMicroseconds() - first;
    const driver::VariantAssembler::Counts counts = assembler.counts();
    times.push_back((first - start - again) /
                    static_cast<double>(counts.region_versions + counts.decl_versions));
  }
  return TimesOf(std::move(times)).median;
}

}  // namespace

UnitTimes MeasureUnits(const UberProgram& uber) {
  std::ifstream file(KILN_SOURCE_DIR "/tests/bench/shaders/uber.rpl", std::ios::binary);
  const SourceFile source("uber.rpl", std::string(std::istreambuf_iterator<char>(file), {}));
  const ir::Pool pool;
  UnitTimes times;
  times.parse_per_kb =
      MedianTime([&] { (void)driver::ParseSource(ir::Language::kRpl, source, 0); }) /
      (static_cast<double>(source.text.size()) / 1024);
  times.link = MedianTime([&] {
    (void)driver::LinkModules(uber.linked.modules, uber.linked.paths,
                              ir::PipelineType::kGraphicsClassic);
  });
  times.constant = MedianTime([&] {
                     spirv::CodeObjectTable table(pool, uber.target);
                     for (uint32_t i = 0; i < kConstants; ++i) {
                       (void)table.globals().U32(i);
                     }
                   }) /
                   kConstants;
  times.unit_version = UnitVersion(uber);
  return times;
}

}  // namespace kiln::bench
