// SPDX-License-Identifier: MIT
// A pack is made by the daemon of a batch and downloaded. What the daemon does not have is added
// here, by writing the pack again: formats of passes and image hints of the manifest and the warm
// list, a signature (keys never leave this command, spec/daemon 4.4), and a delta to a base that
// only this machine has.
#include "client/cli/pack/build.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cache/pack/format.h"
#include "cache/pack/unpack.h"
#include "cache/pack/write/writer.h"
#include "client/cli/add_verb.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"
#include "client/cli/pack/files.h"
#include "client/cli/pack/pass_formats.h"
#include "client/cli/pack/warm_numbers.h"
#include "client/cli/project/project.h"
#include "client/cli/session.h"
#include "compiler/base/files/file.h"
#include "compiler/base/files/new_file.h"
#include "compiler/base/files/own_folder.h"

namespace kiln::cli {
namespace {

constexpr int kMaxDepth = 8;  // of a line of a warm list

using Warm = client::Client::PackRequest::Warm;

// What a warm list asks for, and what its lines say that the daemon does not know.
struct WarmLines {
  std::vector<Warm> asked;
  std::vector<WarmHint> listed;
};

// A line of a warm list: {"program": "rock", "options": {"fog": true, "lights": 4}}, and what
// Pipelines::WriteWarmList adds: pass, times, hints. Lines are written by engines, but a file is a
// file: depth and names are checked, and each mistake is told with its line.
Result<void> AddLine(const std::string& line, const Project& project, size_t number,
                     WarmLines& lines) {
  const auto wrong = [&](std::string_view what) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("line {} of the warm list: {}", number, what),
                 .reason = "USAGE"};
  };
  bool deep = false;  // what is copied or printed recurses
  const nlohmann::json row = nlohmann::json::parse(
      line,
      [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        deep = deep || depth > kMaxDepth;
        return depth <= kMaxDepth;
      },
      false);
  if (deep) {
    return wrong(fmt::format("more than {} lists and objects within each other", kMaxDepth));
  }
  if (!row.is_object() || !row.contains("program") || !row["program"].is_string()) {
    return wrong("not like {\"program\": \"rock\", \"options\": {\"fog\": true}}");
  }
  WarmNumbers numbers(row);
  Warm warm{.program = row["program"],
            .options = {},
            .creation_us = numbers.Take("creation_us", UINT32_MAX),
            .first_use_us = numbers.Take("first_use_us", UINT32_MAX)};
  if (!numbers.wrong().empty()) {
    return wrong(numbers.wrong());
  }
  const auto declared =
      std::find_if(project.declared.begin(), project.declared.end(),
                   [&](const auto& program) { return program.first == warm.program; });
  if (declared == project.declared.end()) {
    return wrong("there is no program '" + warm.program + "'");
  }
  const nlohmann::json options = row.value("options", nlohmann::json::object());
  for (const auto& [name, value] : options.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    Result<client::Option> option = TypedOption(fmt::format("{}={}", name, text), declared->second);
    if (!option.ok()) {
      return wrong(option.error().context);
    }
    warm.options.push_back(std::move(option).value());
  }
  WarmHint listed;
  if (row.contains("pass")) {
    listed.pass = ListedPass(row["pass"]);
    if (!listed.pass) {
      return wrong(
          "its pass is not like {\"color\": [\"rgba16_float\"], \"depth\": "
          "\"d32_float\"}");
    }
  }
  Result<std::vector<pack::ImageHint>> hints =
      ListedHints(row.value("hints", nlohmann::json::array()));
  if (!hints.ok()) {
    return wrong(hints.error().context);
  }
  listed.hints = std::move(hints).value();
  lines.asked.push_back(std::move(warm));
  lines.listed.push_back(std::move(listed));
  return {};
}

// Blank lines are passed over; anything else is a row.
Result<WarmLines> ReadWarmList(const std::string& file, const Project& project) {
  WarmLines lines;
  if (file.empty()) {
    return lines;
  }
  KILN_TRY(const std::string text, ReadFile(file));
  size_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      KILN_TRY_VOID(AddLine(line, project, number, lines));
    }
  }
  return lines;
}

