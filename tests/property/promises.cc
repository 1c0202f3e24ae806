// SPDX-License-Identifier: MIT
#include "tests/property/promises.h"

#include <chrono>
#include <csignal>
#include <exception>
#include <optional>
#include <unistd.h>
#include <utility>

#include "compiler/artifact/metadata.h"
#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"
#include "compiler/diag/encode.h"
#include "compiler/diag/render.h"
#include "compiler/driver/stages.h"
#include "compiler/emit/spirv/module_checks.h"

namespace kiln::property {
namespace {

constexpr std::pair<ir::Stage, ir::PipelineType> kStages[] = {
    {ir::Stage::kVertex, ir::PipelineType::kGraphicsClassic},
    {ir::Stage::kFragment, ir::PipelineType::kGraphicsClassic},
    {ir::Stage::kCompute, ir::PipelineType::kCompute}};
constexpr size_t kMostFunctions = 16;

// No source of a few kilobytes works so long; what does never ends.
constexpr Duration kMostWork = std::chrono::seconds(60);

const std::string* shown = nullptr;

// Only calls that a handler of signals may make.
void Show(int signal) {
  if (shown != nullptr) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, shown->data(), shown->size());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

target::Target TargetOf(target::Form form) {
  target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  target.form = form;
  return target;
}

driver::LinkedSources Linked(const Program& program, const SourceFile& source) {
  driver::SourceInputs inputs;
  inputs.hlsl = program.hlsl;
  return driver::LinkSources(std::span(&source, 1), inputs, program.pipeline);
}

// Errors and success exclude each other, and every message can be shown, with its line, and sent.
std::string BrokenMessage(const std::vector<Diagnostic>& found, bool ok, const SourceFile& source,
                          const std::vector<std::optional<ir::ModuleFiles>>& files) {
  if (ok == HasErrors(found)) {
    return ok ? "a success has errors" : "a failure has no error";
  }
  for (const Diagnostic& diagnostic : found) {
    if (diagnostic.code == Code::kRpl9001 || Message(diagnostic).empty()) {
      return "of kiln itself: " + Message(diagnostic);
    }
  }
  SourceSet set;
  const SourceFile& kept = set.Add(source);
  const bool several = !files.empty() && files[0].has_value();
  const ModuleText module =
      several ? ir::TextOf(*files[0], [&](std::string_view path) { return set.Find(path); })
              : ModuleText(&kept);
  const std::vector<PlacedDiagnostic> placed = Place(found, std::span(&module, 1));
  if (!found.empty() && RenderReport(placed, set, {}, found.size()).empty()) {
    return "messages without a report";
  }
  std::vector<Diagnostic> sorted = found;
  SortAndMerge(sorted);
  return DecodeDiagnostics(EncodeDiagnostics(sorted)).ok() ? "" : "messages that cannot be read";
}

std::string BrokenProducts(const driver::Products& products, const target::Target& target) {
  // Readers know the images that RPL has; those of one dimension, cubes in arrays and several
  // samples are of HLSL and WGSL only, and are refused by name.
  const auto metadata = artifact::DecodeMetadata(products.metadata);
  if (!metadata.ok() && !metadata.error().context.starts_with("type of image")) {
    return "metadata: " + ErrorText(metadata.error());
  }
  for (const driver::StageCode& code : products.code) {
    if (code.empty()) {
      return "a stage without code";
    }
    if (target.form == target::Form::kSpirv) {
      if (std::string wrong = spirv::Validate(code.words, target); !wrong.empty()) {
        return wrong;
      }
    }
  }
  return "";
}

Verdict TryStages(const Program& program) {
  const SourceFile source(program.path, program.text);
  const driver::LinkedSources read = Linked(program, source);
  const Diagnosed<driver::LinkedProgram>& linked = read.program;
  Verdict verdict{.broken = BrokenMessage(linked.diagnostics, linked.ok(), source, read.files)};
  if (!linked.ok() || !verdict.broken.empty()) {
    return verdict;
  }
  const resolve::OptionValues values = *resolve::CheckOptions(linked.value->program, {}).value;
  for (const target::Form form : {target::Form::kSpirv, target::Form::kWgsl}) {
    const target::Target target = TargetOf(form);
    const driver::BuildResult built =
        driver::BuildDirect(*linked.value, values, program.entries, target);
    verdict.broken = BrokenMessage(built.diagnostics, built.ok(), source, read.files);
    if (verdict.broken.empty() && built.ok()) {
      verdict.compiled = true;
      verdict.broken = BrokenProducts(*built.products, target);
    }
    if (!verdict.broken.empty()) {
      return verdict;
    }
  }
  return verdict;
}

std::vector<std::string> FunctionsOf(const Program& program) {
  const SourceFile source(program.path, program.text);
  const driver::LinkedSources read = Linked(program, source);
  std::vector<std::string> names;
  if (read.program.ok()) {
    const ir::ModuleView& module = read.program.value->program.module(0);
    for (const ir::Decl& decl : module.decls) {
      if (decl.kind == ir::DeclKind::kFunction) {
        names.emplace_back(module.Text(decl.name));
      }
    }
  }
  // Entry points stand behind what they call.
  names.erase(names.begin(),
              names.end() - static_cast<ptrdiff_t>(std::min(names.size(), kMostFunctions)));
  return names;
}

}  // namespace

Verdict Try(const Program& program) {
  const ShownOnCrash shows(program.text);
  SystemClock clock;
  try {
    const StopScope scope({.cpu = kMostWork}, clock);
    return TryStages(program);
  } catch (const std::exception& failure) {
    return {.broken = failure.what()};
  }
}

Program WithEntries(Program program) {
  std::vector<resolve::EntryPoint> found;
  const std::vector<std::string> names = FunctionsOf(program);
  for (const auto& [stage, pipeline] : kStages) {
    if (!found.empty() && pipeline != program.pipeline) {
      break;
    }
    program.pipeline = pipeline;
    for (const std::string& name : names) {
      program.entries = {{.stage = stage, .function = name}};
      if (Try(program).compiled) {
        found.push_back(program.entries[0]);
        break;
      }
    }
  }
  program.entries = std::move(found);
  if (program.entries.empty()) {
    program.pipeline = ir::PipelineType::kGraphicsClassic;
  }
  return program;
}

ShownOnCrash::ShownOnCrash(const std::string& text) {
  shown = &text;
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, Show);
  }
}
ShownOnCrash::~ShownOnCrash() { shown = nullptr; }

}  // namespace kiln::property
