// SPDX-License-Identifier: MIT
#include "client/cli/batch/fetch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/exit_order.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "client/cli/pack/build.h"
#include "client/cli/pack/files.h"
#include "client/cli/project/mistakes.h"
#include "client/cli/session.h"
#include "compiler/base/digest.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

// A call lists its variants one by one. Five hundred keep a message far below its limit, and the
// root that each call returns joins the calls together.
constexpr size_t kVariantsPerCall = 500;
constexpr uint32_t kRowsPerPage = 1'000;
constexpr size_t kMostVariants = 100'000;  // asked for one by one

Error Usage(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

// What has arrived; content goes to the folder as it comes.
struct FetchedContent {
  std::string folder;  // empty: nothing is kept
  std::vector<client::Outcome> outcomes;
  client::FetchDone done;  // sums, and the last root
  int exit = kSuccess;
  std::set<Digest> sound;  // files of the folder that are what their names say

  client::Client::FetchHandlers Handlers() {
    return {.on_outcome = [this](const client::Outcome& outcome) { outcomes.push_back(outcome); },
            .on_blob = [this](const client::FetchedBlob& blob) -> Result<void> {
              // Somebody else keeps the results, or nobody does.
              if (folder.empty()) {
                return {};
              }
              sound.insert(blob.digest);  // the client has verified it
              return WriteFileBeneath(folder, NameOf(blob.digest), blob.bytes);
            }};
  }
  static std::string NameOf(const Digest& digest) { return "blobs/" + digest.id.hex(); }
  void Add(const client::FetchDone& call) {
    done.outcomes += call.outcomes;
    done.skipped += call.skipped;
    done.failed += call.failed;
    done.blobs_sent += call.blobs_sent;
    done.bytes_sent += call.bytes_sent;
    // The root names everything that this client has after the call. The next call sends it instead
    // of a list of digests.
    done.root = call.root;
  }
};

// A file that leads from results to their content.
Result<void> WriteIndex(const FetchedContent& arrived) {
  nlohmann::ordered_json index = nlohmann::ordered_json::array();
  std::set<std::string> listed;
  for (const client::Outcome& outcome : arrived.outcomes) {
    for (const client::Artifact& artifact : outcome.artifacts) {
      // Many variants share one result (spec/cache 3.1), which has one row.
      if (listed.insert(artifact.target + " " + artifact.signature).second) {
        index.push_back(IndexRow(artifact));
      }
    }
  }
  return WriteFileBeneath(arrived.folder, "index.json", AsBytes(index.dump(1)));
}

// Whether the folder has this content, and not something else under its name: what was left there
// by an earlier fetch may have been changed or cut off since. Reads each file once.
bool HasSound(FetchedContent& arrived, const Digest& digest) {
  if (arrived.sound.contains(digest)) {
    return true;
  }
  const Result<std::string> text =
      ReadFileBeneath(arrived.folder, FetchedContent::NameOf(digest), digest.size);
  if (!text.ok() || DigestOf(*text) != digest) {
    return false;
  }
  arrived.sound.insert(digest);
  return true;
}

// Whether all content that results name is in the folder.
bool IsWhole(FetchedContent& arrived) {
  for (const client::Outcome& outcome : arrived.outcomes) {
    for (const client::Artifact& artifact : outcome.artifacts) {
      const bool code = std::ranges::all_of(artifact.code, [&](const client::StageCode& stage) {
        return HasSound(arrived, stage.digest);
      });
      if (!code || !HasSound(arrived, artifact.metadata)) {
        return false;
      }
    }
  }
  return true;
}

// Leaves the variants that the manifest marks as warm. Errors: kNotFound if it marks none.
Result<void> KeepWarm(Project& project) {
  std::vector<LoadedProgram> programs;
  std::vector<client::ProgramSpace> spaces;
  for (size_t i = 0; i < project.spaces.size(); ++i) {
    client::ProgramSpace space = project.spaces[i];
    space.variants.clear();
    // `warm` runs along the explicit variants of the manifest: only these can be marked.
    for (size_t v = 0; v < project.spaces[i].variants.size(); ++v) {
      if (project.spaces[i].warm[v]) {
        space.variants.push_back(project.spaces[i].variants[v]);
      }
    }
    space.warm.assign(space.variants.size(), true);
    space.variant_targets.assign(space.variants.size(), {});
    space.only_explicit = true;
    if (!space.variants.empty()) {
      programs.push_back(project.programs[i]);
      spaces.push_back(std::move(space));
    }
  }
  if (spaces.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = fmt::format("'{}' marks no variant of these programs with warm = true",
                                        project.manifest.path),
                 .reason = "NO_WARM_VARIANT"};
  }
  project.programs = std::move(programs);
  project.spaces = std::move(spaces);
  return {};
}

using Variants = std::vector<std::vector<client::Option>>;

