// SPDX-License-Identifier: MIT
#include "compiler/tool/compile_command.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/artifact/metadata_json.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"
#include "compiler/base/printable.h"
#include "compiler/base/text/entry_words.h"
#include "compiler/diag/render.h"
#include "compiler/diag/render_json.h"
#include "compiler/driver/check_space.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "compiler/resolve/checks/unused.h"
#include "compiler/tool/dump_stage.h"
#include "compiler/tool/limit_arguments.h"
#include "compiler/tool/link_files.h"
#include "compiler/tool/read_sources.h"

namespace kiln::tool {
namespace {

// What the arguments say, typed.
struct Request {
  ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic;
  std::vector<resolve::EntryPoint> entries;
  target::Target target;
  driver::SourceInputs inputs;
  LanguageLimits limits;
};

Error UsageError(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// Words of the command line, not those of the IR: they are documented and stay as they are.
std::optional<ir::Stage> ReadStage(std::string_view text) {
  for (const auto& [name, stage] :
       {std::pair{"vertex", ir::Stage::kVertex}, std::pair{"fragment", ir::Stage::kFragment},
        std::pair{"compute", ir::Stage::kCompute}}) {
    if (text == name) {
      return stage;
    }
  }
  return std::nullopt;
}

// A function name is not checked here; whether it exists is a diagnostic with a place.
Result<resolve::EntryPoint> ReadEntry(const std::string& text) {
  const size_t equals = text.find('=');
  const std::optional<ir::Stage> stage = ReadStage(text.substr(0, equals));
  if (equals == std::string::npos || equals + 1 == text.size() || !stage.has_value()) {
    // People write the two parts the wrong way round, or leave one out; the message proposes what
    // was meant.
    const std::string meant = EntryMeantBy(text);
    return UsageError(fmt::format(
        "--entry '{}' is not STAGE=FUNCTION with stage vertex, fragment or compute{}", text,
        meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant)));
  }
  return resolve::EntryPoint{.stage = *stage, .function = text.substr(equals + 1)};
}

// Entry points say by their stages what they are of; without any it is graphics.
Result<ir::PipelineType> ReadPipeline(const std::string& text,
                                      std::span<const resolve::EntryPoint> entries) {
  if (text == "compute") {
    return ir::PipelineType::kCompute;
  }
  if (text == "graphics_classic") {
    return ir::PipelineType::kGraphicsClassic;
  }
  if (!text.empty()) {
    return UsageError(fmt::format("--pipeline '{}' is not graphics_classic or compute", text));
  }
  const bool computes =
      !entries.empty() && std::ranges::all_of(entries, [](const resolve::EntryPoint& entry) {
        return entry.stage == ir::Stage::kCompute;
      });
  return computes ? ir::PipelineType::kCompute : ir::PipelineType::kGraphicsClassic;
}

// Everything is checked before a file is read, so that a mistyped option is told at once.
Result<Request> ReadRequest(const CompileArguments& arguments) {
  Request request;
  for (const std::string& entry : arguments.entries) {
    KILN_TRY(resolve::EntryPoint read, ReadEntry(entry));
    request.entries.push_back(std::move(read));
  }
  KILN_TRY(request.pipeline, ReadPipeline(arguments.pipeline, request.entries));
  const std::optional<target::Environment> environment =
      target::ParseEnvironment(arguments.environment);
  const std::optional<target::Debug> debug = target::ParseDebug(arguments.debug);
  // One of the two is wrong, and the environment is told first.
  if (!environment.has_value() || !debug.has_value()) {
    return UsageError(
        environment.has_value()
            ? fmt::format("--debug '{}' is not none, names or full", arguments.debug)
            : fmt::format("--env '{}' is not vulkan1.0 to vulkan1.4", arguments.environment));
  }
  // Asked before files are opened: an extension that nobody reads is a mistake of the command.
  for (const std::string& file : arguments.files) {
    if (!driver::LanguageOf(file).has_value() && !IsTextModule(file)) {
      return UsageError(
          fmt::format("no front end reads '{}'; known extensions: .rpl, .hlsl, .wgsl, .kir", file));
    }
  }
  const std::optional<target::Form> form = target::ParseForm(arguments.form);
  if (!form.has_value()) {
    return UsageError(fmt::format("--form '{}' is not spirv or wgsl", arguments.form));
  }
  KILN_TRY(request.inputs, ReadSettings(arguments.hlsl));
  KILN_TRY(request.limits, ReadLimits(arguments.limits));
  request.target = target::MakeTarget(*environment);
  request.target.limits = target::LimitsOf(request.limits);
  request.target.form = *form;
  request.target.debug = *debug;
  request.target.combined = arguments.combined;
  return request;
}

// Shows diagnostics where the arguments want them.
class Reporter {
 public:
  // `files` has the sources, too.
  Reporter(const CompileArguments& arguments, const std::vector<SourceFile>& sources,
           const SourceSet& files)
      : arguments_(arguments), files_(files) {
    for (const SourceFile& source : sources) {
      // One text for each source, in the order of the modules.
      modules_.emplace_back(files_.Find(source.path));
    }
  }

