// SPDX-License-Identifier: MIT
#include "client/cli/variant/inspect_views.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <spirv-tools/libspirv.hpp>

#include "client/cli/exit_order.h"
#include "client/cli/failure.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/pack/artifacts.h"
#include "client/cli/pack/files.h"
#include "client/cli/project/project.h"
#include "client/cli/session.h"
#include "client/includes/include_set.h"
#include "compiler/artifact/layout_table.h"
#include "compiler/artifact/metadata.h"
#include "compiler/artifact/metadata_text.h"

namespace kiln::cli {
namespace {

using Views = std::vector<std::string>;

constexpr char kPackEntry[] = ".kpack:";
// Files that are shown as they are.
constexpr std::array<std::string_view, 4> kTexts{"wgsl", "msl", "glsl", "hlsl"};
// Views that the daemon makes.
constexpr std::array<std::string_view, 5> kRemote{"ir", "wgsl", "msl", "glsl", "hlsl"};

Error Usage(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

Error Damaged(std::string text) {
  return {.code = ErrorCode::kDataLoss, .context = std::move(text), .reason = {}};
}

Result<std::string> Disassembly(const std::string& name, ByteView bytes) {
  // A header of SPIR-V has five words. The disassembler would say the same of a shorter file, but
  // not which file it was.
  if (bytes.size() % sizeof(uint32_t) != 0 || bytes.size() < 5 * sizeof(uint32_t)) {
    return Damaged(
        fmt::format("'{}' has {} bytes, which are no SPIR-V module", name, bytes.size()));
  }
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  // Bytes of a file or a message need not be aligned for words.
  std::memcpy(words.data(), bytes.data(), bytes.size());
  // The newest environment, since words are only shown here and not judged: a module for any
  // version can be read.
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
  return view == "layout" ? artifact::LayoutTable(*metadata) : artifact::MetadataText(*metadata);
}

// Everything here is in the outcome, so no content has to be there.
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
std::string OptionsText(const FetchedVariant& variant, const client::Artifact& artifact) {
  const std::set<std::string> live(artifact.live_options.begin(), artifact.live_options.end());
  std::string text =
      fmt::format("{:<32} {:<8} {:<6} {:<12} {}\n", "option", "scope", "type", "value", "live");
  for (const client::OptionInfo& info : variant.declared.options) {
    // The last value given wins, as it does for the daemon.
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

bool IsRemote(const std::string& view) { return std::ranges::find(kRemote, view) != kRemote.end(); }

Result<std::string> DisassemblyOf(const FetchResult& fetched, const client::Artifact& artifact) {
  std::string text;
  for (const client::StageCode& code : artifact.code) {
    KILN_TRY(const ByteView bytes, BlobOf(fetched, code.digest));
    KILN_TRY(const std::string module, Disassembly(code.digest.id.hex(), bytes));
    text += fmt::format("; {}\n{}", StageName(code.stage), module);
  }
  return text;
}

// Views that this program makes of content that it has fetched; the daemon is not asked again.
Result<std::string> ViewHere(const std::string& view, const FetchedVariant& variant,
                             const client::Artifact& artifact) {
  if (view == "stats") {
    return StatsOf(artifact);
  }
  if (view == "options") {
    return OptionsText(variant, artifact);
  }
  if (view == "disasm") {
    return DisassemblyOf(variant.fetched, artifact);
  }
  KILN_TRY(const ByteView metadata, BlobOf(variant.fetched, artifact.metadata));
  return MetadataOf(metadata, view);
}

// A signature and a content id look alike. A result is looked for first, because that is what `kiln
// build` prints.
Result<InspectResult> InspectKey(const Global& global, const std::string& key, const Views& views) {
  KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
  using C = client::Client;
  Result<std::vector<client::InspectedView>> found =
      connected.client->Inspect(C::InspectSignature{key}, views);
  if (!found.ok() && found.error().code == ErrorCode::kNotFound) {
    found = connected.client->Inspect(C::InspectContent{key}, views);
    if (!found.ok() && found.error().code == ErrorCode::kNotFound) {
      return Error{.code = ErrorCode::kNotFound,
                   .context = "the daemon has no result and no content " + key,
                   .reason = "UNKNOWN_RESULT"};
    }
  }
  if (!found.ok()) {
    return found.error();
  }
  InspectResult inspected;
  std::vector<RenderedView>& shown = inspected.artifacts.emplace_back();
  for (client::InspectedView& view : *found) {
    shown.push_back(
        {.view = std::move(view.view), .text = std::move(view.text), .json = std::move(view.json)});
  }
  return inspected;
}

// Views of one file: those of `possible` that were asked for; none asked for: the first one.
Result<Views> FittingViews(const std::string& path, const Views& wanted, const Views& possible) {
  for (const std::string& view : wanted) {
    if (std::ranges::find(possible, view) == possible.end()) {
      return Usage(
          fmt::format("'{}' has no view '{}'; it has {}", path, view, fmt::join(possible, ", ")));
    }
  }
  return wanted.empty() ? Views{possible.front()} : wanted;
}

// Needs no daemon: a file has all that its views show.
Result<InspectResult> InspectFile(const std::string& path, const Views& wanted) {
  KILN_TRY(const client::Source file, ReadSource(path, path));
  const std::string extension = std::filesystem::path(path).extension().string();
  // The extension decides what a file is; anything unknown is taken for SPIR-V, whose disassembly
  // says clearly if it is not.
  const bool is_text =
      !extension.empty() && std::ranges::find(kTexts, extension.substr(1)) != kTexts.end();
  const bool is_metadata = extension == ".meta";
  KILN_TRY(const Views views, FittingViews(path, wanted,
                                           is_text       ? Views{extension.substr(1)}
                                           : is_metadata ? Views{"meta", "layout"}
                                                         : Views{"disasm"}));
  InspectResult inspected;
  std::vector<RenderedView>& shown = inspected.artifacts.emplace_back();
  for (const std::string& view : views) {
    RenderedView& added = shown.emplace_back();
    added.view = view;
    if (is_text) {
      added.text = file.text;
    } else if (is_metadata) {
      KILN_TRY(added.text, MetadataOf(AsBytes(file.text), view));
    } else {
      KILN_TRY(added.text, Disassembly(path, AsBytes(file.text)));
    }
  }
  return inspected;
}

// Digests and sizes of what a pack has.
std::string PackedStats(const PackedArtifact& artifact) {
  std::string text =
      fmt::format("target    {}\nlive key  {}\n", artifact.target, artifact.live_key.hex());
  for (const PackedArtifact::Code& code : artifact.code) {
    fmt::format_to(std::back_inserter(text), "{:<9} {} bytes, {}\n",
                   code.stage.empty() ? "module" : code.stage, code.blob.bytes.size(),
                   DigestOf(code.blob.bytes).id.hex());
  }
  if (artifact.metadata.has_value()) {
    fmt::format_to(std::back_inserter(text), "metadata  {} bytes, {}\n",
                   artifact.metadata->bytes.size(), DigestOf(artifact.metadata->bytes).id.hex());
  }
  return text;
}

Result<std::string> PackedView(const PackedArtifact& artifact, const std::string& view) {
  if (view == "stats") {
    return PackedStats(artifact);
  }
  if (view == "disasm") {
    std::string text;
    for (const PackedArtifact::Code& code : artifact.code) {
      KILN_TRY(const std::string module, Disassembly(artifact.target, code.blob.bytes));
      text += fmt::format("; {}\n{}", code.stage.empty() ? "module" : code.stage, module);
    }
    return text;
  }
  return artifact.metadata.has_value() ? MetadataOf(artifact.metadata->bytes, view)
                                       : Result<std::string>(std::string());
}

// FILE.kpack:PROGRAM
Result<InspectResult> InspectPacked(const VariantArguments& what, const Views& wanted) {
  const std::string& name = what.what[0];
  // The place of the ':' in ".kpack:NAME". The array has a zero at its end, hence the 2.
  const size_t colon = name.find(kPackEntry) + sizeof(kPackEntry) - 2;
  KILN_TRY(Views views, FittingViews(name, wanted, Views{"stats", "meta", "layout", "disasm"}));
  if (wanted.empty()) {
    views = {"stats", "meta"};
  }
  Result<std::unique_ptr<pack::Pack>> pack = OpenPack(name.substr(0, colon));
  if (!pack.ok()) {
    return pack.error();
  }
  if (what.targets.size() > 1) {
    return Usage("name one target of a pack, or none for all");
  }
  KILN_TRY(const std::vector<PackedArtifact> artifacts,
           ArtifactsIn(**pack, name.substr(colon + 1), what.options,
                       what.targets.empty() ? std::string() : what.targets[0]));
  InspectResult inspected;
  for (const PackedArtifact& artifact : artifacts) {
    std::vector<RenderedView>& shown = inspected.artifacts.emplace_back();
    for (const std::string& view : views) {
      KILN_TRY(std::string text, PackedView(artifact, view));
      shown.push_back({.view = view, .text = std::move(text), .json = {}});
    }
  }
  return inspected;
}

// What the daemon shows of a variant that it has just made.
Result<std::vector<client::InspectedView>> RemoteViews(const FetchedVariant& variant,
                                                       const Views& views) {
  Views remote;
  std::ranges::copy_if(views, std::back_inserter(remote), IsRemote);
  if (remote.empty()) {
    return std::vector<client::InspectedView>();
  }
  return variant.connected.client->Inspect(
      // The daemon makes these views, because it has the program and the translators. The variant
      // is in its cache by now.
      client::Client::InspectVariant{.program = variant.program, .options = variant.asked_options},
      remote);
}

Result<InspectResult> InspectVariant(const Global& global, const VariantArguments& what,
                                     const Views& wanted) {
  KILN_TRY(const FetchedVariant variant, FetchVariant(global, what));
  const Views views = wanted.empty() ? Views{"stats", "meta", "options"} : wanted;
  InspectResult inspected;
  for (const client::Outcome& outcome : variant.fetched.outcomes) {
    const size_t errors = ShowDiagnostics(global, outcome.diagnostics,
                                          client::TextsOf(variant.program), variant.program.name);
    const int exit = OutcomeExit(global, variant.program.name, outcome, errors);
    inspected.exit = WorseExit(inspected.exit, exit);
    if (exit != kSuccess) {
      continue;
    }
    // One question for all targets and views of the variant.
    KILN_TRY(const std::vector<client::InspectedView> remote, RemoteViews(variant, views));
    for (const client::Artifact& artifact : outcome.artifacts) {
      std::vector<RenderedView>& shown = inspected.artifacts.emplace_back();
      for (const std::string& view : views) {
        RenderedView& added = shown.emplace_back();
        added.view = view;
        if (!IsRemote(view)) {
          KILN_TRY(added.text, ViewHere(view, variant, artifact));
          continue;
        }
        for (const client::InspectedView& seen : remote) {
          added.text += seen.view == view && seen.target == artifact.target ? seen.text : "";
        }
      }
    }
  }
  return inspected;
}

// A path of an artifact rather than a program or a source.
// A program of a manifest may have the name of a file; a file that is there is meant then, unless
// it is a source.
bool IsArtifact(const std::string& what) {
  std::error_code ignored;
  return what.ends_with(".spv") || what.ends_with(".meta") ||
         (!IsSourceFile(what) && std::filesystem::is_regular_file(what, ignored));
}

}  // namespace

Result<InspectResult> InspectWhat(const Global& global, const VariantArguments& what,
                                  const std::vector<std::string>& views) {
  if (what.what.size() == 1) {
    const std::string& one = what.what[0];
    // The order decides between names that look alike: a key, an entry of a pack, a file, and only
    // then a program.
    if (ParseHash128(one).has_value()) {
      return InspectKey(global, one, views);
    }
    if (one.find(kPackEntry) != std::string::npos) {
      return InspectPacked(what, views);
    }
    if (IsArtifact(one)) {
      return InspectFile(one, views);
    }
  }
  return InspectVariant(global, what, views);
}

}  // namespace kiln::cli