// All of a space. Errors: kResourceExhausted if they are too many to be named one by one.
Result<Variants> VariantsOf(client::Client& client, const client::ProgramSpace& space) {
  Variants variants = space.variants;
  if (!space.only_explicit) {
    KILN_TRY_VOID(client.EachPageOfVariants(
        space, {}, kRowsPerPage, [&](std::span<const client::VariantRow> rows) {
          for (const client::VariantRow& row : rows) {
            variants.push_back(row.options);
          }
          // Listing stops one page behind the bound: that there are too many is all that must be
          // known.
          return variants.size() <= kMostVariants ? client::Client::More::kWanted
                                                  : client::Client::More::kEnough;
        }));
  }
  if (variants.size() > kMostVariants) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = fmt::format(
                     "'{}' has more than {} variants, which are asked for one by one unless misses "
                     "are compiled; use --on-miss compile or --warm",
                     space.program.name, kMostVariants),
                 .reason = "TOO_MANY_VARIANTS"};
  }
  return variants;
}

// Fetches known results only; nothing is compiled.
Result<void> FetchKnown(const Global& global, client::Client& client, const Project& project,
                        const std::string& root, FetchedContent& arrived) {
  std::string have = root;
  Mistakes mistakes(global);
  for (const client::ProgramSpace& space : project.spaces) {
    KILN_TRY(const Variants variants, VariantsOf(client, space));
    for (size_t at = 0; at < variants.size(); at += kVariantsPerCall) {
      const size_t count = std::min(kVariantsPerCall, variants.size() - at);
      // Outcomes of this call begin here; those of earlier calls have been shown.
      const size_t before = arrived.outcomes.size();
      KILN_TRY(client::FetchDone done,
               client.FetchVariants(
                   project.manifest.name, space.program, std::span(variants).subspan(at, count),
                   {.have = {}, .have_root = have, .compile = false}, arrived.Handlers()));
      size_t answered = 0;
      for (size_t i = before; i < arrived.outcomes.size(); ++i) {
        const client::Outcome& outcome = arrived.outcomes[i];
        const size_t errors =
            mistakes.Add(space.program.name, outcome.diagnostics, space.program.sources).errors;
        if (errors == 0 && outcome.kind == client::OutcomeKind::kUnknown) {
          continue;  // a miss
        }
        ++answered;
        arrived.exit =
            WorseExit(arrived.exit, OutcomeExit(global, space.program.name, outcome, errors));
      }
      // What did not come is missing, whatever the daemon counts.
      done.outcomes = std::max<uint64_t>(done.outcomes, count);
      done.skipped = std::max<uint64_t>(done.skipped, count - std::min(answered, count));
      arrived.Add(done);
      have = done.root;
    }
  }
  mistakes.End();
  return {};
}

// Everything as a batch, which compiles what is missing.
Result<void> FetchAll(const Global& global, client::Client& client, const Project& project,
                      const FetchArguments& arguments, const std::string& root,
                      FetchedContent& arrived) {
  // A miss is compiled as part of a batch and not one by one, because only a batch knows which
  // variants share a result before it builds them.
  KILN_TRY(const BatchOutcome batch, RunBatch(global, project, client, {}));
  arrived.exit = WasInterrupted() ? int{kInterrupted} : static_cast<int>(batch.final.exit_hint);
  if (WasInterrupted()) {
    return {};
  }
  // The daemon writes a pack by itself from the results of the batch, so for a pack nothing is
  // fetched result by result.
  if (IsPackFile(arguments.out)) {
    if (arrived.exit != kSuccess) {
      return {};  // a pack is whole
    }
    PackBuildArguments pack;
    pack.out = arguments.out;
    KILN_TRY(const client::BuiltPack built, PackBatch(client, project, batch.id, pack));
    arrived.done.outcomes = built.artifacts;
    arrived.done.blobs_sent = built.blobs;
    arrived.done.bytes_sent = built.size;
    return {};
  }
  KILN_TRY(const client::FetchDone done,
           client.FetchBatch(batch.id, {.have = {}, .have_root = root}, arrived.Handlers()));
  arrived.Add(done);
  return {};
}

Result<void> FetchOnce(const Global& global, client::Client& client, const Project& project,
                       const FetchArguments& arguments, const std::string& root,
                       FetchedContent& arrived) {
  return arguments.on_miss == "compile"
             ? FetchAll(global, client, project, arguments, root, arrived)
             : FetchKnown(global, client, project, root, arrived);
}

// Flags that contradict each other, before a daemon is asked.
Result<void> Check(const FetchArguments& arguments) {
  // Exactly one of the two.
  if (arguments.programs.empty() == !arguments.all) {
    return Usage("name programs, or pass --all");
  }
  if (IsPackFile(arguments.out) && !arguments.have.empty()) {
    return Usage("--have is for a folder: a pack is written whole");
  }
  if (IsPackFile(arguments.out) && arguments.on_miss == "skip") {
    return Usage("a pack has all of its results; --on-miss skip is for a folder");
  }
  return {};
}

// The root that the file of --have holds; a file that is not there yet holds none.
Result<std::string> RootIn(const std::string& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) {
    return std::string();
  }
  KILN_TRY(std::string text, ReadFile(file));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  if (!ParseHash128(text).has_value()) {
    return Usage(fmt::format("'{}' holds no root of a fetch: 32 hex digits", file));
  }
  return text;
}

