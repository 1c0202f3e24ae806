// SPDX-License-Identifier: MIT
// `kiln init` (spec/cli 6.12): writes a first kiln.toml from the sources that are there. What is a
// program is guessed from the text of the sources alone (project::MakeScaffold), so the verb works
// without a daemon and on sources with errors.
#include "client/cli/project/init.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/output/shell_word.h"
#include "client/cli/project/leads_out.h"
#include "client/cli/project/project.h"
#include "client/project/limits.h"
#include "client/project/scaffold.h"
#include "compiler/base/files/file.h"
#include "compiler/base/printable.h"
#include "compiler/base/text/logical_path.h"

namespace kiln::cli {
namespace {

struct InitArguments {
  std::vector<std::string> from;  // sources; none: all below the folder
  bool force = false;             // replace a manifest
};

namespace fs = std::filesystem;

constexpr size_t kMostNamed = 8;         // of sources that are in no program
constexpr size_t kMostSources = 256;     // as many as a program may have
constexpr size_t kMostEntries = 20'000;  // of folders that are looked at
// Small enough to read in a minute, with one option, so that `kiln options` and `kiln build` have
// something to show.
constexpr char kFirstSource[] =
    R"(// A triangle-sized start: one object in one colour, with an option to try.
global tinted: flag true;

vertex_attribute_container vertex
{
    f3 position;
};

color_output_container target
{
    f4 color;
};

set_object uniform_buffer object
{
    f4x4 clip_from_object;
    f4 tint;
};

void hello_vertex (void)
{
    vertex_stage_output_position (object.clip_from_object * f4 {vertex.position, 1.0});
}

void hello_fragment (void)
{
    f4 color = f4 {1.0, 1.0, 1.0, 1.0};
    conditional (tinted) { color = object.tint; }
    target.color = color;
}
)";

Error Refused(std::string what) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(what), .reason = "USAGE"};
}

bool IsSource(const fs::path& path) { return path.extension() == ".rpl"; }

// Sources below a folder, relative to it; hidden folders are left out. Errors: kInvalidArgument if
// there are too many.
Result<std::vector<std::string>> SourcesBelow(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  size_t seen = 0;
  for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                              error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    // Hidden folders hold what tools keep, with copies of sources among it.
    if (entry->path().filename().string().starts_with(".")) {
      entry.disable_recursion_pending();
    } else if (IsSource(entry->path()) && entry->is_regular_file(error)) {
      paths.push_back(entry->path().lexically_relative(folder).generic_string());
    }
    // Called in a home folder by mistake it must end at once.
    if (entry.depth() > project::kMaxDepth || ++seen > kMostEntries ||
        paths.size() > kMostSources) {
      return Refused(fmt::format(
          "'{}' holds too much to look through; name the sources with --from", folder.string()));
    }
  }
  std::ranges::sort(paths);
  return paths;
}

// The order of the words does not matter: what is first in the manifest follows from the names.
Result<std::vector<std::string>> SourcesNamed(const fs::path& folder,
                                              const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    const std::string path = fs::absolute(file).lexically_relative(folder).generic_string();
    // A manifest names sources below its folder only (spec/daemon 11.6).
    if (path.empty() || LeadsOut(path)) {
      return Refused(
          fmt::format("'{}' is not below '{}', where kiln.toml goes", file, folder.string()));
    }
    paths.push_back(path);
  }
  std::ranges::sort(paths);
  return paths;
}

struct NewProject {
  project::Scaffold scaffold;
  size_t sources = 0;
};

// Asks nothing and starts no daemon: the sources are looked at as text (spec/cli 6.12). The
// manifest is written last. If anything fails before, no manifest is there that names sources which
// are not.
Result<NewProject> Init(const Global& global, const InitArguments& arguments) {
  const fs::path folder = fs::absolute(global.folder).lexically_normal();
  const std::string manifest = (folder / "kiln.toml").string();
  if (!arguments.force && fs::exists(manifest)) {
    return Refused(fmt::format("'{}' is there already; --force writes it anew", manifest));
  }
  KILN_TRY(std::vector<std::string> paths,
           arguments.from.empty() ? SourcesBelow(folder) : SourcesNamed(folder, arguments.from));
  // A first project gets a source to begin with. It is written before the manifest that names it.
  if (paths.empty()) {
    paths = {"hello.rpl"};
    KILN_TRY_VOID(WriteFile((folder / paths[0]).string(), AsBytes(kFirstSource)));
  }
  std::vector<project::SourceText> sources;
  for (const std::string& path : paths) {
    if (!IsLogicalPath(path)) {
      return Refused(
          fmt::format("kiln.toml cannot name '{}': paths are at most 1,024 bytes of "
                      "characters that are seen, without '\\'; rename it, or name the "
                      "sources with --from",
                      Printable(path)));
    }
    KILN_TRY(client::Source source, ReadSource((folder / path).string(), path));
    sources.push_back({.path = path, .text = std::move(source.text)});
  }
  // A path with a slash at its end has an empty last part.
  const std::string name =
      folder.has_filename() ? folder.filename().string() : folder.parent_path().filename().string();
  NewProject written{.scaffold = project::MakeScaffold(name, sources), .sources = sources.size()};
  KILN_TRY_VOID(WriteFile(manifest, AsBytes(written.scaffold.manifest)));
  return written;
}

std::string Counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : what.ends_with("s") ? "es" : "s");
}

// The time is part of the result line of JSON (spec/cli 7.1).
int RunInit(const Global& global, const InitArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const Result<NewProject> written = Init(global, arguments);
  if (!written.ok()) {
    return Fail(global, written.error());
  }
  const project::Scaffold& scaffold = written->scaffold;
  if (!global.json) {
    Print("wrote kiln.toml: {} from {}, {}, {}\n", Counted(scaffold.programs, "program"),
          Counted(written->sources, "source"), Counted(scaffold.options, "option"),
          Counted(scaffold.passes, "pass"));
    // Sources without an entry point are told, not guessed into programs: a wrong manifest costs
    // more than a line that is added by hand.
    if (!scaffold.unused.empty()) {
      Print("in no program: {}{}; passes that materials share are [[pass]] in kiln.toml\n",
            fmt::format("{}", fmt::join(std::span(scaffold.unused)
                                            .first(std::min(scaffold.unused.size(), kMostNamed)),
                                        ", ")),
            scaffold.unused.size() <= kMostNamed
                ? ""
                : fmt::format(" and {} more", scaffold.unused.size() - kMostNamed));
    }
    Print("{}", Lines{scaffold.first.empty()
                          ? "no function looks like an entry point; add a [[program]] by hand\n"
                          : fmt::format("next: kiln options {}    kiln build\n",
                                        ShellWord(scaffold.first))});
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::vector<std::pair<std::string, uint64_t>> counts{{"programs", scaffold.programs},
                                                             {"sources", written->sources},
                                                             {"options", scaffold.options},
                                                             {"passes", scaffold.passes}};
  NoteResult("init", seconds.count(), counts);
  return kSuccess;
}

}  // namespace

void AddInit(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<InitArguments>();
  CLI::App* verb = AddVerb(app, line,
                           {"init", "Write kiln.toml from the .rpl files found",
                            "  kiln init\n  kiln init --from shaders/rock.rpl shaders/pass.rpl"},
                           [&line, arguments] { return RunInit(line.global, *arguments); });
  verb->add_option("--from", arguments->from, "These sources instead of all below the folder");
  verb->add_flag("--force", arguments->force, "Replace a kiln.toml that is there");
}

}  // namespace kiln::cli