  // The files that the modules were made of, where it is more than one.
  void Know(std::span<const std::optional<ir::ModuleFiles>> files) {
    // Modules without a list of files keep the text of their source.
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].has_value()) {
        modules_[i] =
            ir::TextOf(*files[i], [&](std::string_view path) { return files_.Find(path); });
      }
    }
  }

  void Show(std::vector<Diagnostic> diagnostics) {
    // Lints are filtered before sorting, since the bound of messages counts only what is shown.
    std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) {
      return diagnostic.severity == Severity::kLint && !arguments_.lints;
    });
    SortAndMerge(diagnostics);
    std::vector<PlacedDiagnostic> placed = Place(diagnostics, modules_);
    SortForReading(placed);
    if (arguments_.json) {
      // Diagnostics as JSON are the output, as texts they accompany it; so they go to different
      // streams.
      fmt::print("{}\n", PrintableJson(RenderJsonArray(placed, arguments_.files.front())));
    } else {
      fmt::print(stderr, "{}", RenderReport(placed, files_, {}));
    }
  }

 private:
  const CompileArguments& arguments_;
  const SourceSet& files_;
  std::vector<ModuleText> modules_;
};

int Complain(const Error& error, int exit_code) {
  fmt::print(stderr, "error: {}\n", PrintableMessage(error.context));
  return exit_code;
}

// One file for each stage; a module with all stages is the program.
std::string ModuleName(const driver::StageCode& code, target::Form form) {
  std::string name = "program";
  if (code.stage.has_value()) {
    name = *code.stage == ir::Stage::kVertex     ? "vertex"
           : *code.stage == ir::Stage::kFragment ? "fragment"
                                                 : "compute";
  }
  return name + (form == target::Form::kWgsl ? ".wgsl" : ".spv");
}

// Beneath the folder of the output: names are fixed here, but the folder may hold links.
Result<void> WriteProducts(const CompileArguments& arguments, target::Form form,
                           const driver::Products& products) {
  if (!arguments.out.empty()) {
    for (const driver::StageCode& code : products.code) {
      KILN_TRY_VOID(WriteFileBeneath(arguments.out, ModuleName(code, form), code.bytes()));
    }
  }
  if (!arguments.meta.empty()) {
    KILN_TRY(const std::string json, artifact::MetadataJson(products.metadata));
    KILN_TRY_VOID(WriteFile(arguments.meta, AsBytes(json)));
  }
  return {};
}

int CheckVariants(const CompileArguments& arguments, const Request& request,
                  const driver::LinkedProgram& linked, std::vector<Diagnostic> diagnostics,
                  Reporter& reporter) {
  // All combinations are tried, so a value that somebody set would be ignored in silence.
  if (!arguments.options.empty()) {
    return Complain(UsageError("--all-variants chooses the values of options itself"), kUsage);
  }
  Result<driver::SpaceReport> report = driver::CheckSpace(linked, request.entries, request.target);
  if (!report.ok()) {
    return Complain(report.error(), kUsage);
  }
  diagnostics.insert(diagnostics.end(), report->diagnostics.begin(), report->diagnostics.end());
  reporter.Show(std::move(diagnostics));
  return report->failing == 0 ? kSuccess : kWrongSource;
}

