// SPDX-License-Identifier: MIT
// Stages of one source (lex, parse, lower, check) take no further words. Stages of a variant are
// those of kilnc and are run the way kilnc runs them.
#include "tests/golden/runner/run_stage.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/diag/render.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "compiler/resolve/checks/unused.h"
#include "compiler/tool/compile_command.h"
#include "compiler/tool/dump_stage.h"

namespace kiln::golden {
namespace {

Error Wrong(const GoldenCase& golden, std::string_view what) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = fmt::format("{}: {}", golden.name, what),
          .reason = {}};
}

// What the first line says besides the stage.
struct Words {
  std::vector<SourceFile> sources;   // the input, then `with`, in link order
  std::vector<std::string> options;  // "NAME=VALUE"
  std::vector<resolve::EntryPoint> entries;
  ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic;
  target::Target target;
  bool lints = false;
  driver::SourceInputs inputs;  // files: `sources` and `include`
};

std::optional<resolve::EntryPoint> EntryOf(std::string_view text) {
  constexpr std::pair<std::string_view, ir::Stage> kStages[] = {
      {"vertex:", ir::Stage::kVertex},
      {"fragment:", ir::Stage::kFragment},
      {"compute:", ir::Stage::kCompute},
  };
  for (const auto& [prefix, stage] : kStages) {
    if (text.starts_with(prefix)) {
      return resolve::EntryPoint{.stage = stage,
                                 .function = std::string(text.substr(prefix.size()))};
    }
  }
  return std::nullopt;
}

// False if the word is unknown.
Result<bool> ReadWord(const GoldenCase& golden, const std::string& key, const std::string& value,
                      Words& words) {
  if (key == "with") {
    KILN_TRY(std::string text, ReadBytes(golden.input.parent_path() / value));
    words.sources.emplace_back(value, std::move(text));
  } else if (key.starts_with("option.")) {
    words.options.push_back(key.substr(7) + "=" + value);
  } else if (key == "entry") {
    const std::optional<resolve::EntryPoint> entry = EntryOf(value);
    if (!entry) {
      return false;
    }
    words.entries.push_back(*entry);
  } else if (key == "env") {
    const std::optional<target::Environment> environment = target::ParseEnvironment(value);
    if (!environment) {
      return false;
    }
    words.target = target::MakeTarget(*environment);
  } else if (key == "combined") {
    words.target.combined = value == "true";
  } else if (key == "include") {
    KILN_TRY(std::string text, ReadBytes(golden.input.parent_path() / value));
    words.inputs.files.Add({value, std::move(text)});
  } else if (key.starts_with("hlsl.")) {
    KILN_TRY_VOID(hlsl::SetSetting(key.substr(5), value, words.inputs.hlsl));
  } else if (key == "define") {
    KILN_TRY(hlsl::Define define, hlsl::ParseDefine(value));
    words.inputs.hlsl.defines.push_back(std::move(define));
  } else if (key == "root") {
    words.inputs.hlsl.include_roots.push_back(value == "." ? "" : value);
  } else if (key == "lints") {
    words.lints = value == "true";
  } else if (key == "pipeline" && value == "compute") {
    words.pipeline = ir::PipelineType::kCompute;
  } else {
    return false;
  }
  return true;
}

Result<Words> ReadWords(const GoldenCase& golden) {
  Words words;
  words.target = target::MakeTarget(target::Environment::kVulkan11);
  words.sources.emplace_back(golden.input.filename().string(), golden.source);
  for (const auto& [key, value] : golden.words) {
    KILN_TRY(const bool known, ReadWord(golden, key, value, words));
    if (!known) {
      return Wrong(golden, fmt::format("the word '{}={}' is unknown", key, value));
    }
  }
  for (const SourceFile& source : words.sources) {
    words.inputs.files.Add(source);
  }
  return words;
}

