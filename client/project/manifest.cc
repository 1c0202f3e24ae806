// SPDX-License-Identifier: MIT
// Text to Manifest in one pass over the tables of TOML: what the schema says of each key
// (spec/daemon 6.2) is one line of the function for its table. Defaults are read before programs
// and put into each of them, so nobody looks for a default later. What only the daemon can judge,
// options, expressions and spaces, is taken as it is written.
#include "client/project/manifest.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "client/project/compose.h"
#include "client/project/hlsl_table.h"
#include "client/project/inheritance.h"
#include "client/project/limits.h"
#include "client/project/table_reader.h"
#include "compiler/base/printable.h"
#include "compiler/base/text/closest_name.h"
#include "compiler/base/text/file_name.h"
#include "compiler/base/text/logical_path.h"
#include "compiler/base/text/toml_bounds.h"

namespace kiln::project {
namespace {

const std::vector<std::string_view> kProgramKeys{
    "name", "sources",  "entry_points", "pipeline", "targets",  "options",
    "use",  "axes",     "exclude",      "require",  "variants", "only_explicit",
    "tags", "priority", "budget",       "pass",     "hlsl",     "macros"};

// The names are those of the protocol (spec/daemon 3); a target that the daemon does not know would
// be told without a place in the file.
ManifestTarget ReadTarget(TableReader& reader, std::string_view name, const toml::table& table) {
  reader.CheckKeys(table, fmt::format("[target.{}]", name),
                   {"form", "version", "env", "debug", "recipes", "settings"});
  ManifestTarget target{.name = std::string(name)};
  target.form = reader.Text(table, "form", "spirv");
  const std::vector<std::string_view> forms{"spirv", "wgsl", "meta", "msl", "glsl", "hlsl"};
  if (std::ranges::find(forms, target.form) == forms.end()) {
    reader.Fail(*table.get("form"),
                fmt::format("'{}' is no form: spirv, wgsl, meta, msl, glsl or hlsl", target.form));
  }
  target.version = reader.Text(table, "version", "");
  target.env = reader.Text(table, "env", "vulkan1.1");
  const std::vector<std::string_view> environments{"vulkan1.0", "vulkan1.1", "vulkan1.2",
                                                   "vulkan1.3", "vulkan1.4"};
  if (std::ranges::find(environments, target.env) == environments.end()) {
    reader.Fail(*table.get("env"), fmt::format("'{}' is not vulkan1.0 to vulkan1.4", target.env));
  }
  target.debug = reader.Text(table, "debug", "names");
  if (target.debug != "none" && target.debug != "names" && target.debug != "full") {
    reader.Fail(*table.get("debug"), fmt::format("'{}' is not none, names or full", target.debug));
  }
  target.recipes = reader.Texts(table, "recipes");
  target.settings = reader.TextMap(table, "settings");
  return target;
}

// Explicit extras of a program (spec/daemon 6.2). They are read as they stand; the daemon says what
// an option may be.
std::vector<ManifestVariant> ReadVariants(TableReader& reader, const toml::table& table) {
  std::vector<ManifestVariant> variants;
  for (const toml::table* row : reader.Tables(table, "variants")) {
    reader.CheckKeys(*row, "a variant", {"options", "targets", "warm"});
    variants.push_back({.options = reader.Options(*row, "options"),
                        .targets = reader.Texts(*row, "targets"),
                        .warm = reader.Flag(*row, "warm")});
  }
  return variants;
}

// What the program says itself goes before defaults: `insert` keeps values that are there.
ManifestProgram ReadProgram(TableReader& reader, const toml::table& table,
                            const ManifestDefaults& defaults) {
  reader.CheckKeys(table, "[[program]]", kProgramKeys);
  ManifestProgram program;
  program.place = PlaceOf(table);
  program.name = reader.Name(table, "a program");
  program.sources = reader.Sources(table);
  if (program.sources.empty()) {
    reader.Fail(table, fmt::format("program '{}' has no sources", program.name));
  }
  // All that is not said here comes from the defaults, so all of them count.
  if (!reader.MayInherit(program.place, defaults.bytes)) {
    return program;
  }
  program.entry_points =
      table.contains("entry_points") ? reader.EntryPoints(table) : defaults.entry_points;
  program.pipeline = reader.Text(table, "pipeline", defaults.pipeline);
  program.targets = table.contains("targets") ? reader.Texts(table, "targets") : defaults.targets;
  program.options = reader.Options(table, "options");
  program.options.insert(defaults.options.begin(), defaults.options.end());
  program.axes = ReadAxes(reader, table, "program '" + program.name + "'", defaults);
  program.exclude = reader.Expressions(table, "exclude");
  program.require = reader.Expressions(table, "require");
  program.variants = ReadVariants(reader, table);
  program.only_explicit = reader.Flag(table, "only_explicit");
  program.tags = reader.Texts(table, "tags");
  program.pass = reader.Text(table, "pass", "");
  program.priority = static_cast<uint32_t>(reader.Number(table, "priority", 9));
  program.hlsl = defaults.hlsl;
  if (const toml::table* hlsl = reader.Table(table, "hlsl")) {
    ReadHlsl(reader, *hlsl, "'hlsl'", program.hlsl);
  }
  ReadMacros(reader, table, program.hlsl);
  program.budget = defaults.budget;
  if (const toml::table* budget = reader.Table(table, "budget")) {
    reader.CheckKeys(*budget, "'budget'", {"results", "variants", "cpu", "output"});
    program.budget = ReadBudget(reader, *budget);
  }
  CheckSize(reader, program);
  return program;
}

// Sets of axes are read in full here and copied into the programs that use them.
ManifestDefaults ReadDefaults(TableReader& reader, const toml::table& root) {
  ManifestDefaults defaults;
  if (const toml::table* table = reader.Table(root, "defaults")) {
    reader.CheckKeys(*table, "[defaults]",
                     {"pipeline", "targets", "options", "entry_points", "use", "budget"});
    defaults.pipeline = reader.Text(*table, "pipeline", defaults.pipeline);
    defaults.targets = reader.Texts(*table, "targets");
    defaults.options = reader.Options(*table, "options");
    defaults.entry_points = reader.EntryPoints(*table);
    defaults.use = reader.Texts(*table, "use");
    if (const toml::table* budget = reader.Table(*table, "budget")) {
      reader.CheckKeys(*budget, "'budget'", {"results", "variants", "cpu", "output"});
      defaults.budget = ReadBudget(reader, *budget);
    }
  }
  if (const toml::table* hlsl = reader.Table(root, "hlsl")) {
    ReadHlsl(reader, *hlsl, "[hlsl]", defaults.hlsl);
  }
  if (const toml::table* sets = reader.Table(root, "axes")) {
    for (const auto& [name, node] : *sets) {
      if (const toml::table* set = node.as_table()) {
        defaults.axis_sets.emplace(name.str(), reader.Axes(*set));
      } else {
        reader.Fail(node, fmt::format("'axes.{}' must be a table", name.str()));
      }
    }
  }
  defaults.bytes = sizeof(ManifestProgram) + defaults.pipeline.size() + BytesOf(defaults.targets) +
                   BytesOf(defaults.options) + BytesOf(defaults.entry_points) +
                   BytesOf(defaults.use) + BytesOf(defaults.hlsl);
  return defaults;
}

// The library's exception becomes a value here.
Result<toml::table> ParseToml(std::string_view text, const std::string& path) {
  // The bounds are those of the parser's recursion and lists: it has none itself, and a manifest
  // may come from anybody (spec/daemon 6.2.2).
  if (const auto excess = FindTomlExcess(text); excess.has_value()) {
    return Error{
        .code = ErrorCode::kResourceExhausted,
        .context = fmt::format("{}:{}:{}: {}", path, excess->line, excess->column, excess->what),
        .reason = std::string(kLimitReason)};
  }
  try {
    return toml::table(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("{}:{}:{}: {}", path, error.source().begin.line,
                                        error.source().begin.column, error.description()),
                 .reason = "MANIFEST_WRONG"};
  }
}

// Names of programs are unique, and the targets that programs name are there. Outputs of a program
// lie in files of its name, so two names that become one file are refused, although they differ.
void CheckPrograms(TableReader& reader, const Manifest& manifest) {
  if (manifest.programs.size() > kMaxPrograms) {
    reader.FailAtLimit({}, "programs per manifest", kMaxPrograms, manifest.programs.size());
  }
  std::set<std::string_view> targets;
  for (const ManifestTarget& target : manifest.targets) {
    targets.insert(target.name);
  }
  const auto check_target = [&](const ManifestProgram& program, const std::string& name) {
    if (!targets.contains(name)) {
      reader.Fail(program.place, fmt::format("program '{}' names target '{}', which is not there",
                                             program.name, name));
    }
  };
  std::map<std::string, const ManifestProgram*> files;  // by what their names become
  for (const ManifestProgram& program : manifest.programs) {
    const auto [other, is_new] = files.emplace(FileNameOf(program.name), &program);
    if (!is_new && other->second->name == program.name) {
      reader.Fail(program.place, fmt::format("two programs are named '{}'; the other is in line {}",
                                             program.name, other->second->place.line));
    } else if (!is_new) {
      reader.Fail(program.place, fmt::format("programs '{}' and '{}' would have the same files",
                                             other->second->name, program.name));
    }
    for (const std::string& name : program.targets) {
      check_target(program, name);
    }
    for (const ManifestVariant& variant : program.variants) {
      for (const std::string& name : variant.targets) {
        check_target(program, name);
        if (std::ranges::find(program.targets, name) == program.targets.end()) {
          reader.Fail(program.place,
                      fmt::format("a variant of program '{}' names target '{}', which is none of "
                                  "the program",
                                  program.name, name));
        }
      }
    }
  }
}

// [project]: name, root, version of the schema.
void ReadProject(TableReader& reader, const toml::table& root, Manifest& manifest) {
  const toml::table* project = reader.Table(root, "project");
  if (project == nullptr) {
    reader.Fail(ManifestPlace{}, "[project] with manifest = 1 is missing");
    return;
  }
  // Another version of the schema would have other meanings for the same keys.
  reader.CheckKeys(*project, "[project]", {"manifest", "name", "root"});
  manifest.name = reader.PrintableText(*project, "name");
  const std::string base = reader.Text(*project, "root", ".");
  if (base != ".") {
    if (!IsLogicalPath(base)) {
      reader.Fail(*project->get("root"),
                  fmt::format("root '{}' is not a folder below that of the manifest", base));
    }
    manifest.folder = (std::filesystem::path(manifest.folder) / base).string();
  }
  if ((*project)["manifest"].value_or(int64_t{0}) != 1) {
    reader.Fail(*project, "'project.manifest' must be 1: the version of the schema");
  }
}

// The quiet time of the debounce is at most the longest gather (spec/daemon 8.2.3).
void ReadWatch(TableReader& reader, const toml::table& root, Manifest& manifest) {
  if (const toml::table* watch = reader.Table(root, "watch")) {
    reader.CheckKeys(*watch, "[watch]", {"ignore", "debounce_ms"});
    manifest.ignore = reader.Texts(*watch, "ignore");
    manifest.debounce_ms =
        static_cast<uint32_t>(reader.Number(*watch, "debounce_ms", 250, manifest.debounce_ms));
  }
}

// What a whole batch may cost, beside what each program may (spec/daemon 6.2).
void ReadWholeBudget(TableReader& reader, const toml::table& root, Manifest& manifest) {
  if (const toml::table* budget = reader.Table(root, "budget")) {
    reader.CheckKeys(*budget, "[budget]", {"results", "variants", "cpu", "output", "on_exceed"});
    manifest.budget = ReadBudget(reader, *budget);
    const std::string on_exceed = reader.Text(*budget, "on_exceed", "reject");
    if (on_exceed != "reject" && on_exceed != "warn") {
      reader.Fail(*budget->get("on_exceed"), fmt::format("'{}' is not reject or warn", on_exceed));
    }
    manifest.budget_warns = on_exceed == "warn";
  }
}

// A pack is what `kiln pack` builds; its programs are patterns over names.
void ReadPacks(TableReader& reader, const toml::table& root, Manifest& manifest) {
  for (const toml::table* table : reader.Tables(root, "pack")) {
    reader.CheckKeys(*table, "[[pack]]", {"name", "programs", "targets", "mode", "base", "sign"});
    ManifestPack pack{.name = reader.Name(*table, "a pack"),
                      .programs = reader.Texts(*table, "programs"),
                      .targets = reader.Texts(*table, "targets"),
                      .mode = reader.Text(*table, "mode", "fast"),
                      .base = reader.Text(*table, "base", ""),
                      .sign = reader.Text(*table, "sign", "")};
    if (pack.mode != "fast" && pack.mode != "small") {
      reader.Fail(*table->get("mode"), fmt::format("'{}' is not fast or small", pack.mode));
    }
    manifest.packs.push_back(std::move(pack));
  }
}

}  // namespace

// Empty where nothing is close enough to be meant.
std::string_view Closest(std::string_view word, const std::vector<std::string_view>& known) {
  return ClosestName(word).OfferAll(known).best();
}

// The size comes first, then the form of TOML, then the keys; checks that need several tables come
// last. The first mistake is returned, with its place, after everything was read: later checks may
// rest on what earlier ones found.
Result<Manifest> ReadManifest(std::string_view text, const std::string& path) {
  TableReader reader(path);
  if (text.size() > kMaxManifest) {
    reader.FailAtLimit({}, "manifest size", kMaxManifest, text.size());
    return *reader.error();
  }
  KILN_TRY(const toml::table root, ParseToml(text, path));
  reader.CheckKeys(root, "the manifest",
                   {"project", "defaults", "target", "axes", "program", "pass", "material",
                    "budget", "watch", "pack", "hlsl"});
  Manifest manifest;
  manifest.path = path;
  manifest.text = text;
  manifest.digest = DigestOf(text);
  manifest.folder = std::filesystem::path(path).parent_path().string();
  ReadProject(reader, root, manifest);
  const ManifestDefaults defaults = ReadDefaults(reader, root);
  if (const toml::table* targets = reader.Table(root, "target")) {
    for (const auto& [name, node] : *targets) {
      if (!IsTargetName(name.str())) {
        reader.Fail({.line = name.source().begin.line, .column = name.source().begin.column},
                    fmt::format("'{}' is no name of a target: {}", name.str(), kTargetNameRule));
      } else if (const toml::table* table = node.as_table()) {
        manifest.targets.push_back(ReadTarget(reader, name.str(), *table));
      } else {
        reader.Fail(node, fmt::format("'target.{}' must be a table", name.str()));
      }
    }
  }
  for (const toml::table* table : reader.Tables(root, "program")) {
    manifest.programs.push_back(ReadProgram(reader, *table, defaults));
    if (reader.error().has_value()) {
      return *reader.error();  // programs below could only repeat it
    }
  }
  // Composition needs the defaults and all passes, and adds programs behind those that are written
  // out.
  Compose(reader, root, defaults, manifest);
  CheckPassesOfPrograms(reader, root, manifest);
  ReadWatch(reader, root, manifest);
  ReadWholeBudget(reader, root, manifest);
  ReadPacks(reader, root, manifest);
  if (manifest.programs.empty()) {
    reader.Fail(ManifestPlace{}, "there is no [[program]] and no [[material]]");
  }
  CheckPrograms(reader, manifest);
  if (reader.error().has_value()) {
    return *reader.error();
  }
  return manifest;
}

// From the folder upwards, as other tools find their project. Ends at the root of the file system.
std::string FindManifest(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::path at = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (!at.has_filename()) {
    at = at.parent_path();  // "/a/." is "/a/"
  }
  for (;;) {
    const std::filesystem::path file = at / "kiln.toml";
    if (std::filesystem::is_regular_file(file, ignored)) {
      return file.string();
    }
    if (!at.has_relative_path()) {
      return {};
    }
    at = at.parent_path();
  }
}

Result<std::string> OwnManifest(const std::string& folder) {
  return OwnManifest(folder, ::geteuid());
}

// root and oneself could do anything anyway. In a folder that only its owner may write, such as a
// team's checkout, a file of another is there because the owner of the folder lets it be.
Result<std::string> OwnManifest(const std::string& folder, uint32_t user) {
  const std::string path = FindManifest(folder);
  struct stat file {};
  struct stat around {};
  if (path.empty() || ::stat(path.c_str(), &file) != 0 ||
      ::stat(std::filesystem::path(path).parent_path().c_str(), &around) != 0) {
    return path;  // who reads it says why it cannot be read
  }
  const bool foreign = file.st_uid != user && file.st_uid != 0;
  if (foreign && (around.st_mode & S_IWOTH) != 0) {
    return Error{.code = ErrorCode::kPermissionDenied,
                 .context = fmt::format(
                     "{} is a file of user {} in a folder that everybody may write; name it "
                     "with --manifest FILE if it is to be used",
                     Printable(path), file.st_uid),
                 .reason = "FOREIGN_MANIFEST"};
  }
  return path;
}

}  // namespace kiln::project