// Everything that was found up to the failing step is shown, warnings of earlier steps included.
int BuildVariant(const CompileArguments& arguments, const Request& request,
                 const driver::LinkedProgram& linked, std::vector<Diagnostic> diagnostics,
                 Reporter& reporter) {
  std::vector<resolve::OptionSetting> settings;
  for (const std::string& text : arguments.options) {
    Result<resolve::OptionSetting> setting = driver::ReadOption(linked.program, text);
    if (!setting.ok()) {
      return Complain(setting.error(), kUsage);
    }
    settings.push_back(std::move(setting).value());
  }
  Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(linked.program, settings);
  diagnostics.insert(diagnostics.end(), values.diagnostics.begin(), values.diagnostics.end());
  if (!values.ok()) {
    reporter.Show(std::move(diagnostics));
    return kWrongSource;
  }
  // A dump shows the stage even of a variant that fails later, so nothing is built here.
  if (!arguments.stage.empty()) {
    DumpResult dump = DumpVariantStage(arguments.stage, {.linked = linked,
                                                         .values = *values.value,
                                                         .entries = request.entries,
                                                         .target = request.target});
    diagnostics.insert(diagnostics.end(), dump.diagnostics.begin(), dump.diagnostics.end());
    reporter.Show(std::move(diagnostics));
    fmt::print("{}", PrintableLines(dump.text));
    return dump.ok ? kSuccess : kWrongSource;
  }
  const driver::BuildResult built =
      driver::BuildDirect(linked, *values.value, request.entries, request.target);
  diagnostics.insert(diagnostics.end(), built.diagnostics.begin(), built.diagnostics.end());
  reporter.Show(std::move(diagnostics));
  if (!built.ok()) {
    return kWrongSource;
  }
  const Result<void> written = WriteProducts(arguments, request.target.form, *built.products);
  // A module that cannot be written is no error of the source, and has an exit code of its own.
  return written.ok() ? kSuccess : Complain(written.error(), WriteFailure(written.error()));
}

}  // namespace

ExitCode WriteFailure(const Error& error) {
  return error.code == ErrorCode::kFull ? kNoRoom : kNoFile;
}

// The order is that of the compiler.
const std::vector<std::string>& StageNames() {
  static const std::vector<std::string> names{"preprocess", "lex",        "parse",   "lower",
                                              "queries",    "specialise", "layout",  "objects",
                                              "assemble",   "wgsl",       "metadata"};
  return names;
}

std::string StageOf(std::string name) {
  struct Older {
    std::string_view was, is;
  };
  static constexpr std::array<Older, 3> kOlder{
      {{"questions", "queries"}, {"close", "specialise"}, {"pieces", "objects"}}};
  const auto* const older = std::ranges::find(kOlder, name, &Older::was);
  return older == kOlder.end() ? name : std::string(older->is);
}

int RunCompile(const CompileArguments& arguments) {
  Result<Request> request = ReadRequest(arguments);
  if (!request.ok()) {
    return Complain(request.error(), kUsage);
  }
  const Result<std::vector<SourceFile>> sources = ReadSources(arguments.files);
  if (!sources.ok()) {
    return Complain(sources.error(), kNoFile);
  }
  const Result<void> included = ReadIncludes(*sources, request->inputs);
  if (!included.ok()) {
    return Complain(included.error(), kNoFile);
  }
  Reporter reporter(arguments, *sources, request->inputs.files);
  // Dumps of sources need no link, so they work for a file that cannot be compiled alone.
  if (IsSourceStage(arguments.stage)) {
    DumpResult dump = DumpSourceStage(arguments.stage, *sources, request->inputs);
    reporter.Know(dump.files);
    reporter.Show(std::move(dump.diagnostics));
    fmt::print("{}", PrintableLines(dump.text));
    return dump.ok ? kSuccess : kWrongSource;
  }
  Result<driver::LinkedSources> read =
      LinkFiles(*sources, request->inputs, request->pipeline, request->limits);
  if (!read.ok()) {
    return Complain(read.error(), kWrongSource);
  }
  reporter.Know(read->files);
  Diagnosed<driver::LinkedProgram> linked = std::move(read->program);
  if (!linked.ok()) {
    reporter.Show(std::move(linked.diagnostics));
    return kWrongSource;
  }
  std::vector<Diagnostic> unused = resolve::FindUnused(linked.value->program, request->entries);
  linked.diagnostics.insert(linked.diagnostics.end(), std::make_move_iterator(unused.begin()),
                            std::make_move_iterator(unused.end()));
  // Both have the same arguments, and the diagnostics of linking go with them: they are sorted and
  // merged once, with what comes later.
  const auto run = arguments.all_variants ? CheckVariants : BuildVariant;
  return run(arguments, *request, *linked.value, std::move(linked.diagnostics), reporter);
}

}  // namespace kiln::tool
