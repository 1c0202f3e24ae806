// SPDX-License-Identifier: MIT
// Modules of WGSL of random programs, for validators: random_modules COUNT FOLDER writes one file
// for each distinct module. Exit code 1 if an argument is missing or a file cannot be written.
#include <cstdlib>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "compiler/driver/stages.h"
#include "tests/property/random_program.h"

namespace {

using namespace kiln;

int Run(uint64_t count, const std::string& folder) {
  const std::vector<resolve::EntryPoint> entries{
      {.stage = ir::Stage::kVertex, .function = "vertex_main"},
      {.stage = ir::Stage::kFragment, .function = "fragment_main"}};
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.form = target::Form::kWgsl;
  std::set<std::string> written;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const SourceFile source("random.rpl", property::RandomProgram(seed));
    const Diagnosed<driver::LinkedProgram> linked =
        driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic);
    if (!linked.ok()) {
      continue;
    }
    property::Random random(seed);
    const driver::BuildResult built = driver::BuildDirect(
        *linked.value, property::RandomValues(linked.value->program, random), entries, target);
    for (const driver::StageCode& code :
         built.ok() ? built.products->code : std::vector<driver::StageCode>{}) {
      if (written.insert(code.text).second) {
        std::ofstream out(fmt::format("{}/random_{}_{}.wgsl", folder, seed, written.size()));
        out << code.text;
        if (!out.good()) {
          return 1;
        }
      }
    }
  }
  fmt::print("{} modules\n", written.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return argc == 3 ? Run(std::strtoull(argv[1], nullptr, 10), argv[2]) : 1;
}