Result<void> Write(const FetchArguments& arguments, const FetchedContent& arrived) {
  if (IsPackFile(arguments.out) || arguments.out.empty()) {
    return {};
  }
  // The index and the root are written last. If the command dies before, the files are there under
  // their digests and the old root still describes what is needed, so the next fetch is whole
  // again.
  KILN_TRY_VOID(WriteIndex(arrived));
  return arguments.have.empty() || arrived.done.root.empty()
             ? Result<void>()
             : WriteFile(arguments.have, AsBytes(arrived.done.root + "\n"));
}

Result<FetchedContent> Fetch(const Global& global, const FetchArguments& arguments) {
  KILN_TRY_VOID(Check(arguments));
  KILN_TRY(const std::string root, RootIn(arguments.have));
  KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
  client::Client& client = *connected.client;
  KILN_TRY(Project project, LoadProject(global, arguments.programs, client));
  if (arguments.warm) {
    KILN_TRY_VOID(KeepWarm(project));
  }
  FetchedContent arrived;
  arrived.folder = IsPackFile(arguments.out) ? std::string() : arguments.out;
  KILN_TRY_VOID(FetchOnce(global, client, project, arguments, root, arrived));
  // The daemon left out what the root says that this client has. The folder is the proof: if
  // something is missing there, all of it is fetched again without a root.
  if (!root.empty() && !arrived.folder.empty() && !IsWhole(arrived)) {
    arrived.outcomes.clear();  // the root is of another folder, or files are gone or changed
    arrived.done = {};
    KILN_TRY_VOID(FetchOnce(global, client, project, arguments, {}, arrived));
  }
  // The caller may only read, so nothing was compiled. What is missing is told as the refusal of
  // the right to compile it.
  if (arguments.may_not_compile.has_value() && arrived.done.skipped != 0) {
    return WithContext(*arguments.may_not_compile,
                       fmt::format("{} of {} variants are not in the cache and would have to be "
                                   "compiled and stored",
                                   arrived.done.skipped, arrived.done.outcomes));
  }
  if (arguments.on_miss == "fail" && arrived.done.skipped != 0) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = fmt::format("{} of {} variants are not in the cache; kiln build makes "
                                        "them",
                                        arrived.done.skipped, arrived.done.outcomes),
                 .reason = "NOT_BUILT"};
  }
  // A pack is made of a batch. The fetch above has shown that nothing would be compiled.
  if (arguments.on_miss == "fail" && IsPackFile(arguments.out) && arrived.exit == kSuccess) {
    KILN_TRY_VOID(FetchAll(global, client, project, arguments, {}, arrived));  // all is known
  }
  if (arrived.exit != kInterrupted) {
    KILN_TRY_VOID(Write(arguments, arrived));
  }
  return arrived;
}

}  // namespace

int RunFetch(const Global& global, const FetchArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const Result<FetchedContent> arrived = Fetch(global, arguments);
  if (!arrived.ok()) {
    return Fail(global, arrived.error());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const client::FetchDone& done = arrived->done;
  const auto megabytes = static_cast<double>(done.bytes_sent) / 1e6;
  const bool written = !IsPackFile(arguments.out) || arrived->exit == kSuccess;
  if (written && !global.json && !global.quiet) {
    Print("fetched {} results, {} blobs, {:.2f} MB in {:.2f} s ({:.1f} MB/s){}{}\n",
          done.outcomes - done.skipped, done.blobs_sent, megabytes, took.count(),
          megabytes / std::max(took.count(), 1e-9), arguments.out.empty() ? "" : " to ",
          arguments.out);
    if (done.skipped != 0) {
      Print("skipped {} variants that are not in the cache\n", done.skipped);
    }
  }
  const std::vector<std::pair<std::string, uint64_t>> counts{
      {"results", done.outcomes - done.skipped},
      {"blobs", done.blobs_sent},
      {"bytes", done.bytes_sent},
      {"skipped", done.skipped}};
  NoteResult("fetch", took.count(), counts);
  return arrived->exit;
}

void AddFetch(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<FetchArguments>();
  CLI::App* fetch = AddVerb(app, line,
                            {"fetch", "Download results, as an engine would",
                             "  kiln fetch --all --out run/shaders\n"
                             "  kiln fetch 'rock/*' --warm --have run/root --out run/shaders"},
                            [&line, arguments] { return RunFetch(line.global, *arguments); });
  fetch->add_option("programs", arguments->programs, "Names or globs");
  fetch->add_flag("--all", arguments->all, "Every program");
  fetch->add_flag("--warm", arguments->warm,
                  "Only variants that the manifest marks with warm = true");
  fetch->add_option("--have", arguments->have,
                    "File with the root of the last fetch, of which nothing is sent again; "
                    "rewritten");
  fetch
      ->add_option("--on-miss", arguments->on_miss, "What is not in the cache; default: compile it")
      ->check(CLI::IsMember({"skip", "compile", "fail"}));
  fetch->add_option("--out", arguments->out, "Folder for the results, or a file *.kpack")
      ->required();
}

}  // namespace kiln::cli
