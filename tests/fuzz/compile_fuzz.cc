// SPDX-License-Identifier: MIT
// libFuzzer: any text through the whole compiler. What parses is linked, and every function that
// can be an entry point is closed, verified, laid out, lowered and assembled for each stage. What
// closes must verify, have words that the validator accepts and metadata that decode; what does not
// must say why. The first byte picks the target, the second flips flags among the options.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "compiler/base/check.h"
#include "compiler/driver/stages.h"
#include "compiler/emit/spirv/module_checks.h"
#include "compiler/ir/verify/verify.h"

namespace kiln {
namespace {

constexpr target::Environment kEnvironments[] = {
    target::Environment::kVulkan10, target::Environment::kVulkan11, target::Environment::kVulkan12,
    target::Environment::kVulkan13};
constexpr size_t kMaxEntries = 4;

// Defaults, with every second flag flipped if asked for.
resolve::OptionValues ValuesOf(const resolve::Program& program, uint8_t choice) {
  std::vector<resolve::OptionSetting> settings;
  const ir::ModuleView& module = program.module(0);
  for (size_t i = 0; i < module.options.size(); ++i) {
    const ir::Option& option = module.options[i];
    if (option.kind == ir::OptionKind::kFlag && (choice >> (i % 8) & 1) != 0) {
      settings.push_back({.name = std::string(module.Text(option.name)),
                          .kind = ir::OptionKind::kFlag,
                          .bits = option.default_value ^ 1U});
    }
  }
  return *resolve::CheckOptions(program, settings).value;
}

std::vector<std::string> EntryNames(const ir::ModuleView& module) {
  std::vector<std::string> names;
  for (const ir::Decl& decl : module.decls) {
    if (decl.kind == ir::DeclKind::kFunction && decl.member_count == 0 &&
        names.size() < kMaxEntries) {
      names.emplace_back(module.Text(decl.name));
    }
  }
  return names;
}

void CheckDiagnostics(const std::vector<Diagnostic>& diagnostics, bool ok) {
  KILN_CHECK(ok != HasErrors(diagnostics));
  for (const Diagnostic& diagnostic : diagnostics) {
    KILN_CHECK(!Message(diagnostic).empty());
    KILN_CHECK(diagnostic.code != Code::kRpl9001, "{}", Message(diagnostic));
  }
}

void Build(const driver::LinkedProgram& linked, const resolve::OptionValues& values,
           std::vector<resolve::EntryPoint> entries, const target::Target& target) {
  const driver::BuildResult result = driver::BuildDirect(linked, values, entries, target);
  CheckDiagnostics(result.diagnostics, result.ok());
  if (!result.ok()) {
    return;
  }
  KILN_CHECK(artifact::DecodeMetadata(result.products->metadata).ok());
  for (const driver::StageCode& code : result.products->code) {
    const std::string wrong = spirv::Validate(code.words, target);
    KILN_CHECK(wrong.empty(), "{}", wrong);
  }
  ir::Pool pool;
  driver::DirectUnits units(linked.program);
  resolve::VariantEvaluator answers(linked.program, values, pool, &units);
  const auto closed = resolve::SpecialiseVariant(linked.program, entries, answers, units);
  const Result<void> verified = ir::Verify(*closed.value);
  KILN_CHECK(verified.ok(), "{}", ErrorText(verified.error()));
}

void Compile(uint8_t environment, uint8_t options, std::string text) {
  const SourceFile sources[] = {SourceFile("fuzz.rpl", std::move(text))};
  const Diagnosed<driver::LinkedProgram> linked =
      driver::LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  CheckDiagnostics(linked.diagnostics, linked.ok());
  if (!linked.ok()) {
    return;
  }
  target::Target target = target::MakeTarget(kEnvironments[environment % 4]);
  target.combined = (environment & 4) != 0;
  const resolve::OptionValues values = ValuesOf(linked.value->program, options);
  Build(*linked.value, values, {}, target);
  for (const std::string& name : EntryNames(linked.value->program.module(0))) {
    Build(*linked.value, values, {{.stage = ir::Stage::kVertex, .function = name}}, target);
    Build(*linked.value, values, {{.stage = ir::Stage::kFragment, .function = name}}, target);
  }
}

}  // namespace
}  // namespace kiln

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) {
    kiln::Compile(static_cast<uint8_t>(size), data[size / 2],
                  std::string(reinterpret_cast<const char*>(data), size));
  }
  return 0;
}
