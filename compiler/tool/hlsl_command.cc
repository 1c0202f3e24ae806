// SPDX-License-Identifier: MIT
#include "compiler/tool/hlsl_command.h"

#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/files/file.h"
#include "compiler/base/printable.h"
#include "compiler/diag/render.h"
#include "compiler/driver/stages.h"
#include "compiler/tool/compile_command.h"
#include "compiler/tool/dump_stage.h"
#include "compiler/tool/dxc_options.h"
#include "compiler/tool/hlsl_inputs.h"
#include "compiler/tool/read_sources.h"

namespace kiln::tool {
namespace {

// Who writes for DXC counts with what Direct3D promises: invocations of a workgroup.
constexpr uint32_t kDirect3DWorkgroup = 1024;

int Complain(const Error& error, int exit_code) {
  fmt::print(stderr, "error: {}\n", PrintableMessage(error.context));
  return exit_code;
}

// With the files of the module, so that a place in an included file is told there and not in the
// root.
void Show(std::vector<Diagnostic> diagnostics, const SourceFile& source, const SourceSet& files,
          const std::vector<std::optional<ir::ModuleFiles>>& made_of) {
  // Lints are not shown, since dxc has none.
  std::erase_if(diagnostics, [](const Diagnostic& d) { return d.severity == Severity::kLint; });
  SortAndMerge(diagnostics);
  std::vector<ModuleText> texts{ModuleText(files.Find(source.path))};
  if (!made_of.empty() && made_of[0].has_value()) {
    texts[0] = ir::TextOf(*made_of[0], [&](std::string_view path) { return files.Find(path); });
  }
  std::vector<PlacedDiagnostic> placed = Place(diagnostics, texts);
  SortForReading(placed);
  fmt::print(stderr, "{}", RenderReport(placed, files, {}));
}

// The variant with all options at their defaults.
int Build(const DxcRequest& request, const SourceFile& source) {
  const std::vector<SourceFile> sources{source};
  // One entry point: dxc builds one module for each call.
  const std::vector<resolve::EntryPoint> entries{
      {.stage = request.stage, .function = request.entry}};
  target::Target target = target::MakeTarget(request.environment);
  target.debug = request.debug;
  const LanguageLimits limits{.workgroup = kDirect3DWorkgroup};
  target.limits = target::LimitsOf(limits);
  driver::LinkedSources linked =
      driver::LinkSources(sources, request.inputs,
                          request.stage == ir::Stage::kCompute ? ir::PipelineType::kCompute
                                                               : ir::PipelineType::kGraphicsClassic,
                          limits);
  std::vector<Diagnostic> found = std::move(linked.program.diagnostics);
  // Called exactly once on each path, because messages are sorted and counted together.
  const auto show = [&](const std::vector<Diagnostic>& more) {
    found.insert(found.end(), more.begin(), more.end());
    Show(found, source, request.inputs.files, linked.files);
  };
  if (!linked.program.ok()) {
    show({});
    return kWrongSource;
  }
  const Diagnosed<resolve::OptionValues> values =
      resolve::CheckOptions(linked.program.value->program, {});
  if (!values.ok()) {
    show(values.diagnostics);
    return kWrongSource;
  }
  // Without a file for the output the module is printed, as dxc does.
  if (request.output.empty()) {
    const DumpResult dump = DumpVariantStage("assemble", {.linked = *linked.program.value,
                                                          .values = *values.value,
                                                          .entries = entries,
                                                          .target = target});
    show(dump.diagnostics);
    fmt::print("{}", PrintableLines(dump.text));
    return dump.ok ? kSuccess : kWrongSource;
  }
  const driver::BuildResult built =
      driver::BuildDirect(*linked.program.value, *values.value, entries, target);
  show(built.diagnostics);
  if (!built.ok()) {
    return kWrongSource;
  }
  // One entry point gives one module.
  const Result<void> written = WriteFile(request.output, built.products->code[0].bytes());
  return written.ok() ? kSuccess : Complain(written.error(), WriteFailure(written.error()));
}

}  // namespace

int RunHlsl(std::span<const std::string> words) {
  Result<DxcRequest> request = ReadDxcOptions(words);
  if (!request.ok()) {
    return Complain(request.error(), kUsage);
  }
  // Whatever the file is called: dxc takes any name.
  request->inputs.language = ir::Language::kHlsl;
  Result<std::string> text = ReadFile(request->file);
  if (!text.ok()) {
    return Complain(text.error(), kNoFile);
  }
  const SourceFile source(request->file, std::move(text).value());
  const Result<void> included = ReadIncludes(std::span(&source, 1), request->inputs);
  return included.ok() ? Build(*request, source) : Complain(included.error(), kNoFile);
}

}  // namespace kiln::tool