// Lines keep their order behind the warm variants of the manifest, whose priorities are below their
// number. Errors: as CheckWarmLines. Priorities of the manifest's warm variants come first, then
// those of the list.
Result<PackFormats> FormatsOf(const Project& project, WarmLines& lines) {
  PackFormats formats;
  KILN_TRY(formats.passes, PassesOf(project.manifest));
  for (const client::ProgramSpace& space : project.spaces) {
    formats.first_listed =
        std::max(formats.first_listed, static_cast<uint32_t>(space.variants.size()));
  }
  KILN_TRY_VOID(CheckWarmLines(lines.asked.size(), formats.first_listed));
  for (uint32_t i = 0; i < lines.asked.size(); ++i) {
    lines.asked[i].priority = formats.first_listed + i;
  }
  const auto says = [](const WarmHint& line) { return line.pass || !line.hints.empty(); };
  if (std::ranges::any_of(lines.listed, says)) {
    formats.listed = std::move(lines.listed);
  }
  return formats;
}

// The bytes of a pack of the daemon in a file beside `path` that has no name yet; nothing is left
// of a download that was cut. Errors: kDataLoss if it is longer or shorter than the daemon said.
// The daemon is not trusted with the disk: the size that it said is the size that is taken.
Result<NewFile> Download(client::Client& client, const client::BuiltPack& built,
                         const std::string& path) {
  const auto other_size = [&](std::string_view than) {
    return Error{.code = ErrorCode::kDataLoss,
                 .context = fmt::format("the daemon sends a pack that is {} than the {} bytes it "
                                        "said",
                                        than, built.size),
                 .reason = "PACK_SIZE"};
  };
  if (built.size > pack::kMaxFileBytes) {
    return Error{
        .code = ErrorCode::kDataLoss,
        .context = fmt::format("the daemon offers a pack of {} bytes; packs have at most {}",
                               built.size, pack::kMaxFileBytes),
        .reason = "PACK_SIZE"};
  }
  if (const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      !folder.empty()) {
    (void)MakeFolders(folder.string(), 0755);  // what follows says what is wrong
  }
  KILN_TRY(NewFile file, NewFile::CreateDurable(path));
  KILN_TRY_VOID(client.ReadPack(built.id, [&](ByteView bytes) -> Result<void> {
    return bytes.size() > built.size - file.size() ? Result<void>(other_size("longer"))
                                                   : file.Write(bytes);
  }));
  return file.size() == built.size ? Result<NewFile>(std::move(file))
                                   : Result<NewFile>(other_size("shorter"));
}

// Writes a pack again: with formats of passes, with a signature, or as a delta of a base that the
// daemon did not have. All content is read through the checks of the reader, so what is signed was
// verified.
Result<pack::WriteReport> Rewrite(const std::string& from, const pack::Pack* chain,
                                  const pack::Pack* base, const project::Manifest& manifest,
                                  const PackFormats& formats, const PackBuildArguments& arguments) {
  pack::ReadOptions options;
  if (chain != nullptr) {
    // The chain is the caller's; the reader gets a pointer that owns nothing.
    options.base = std::shared_ptr<const pack::Pack>(std::shared_ptr<void>(), chain);
  }
  KILN_TRY(const std::unique_ptr<pack::Pack> pack, pack::Pack::Open(from, options));
  KILN_TRY(pack::Contents contents, pack::ContentsOf(*pack));
  AddFormats(manifest, formats, contents);
  KILN_TRY(const std::optional<pack::SigningKey> key, KeyOf(arguments.sign));
  return pack::WritePack(contents, pack::BlobsOf(*pack),
                         {.mode = arguments.small ? pack::Mode::kSmall : pack::Mode::kFast,
                          .base = base,
                          .key = key.has_value() ? &*key : nullptr},
                         arguments.out);
}

// The pack that the daemon made, as the file that was asked for. A base that the daemon does not
// have is no obstacle: the whole pack is made there and the delta here.
Result<client::BuiltPack> BuildTo(client::Client& client, const PackBuildArguments& arguments,
                                  const project::Manifest& manifest, const PackFormats& formats,
                                  client::Client::PackRequest request) {
  std::unique_ptr<pack::Pack> base;
  if (!arguments.base.empty()) {
    KILN_TRY(base, OpenPack(arguments.base));
    request.base = base->id().hex();
  }
  const auto quiet = [](const client::PackProgress&) {};
  Result<client::BuiltPack> built = client.BuildPack(request, quiet);
  const bool base_unknown = !built.ok() && built.error().reason == "UNKNOWN_PACK";
  if (base_unknown && base != nullptr) {
    request.base.clear();
    built = client.BuildPack(request, quiet);
  }
  if (!built.ok()) {
    return built.error();
  }
  KILN_TRY(NewFile plain, Download(client, *built, arguments.out));
  const bool delta_here = base != nullptr && base_unknown;
  // Nothing to add: the bytes of the daemon are the file.
  if (!delta_here && arguments.sign.empty() && formats.empty()) {
    KILN_TRY_VOID(plain.Publish());
    return built;
  }
  const Result<pack::WriteReport> written =
      Rewrite(plain.ReadableAs(), base_unknown ? nullptr : base.get(), base.get(), manifest,
              formats, arguments);
  if (!written.ok()) {
    return written.error();
  }
  built->id = written->pack_id.hex();
  built->size = written->file_bytes;
  return built;
}