// `files`: that the modules were made of, where it is more than one.
std::string Report(std::vector<Diagnostic> diagnostics, const Words& words,
                   std::span<const std::optional<ir::ModuleFiles>> files = {}) {
  std::erase_if(diagnostics,
                [&](const Diagnostic& d) { return d.severity == Severity::kLint && !words.lints; });
  SortAndMerge(diagnostics);
  const SourceSet& set = words.inputs.files;
  std::vector<ModuleText> modules;
  for (size_t i = 0; i < words.sources.size(); ++i) {
    const bool several = i < files.size() && files[i].has_value();
    modules.push_back(
        several ? ir::TextOf(*files[i], [&](std::string_view path) { return set.Find(path); })
                : ModuleText(&words.sources[i]));
  }
  return RenderReport(Place(diagnostics, modules), set, {.colour = Colour::kOff}, 100);
}

void Append(std::vector<Diagnostic>& to, const std::vector<Diagnostic>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Module hashes in metadata change with the compiler, not with what it does.
std::string WithoutHashes(std::string text) {
  constexpr std::string_view kLine = "\nmodule ";
  for (size_t at = text.find(kLine); at != std::string::npos; at = text.find(kLine, at + 1)) {
    const size_t begin = at + kLine.size();
    text.replace(begin, text.find('\n', begin) - begin, "HASH");
  }
  return text;
}

Result<std::string> RunVariant(const GoldenCase& golden, const Words& words) {
  driver::LinkedSources read = driver::LinkSources(words.sources, words.inputs, words.pipeline);
  Diagnosed<driver::LinkedProgram>& linked = read.program;
  std::vector<Diagnostic> found = std::move(linked.diagnostics);
  if (!linked.ok()) {
    return Report(std::move(found), words, read.files);
  }
  std::vector<resolve::OptionSetting> settings;
  for (const std::string& text : words.options) {
    KILN_TRY(resolve::OptionSetting setting, driver::ReadOption(linked.value->program, text));
    settings.push_back(std::move(setting));
  }
  const Diagnosed<resolve::OptionValues> values =
      resolve::CheckOptions(linked.value->program, settings);
  Append(found, values.diagnostics);
  if (!values.ok()) {
    return Report(std::move(found), words, read.files);
  }
  const tool::DumpResult dump = tool::DumpVariantStage(golden.stage, {.linked = *linked.value,
                                                                      .values = *values.value,
                                                                      .entries = words.entries,
                                                                      .target = words.target});
  Append(found, dump.diagnostics);
  return (golden.stage == "metadata" ? WithoutHashes(dump.text) : dump.text) +
         Report(std::move(found), words, read.files);
}

// What is said once for a program.
std::string RunUnused(const Words& words) {
  Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(words.sources, words.pipeline);
  std::vector<Diagnostic> found = std::move(linked.diagnostics);
  if (linked.ok()) {
    Append(found, resolve::FindUnused(linked.value->program, words.entries));
  }
  return Report(std::move(found), words);
}

}  // namespace

Result<std::string> RunStage(const GoldenCase& golden) {
  KILN_TRY(const Words words, ReadWords(golden));
  if (golden.stage == "check") {
    const std::optional<ir::Language> language = driver::LanguageOf(words.sources[0].path);
    driver::ParsedSource parsed = driver::ParseSource(*language, words.sources[0], words.inputs, 0);
    const std::vector<std::optional<ir::ModuleFiles>> files{std::move(parsed.files)};
    return Report(std::move(parsed.module.diagnostics), words, files);
  }
  if (golden.stage == "unused") {
    return RunUnused(words);
  }
  if (std::ranges::find(tool::StageNames(), golden.stage) == tool::StageNames().end()) {
    return Wrong(golden, fmt::format("no stage is named '{}'", golden.stage));
  }
  if (!tool::IsSourceStage(golden.stage)) {
    return RunVariant(golden, words);
  }
  const tool::DumpResult dump = tool::DumpSourceStage(golden.stage, words.sources, words.inputs);
  return dump.text + Report(dump.diagnostics, words, dump.files);
}

}  // namespace kiln::golden
