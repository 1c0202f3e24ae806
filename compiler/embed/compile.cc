// SPDX-License-Identifier: MIT
#include "compiler/embed/compile.h"

#include <bit>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "compiler/diag/render.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/resolve/checks/unused.h"
#include "compiler/target/target.h"

namespace kiln::embed {
namespace {

Error UsageError(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text), ""}; }

// The request in the words of the driver.
struct Job {
  std::vector<SourceFile> sources;
  ir::PipelineType pipeline;
  std::vector<resolve::EntryPoint> entries;
  std::vector<resolve::OptionSetting> settings;
  target::Target target;
};

// Bits and kind of a value, as the table of options has them.
struct FillSetting {
  resolve::OptionSetting& out;

  void operator()(bool value) const { Set(ir::OptionKind::kFlag, value ? 1 : 0); }
  void operator()(uint32_t value) const { Set(ir::OptionKind::kUint, value); }
  void operator()(int32_t value) const {
    Set(ir::OptionKind::kSint, std::bit_cast<uint32_t>(value));
  }
  void operator()(float value) const {
    Set(ir::OptionKind::kFloat, std::bit_cast<uint32_t>(value));
  }
  void operator()(const std::string& value) const {
    out.kind = ir::OptionKind::kEnum;
    out.text = value;
  }
  void Set(ir::OptionKind kind, uint32_t bits) const {
    out.kind = kind;
    out.bits = bits;
  }
};

Result<Job> JobOf(const CompileRequest& request) {
  Job job;
  if (request.sources.empty()) {
    return UsageError("there is no source to compile");
  }
  for (const Source& source : request.sources) {
    if (!driver::LanguageOf(source.path).has_value()) {
      return UsageError(
          fmt::format("no front end reads '{}'; known extensions: .rpl", source.path));
    }
    job.sources.emplace_back(source.path, source.text);
  }
  const auto environment = target::ParseEnvironment(request.environment);
  if (!environment.has_value()) {
    return UsageError(
        fmt::format("environment '{}' is not vulkan1.0 to vulkan1.4", request.environment));
  }
  job.pipeline = static_cast<ir::PipelineType>(request.pipeline == Pipeline::kCompute
                                                   ? ir::PipelineType::kCompute
                                                   : ir::PipelineType::kGraphicsClassic);
  for (const EntryPoint& entry : request.entries) {
    job.entries.push_back({static_cast<ir::Stage>(entry.stage), entry.function});
  }
  for (const Option& option : request.options) {
    resolve::OptionSetting& setting = job.settings.emplace_back();
    setting.name = option.name;
    std::visit(FillSetting{setting}, option.value);
  }
  job.target = target::MakeTarget(*environment);
  job.target.form = static_cast<target::Form>(request.form);
  job.target.debug = static_cast<target::Debug>(request.debug);
  job.target.combined = request.combined;
  return job;
}

void Append(std::vector<Diagnostic>& to, std::vector<Diagnostic> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The steps of kilnc; what is wrong is in `diagnostics`.
std::optional<driver::Products> Build(const Job& job, std::vector<Diagnostic>& diagnostics) {
  Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(job.sources, job.pipeline);
  Append(diagnostics, std::move(linked.diagnostics));
  if (!linked.ok()) {
    return std::nullopt;
  }
  Append(diagnostics, resolve::FindUnused(linked.value->program, job.entries));
  Diagnosed<resolve::OptionValues> values =
      resolve::CheckOptions(linked.value->program, job.settings);
  Append(diagnostics, std::move(values.diagnostics));
  if (!values.ok()) {
    return std::nullopt;
  }
  driver::BuildResult built =
      driver::BuildDirect(*linked.value, *values.value, job.entries, job.target);
  Append(diagnostics, std::move(built.diagnostics));
  return std::move(built.products);
}

// Messages as tools have them, without lints, and as text.
void Report(const Job& job, std::vector<Diagnostic> diagnostics, Compiled& out) {
  std::erase_if(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.severity == kiln::Severity::kLint;
  });
  SortAndMerge(diagnostics);
  SourceSet sources;
  for (const SourceFile& source : job.sources) {
    sources.Add(source);
  }
  std::vector<const SourceFile*> modules;
  for (const SourceFile& source : job.sources) {
    modules.push_back(sources.Find(source.path));
  }
  std::vector<PlacedDiagnostic> placed = Place(diagnostics, modules);
  SortForReading(placed);
  out.report = RenderReport(placed, sources, {});
  for (PlacedDiagnostic& one : placed) {
    out.messages.push_back({.severity = static_cast<Severity>(one.severity),
                            .code = std::move(one.code),
                            .text = std::move(one.message),
                            .path = std::move(one.primary.path),
                            .line = one.primary.line,
                            .column = one.primary.column});
  }
}

}  // namespace

Result<Compiled> Compile(const CompileRequest& request) {
  KILN_TRY(const Job job, JobOf(request));
  Compiled out;
  std::vector<Diagnostic> diagnostics;
  std::optional<driver::Products> products = Build(job, diagnostics);
  Report(job, std::move(diagnostics), out);
  if (!products.has_value()) {
    return out;
  }
  out.succeeded = true;
  for (const driver::StageCode& code : products->code) {
    const ByteView bytes = code.bytes();
    CompiledModule& module = out.modules.emplace_back();
    if (code.stage.has_value()) {
      module.stage = static_cast<Stage>(*code.stage);
    }
    module.code.assign(bytes.begin(), bytes.end());
    module.digest = DigestOf(bytes);
  }
  out.metadata = std::move(products->metadata);
  out.metadata_digest = DigestOf(ByteView(out.metadata));
  return out;
}

}  // namespace kiln::embed