// What a pack needs beside its batch; known before the batch runs.
struct Plan {
  WarmLines warm;
  PackFormats formats;
};

// Touches only files of this machine; the daemon is not asked.
Result<Plan> PlanOf(const Project& project, const PackBuildArguments& arguments) {
  Plan plan;
  KILN_TRY(plan.warm, ReadWarmList(arguments.warm, project));
  KILN_TRY(plan.formats, FormatsOf(project, plan.warm));
  return plan;
}

Result<client::BuiltPack> Pack(client::Client& client, const Project& project, Plan plan,
                               const std::string& batch, const PackBuildArguments& arguments) {
  return BuildTo(client, arguments, project.manifest, plan.formats,
                 {.batch = batch,
                  .targets = {},
                  .small = arguments.small,
                  .base = {},
                  .pin = arguments.pin,
                  .manifest = project.manifest.digest,
                  .warm = std::move(plan.warm.asked)});
}

}  // namespace

// For commands that have a batch already.
Result<client::BuiltPack> PackBatch(client::Client& client, const Project& project,
                                    const std::string& batch, const PackBuildArguments& arguments) {
  KILN_TRY(Plan plan, PlanOf(project, arguments));
  return Pack(client, project, std::move(plan), batch, arguments);
}

// The plan is made before the batch runs, so that a mistake in the warm list costs no build.
int RunPackBuild(const Global& global, const PackBuildArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  Result<client::DaemonConnection> connected = ConnectTo(global);
  if (!connected.ok()) {
    return Fail(global, connected.error());
  }
  client::Client& client = *connected->client;
  const Result<Project> project = LoadProject(global, arguments.programs, client);
  if (!project.ok()) {
    return Fail(global, project.error());
  }
  Result<Plan> plan = PlanOf(*project, arguments);
  if (!plan.ok()) {
    return Fail(global, plan.error());
  }
  const Result<BatchOutcome> batch = RunBatch(global, *project, client, {});
  if (!batch.ok()) {
    return Fail(global, batch.error().reason == "SCOPE"
                            ? WithContext(batch.error(),
                                          "a pack is made of a batch; 'kiln fetch --on-miss fail' "
                                          "gets what is in the cache as files")
                            : batch.error());
  }
  int exit = WasInterrupted() ? int{kInterrupted} : static_cast<int>(batch->final.exit_hint);
  Counts counts;
  if (exit == kSuccess) {
    const Result<client::BuiltPack> built =
        Pack(client, *project, std::move(*plan), batch->id, arguments);
    if (!built.ok()) {
      return FailPack(global, built.error());
    }
    if (!global.json && !global.quiet) {
      Print("{}: {}, {} programs, {} artifacts, {} blobs, {} pipelines, {}\n", arguments.out,
            built->id, built->programs, built->artifacts, built->blobs, built->pipelines,
            SizeText(built->size));
    }
    counts = {{"programs", built->programs},
              {"artifacts", built->artifacts},
              {"blobs", built->blobs},
              {"pipelines", built->pipelines},
              {"bytes", built->size}};
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  NoteResult("pack build", seconds.count(), counts);
  return exit;
}

void AddPackBuild(CLI::App& pack, CommandLine& line) {
  const auto arguments = std::make_shared<PackBuildArguments>();
  CLI::App* build = AddVerb(pack, line,
                            {"build", "One file with every result of the manifest",
                             "  kiln pack build --out demo.kpack\n"
                             "  kiln pack build 'rock/*' --out new.kpack --base old.kpack"},
                            [&line, arguments] { return RunPackBuild(line.global, *arguments); });
  build->add_option("programs", arguments->programs, "Names or globs; default: all");
  build->add_option("--out", arguments->out, "File to write")->required();
  CLI::Option* fast = build->add_flag("--fast", arguments->fast, "Quick to read; the default");
  build->add_flag("--small", arguments->small, "Small to download")->excludes(fast);
  build->add_option("--base", arguments->base, "Write only what this pack lacks");
  build->add_option("--sign", arguments->sign, "File of a private key");
  build->add_option("--warm", arguments->warm,
                    "File with what to build first, one JSON row per line");
  build->add_option("--pin", arguments->pin, "Keep the results from removal under this name");
}

}  // namespace kiln::cli
