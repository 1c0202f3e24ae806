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

// One overload for each type of the variant, so that a new type does not compile until it has one.
// Every value is 32 bits or, for an enumeration, the text of its value.
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

// Only what nobody but the caller can be wrong about is an error; everything about the source
// becomes a diagnostic in the result.
Result<Job> JobOf(const CompileRequest& request) {
  Job job;
  if (request.sources.empty()) {
    return UsageError("there is no source to compile");
  }
  for (const Source& source : request.sources) {
    if (!driver::LanguageOf(source.path).has_value()) {
      return UsageError(fmt::format("no front end reads '{}'; known extensions: .rpl, .hlsl, .wgsl",
                                    source.path));
    }
    job.sources.emplace_back(source.path, source.text);
  }
  // Only names of Vulkan: what else a target is comes from the other members of the request.
  const auto environment = target::ParseEnvironment(request.environment);
  if (!environment.has_value()) {
    return UsageError(
        fmt::format("environment '{}' is not vulkan1.0 to vulkan1.4", request.environment));
  }
  job.pipeline = static_cast<ir::PipelineType>(request.pipeline == Pipeline::kCompute
                                                   ? ir::PipelineType::kCompute
                                                   : ir::PipelineType::kGraphicsClassic);
  for (const EntryPoint& entry : request.entries) {
    // The enumerations of the interface have the numbers of the compiler's, so they are cast.
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
// What is unused is told even if the options are wrong, and both before anything is built. Each
// step ends the work if it failed, since the next would only tell the consequences.
std::optional<driver::Products> Build(const Job& job, std::vector<Diagnostic>& diagnostics) {
  // Merged at each step, because a step that succeeds may have warnings.
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
// Lints are advice to whoever writes the source, and are for tools that ask for them.
void Report(const Job& job, std::vector<Diagnostic> diagnostics, CompileResult& out) {
  std::erase_if(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.severity == kiln::Severity::kLint;
  });
  // Merged first: what two entry points find in the same place is told once.
  SortAndMerge(diagnostics);
  SourceSet sources;
  for (const SourceFile& source : job.sources) {
    sources.Add(source);
  }
  // By ordinal: diagnostics name their module by its number in the request. `Find` gives the place
  // in the set, where the text stays.
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

Result<CompileResult> Compile(const CompileRequest& request) {
  KILN_TRY(const Job job, JobOf(request));
  CompileResult out;
  std::vector<Diagnostic> diagnostics;
  std::optional<driver::Products> products = Build(job, diagnostics);
  // Also for a success: warnings belong to it.
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
    // The digest is made here, so that callers can compare results without hashing them again.
    module.digest = DigestOf(bytes);
  }
  out.metadata = std::move(products->metadata);
  out.metadata_digest = DigestOf(ByteView(out.metadata));
  return out;
}

}  // namespace kiln::embed
