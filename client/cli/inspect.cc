// SPDX-License-Identifier: MIT
// kiln inspect: a variant, or a SPIR-V or metadata file, as text.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spirv-tools/libspirv.hpp>

#include "client/cli/layout_view.h"
#include "client/cli/project.h"
#include "client/cli/verbs.h"
#include "compiler/artifact/metadata.h"

namespace kiln::cli {
namespace {

// The text of one view, by name.
struct Shown {
  std::string view;
  std::string text;
};

Error Damaged(std::string text) {
  return {.code = ErrorCode::kDataLoss, .context = std::move(text), .reason = {}};
}

Result<std::string> Disassembly(const std::string& name, ByteView bytes) {
  if (bytes.size() % sizeof(uint32_t) != 0 || bytes.size() < 5 * sizeof(uint32_t)) {
    return Damaged(
        fmt::format("'{}' has {} bytes, which are no SPIR-V module", name, bytes.size()));
  }
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  std::string message;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                               const char* what) { message = what; });
  if (!tools.Disassemble(
          words, &text,
          SPV_BINARY_TO_TEXT_OPTION_INDENT | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES)) {
    return Damaged(fmt::format("'{}': {}", name, message));
  }
  return text;
}

// Views of metadata: "meta" or "layout".
Result<std::string> MetadataOf(ByteView bytes, std::string_view view) {
  const Result<artifact::PipelineMetadata> metadata = artifact::DecodeMetadata(bytes);
  if (!metadata.ok()) {
    return Damaged(metadata.error().context);
  }
  return view == "layout" ? LayoutTable(*metadata) : artifact::MetadataText(*metadata);
}

std::string StatsOf(const client::Artifact& artifact) {
  std::string text =
      fmt::format("signature {}\ntarget    {}\n", artifact.signature, artifact.target);
  for (const client::StageCode& code : artifact.code) {
    const std::string stage = StageName(code.stage);
    fmt::format_to(std::back_inserter(text), "{:<9} {} bytes, {}\n",
                   stage.empty() ? "module" : stage, code.digest.size, code.digest.id.hex());
  }
  fmt::format_to(std::back_inserter(text), "metadata  {} bytes, {}\nlayout    {}\n",
                 artifact.metadata.size, artifact.metadata.id.hex(), artifact.layout_hash);
  return text;
}

// One row per declared option: its value here and whether the result depends on it.
std::string OptionsOf(const FetchedVariant& variant, const client::Artifact& artifact) {
  const std::set<std::string> live(artifact.live_options.begin(), artifact.live_options.end());
  std::string text =
      fmt::format("{:<32} {:<8} {:<6} {:<12} {}\n", "option", "scope", "type", "value", "live");
  for (const client::OptionInfo& info : variant.declared.options) {
    client::Option value = info.default_value;
    for (const client::Option& option : variant.options) {
      if (option.name == info.name) {
        value = option;
      }
    }
    fmt::format_to(std::back_inserter(text), "{:<32} {:<8} {:<6} {:<12} {}\n", info.name,
                   info.scope == client::OptionScope::kInstance ? "instance" : "global", info.type,
                   client::ValueText(value), live.contains(info.name) ? "yes" : "no");
  }
  return text;
}

Result<std::string> DisassemblyOf(const Fetched& fetched, const client::Artifact& artifact) {
  std::string text;
  for (const client::StageCode& code : artifact.code) {
    KILN_TRY(const ByteView bytes, BlobOf(fetched, code.digest));
    KILN_TRY(const std::string module, Disassembly(code.digest.id.hex(), bytes));
    text += fmt::format("; {}\n{}", StageName(code.stage), module);
  }
  return text;
}

Result<std::string> ViewOf(const std::string& view, const FetchedVariant& variant,
                           const client::Artifact& artifact) {
  if (view == "stats") {
    return StatsOf(artifact);
  }
  if (view == "options") {
    return OptionsOf(variant, artifact);
  }
  if (view == "disasm") {
    return DisassemblyOf(variant.fetched, artifact);
  }
  KILN_TRY(const ByteView metadata, BlobOf(variant.fetched, artifact.metadata));
  return MetadataOf(metadata, view);
}

void Print(const Global& global, const std::vector<Shown>& shown) {
  for (const Shown& part : shown) {
    if (global.json) {
      const nlohmann::ordered_json item{
          {"v", 1}, {"type", "item"}, {"view", part.view}, {"text", part.text}};
      fmt::print("{}\n", item.dump());
    } else if (shown.size() > 1) {
      fmt::print("== {}\n{}\n", part.view, part.text);
    } else {
      fmt::print("{}", part.text);
    }
  }
}

int InspectFile(const Global& global, const std::string& path,
                const std::vector<std::string>& wanted) {
  const Result<client::Source> file = ReadSource(path, path);
  if (!file.ok()) {
    return Fail(global, file.error());
  }
  const bool is_metadata = path.ends_with(".meta");
  std::vector<std::string> views;
  std::ranges::copy_if(wanted, std::back_inserter(views), [&](const std::string& view) {
    return is_metadata ? view == "meta" || view == "layout" : view == "disasm";
  });
  if (views.empty()) {
    views.emplace_back(is_metadata ? "meta" : "disasm");
  }
  std::vector<Shown> shown;
  for (const std::string& view : views) {
    const Result<std::string> text = is_metadata ? MetadataOf(AsBytes(file->text), view)
                                                 : Disassembly(path, AsBytes(file->text));
    if (!text.ok()) {
      return Fail(global, text.error());
    }
    shown.push_back({.view = view, .text = *text});
  }
  Print(global, shown);
  return kSuccess;
}

int InspectVariant(const Global& global, const InspectArguments& arguments) {
  const Result<FetchedVariant> variant = FetchVariant(global, arguments.variant);
  if (!variant.ok()) {
    return Fail(global, variant.error());
  }
  std::vector<std::string> views = arguments.views;
  if (views.empty()) {
    views = {"stats", "meta", "options"};
  }
  int exit = kSuccess;
  for (const client::Outcome& outcome : variant->fetched.outcomes) {
    const size_t errors = ShowDiagnostics(global, outcome.diagnostics, variant->program.sources,
                                          variant->program.name);
    exit = errors != 0 || outcome.kind != client::OutcomeKind::kOk ? kWrongSource : exit;
    for (const client::Artifact& artifact : outcome.artifacts) {
      std::vector<Shown> shown;
      for (const std::string& view : views) {
        const Result<std::string> text = ViewOf(view, *variant, artifact);
        if (!text.ok()) {
          return Fail(global, text.error());
        }
        shown.push_back({.view = view, .text = *text});
      }
      Print(global, shown);
    }
  }
  return exit;
}

// A path of an artifact rather than a program or a source.
bool IsArtifact(const std::string& what) {
  std::error_code ignored;
  return what.ends_with(".spv") || what.ends_with(".meta") ||
         (!what.ends_with(".rpl") && std::filesystem::is_regular_file(what, ignored));
}

}  // namespace

int RunInspect(const Global& global, const InspectArguments& arguments) {
  const std::vector<std::string>& what = arguments.variant.what;
  return what.size() == 1 && IsArtifact(what[0]) ? InspectFile(global, what[0], arguments.views)
                                                 : InspectVariant(global, arguments);
}

}  // namespace kiln::cli
