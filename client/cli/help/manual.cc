// SPDX-License-Identifier: MIT
// `kiln manual` writes all manual pages (spec/cli 10.2). It is hidden from the help, since only
// packaging runs it.
#include "client/cli/help/manual.h"

#include <map>
#include <string>
#include <string_view>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/help/help_page.h"
#include "client/cli/help/version.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

struct ManifestKey {
  std::string_view key;
  std::string_view type;
  std::string_view meaning;
};

// spec/daemon 6.2 Columns: the key as it is written in kiln.toml, its type with the default, and
// what it means. Keys that are always explained together share a row. The reader of the manifest
// (client/project/manifest.cc) decides what is allowed; this table only tells it.
constexpr auto kManifestKeys = std::to_array<ManifestKey>({
    {"project.manifest", "integer, required", "version of the schema; 1"},
    {"project.name", "text", "what the project is called in reports and explanations"},
    {"project.root", "path, \".\"", "root of the paths of sources"},
    {"defaults.pipeline, .targets, .options, .entry_points, .use", "", "for every program"},
    {"target.NAME.form", "spirv, wgsl, meta, msl, glsl or hlsl", "what is made"},
    {"target.NAME.env", "vulkan1.0 to vulkan1.4", "environment"},
    {"target.NAME.version, .debug, .recipes, .settings", "",
     "version of the form; none, names or full; passes; modules = per_entry or combined"},
    {"hlsl, program[].hlsl", "table", "sources in HLSL: settings, defines, include_roots, include"},
    {"program[].macros", "map of macro to list of values",
     "sources in HLSL: macros that are options; false: not defined"},
    {"axes.SET", "map of option to \"*\" or list", "axes that programs share by use"},
    {"program[].name", "text, unique", "how it is called on the command line"},
    {"program[].sources", "list of paths", "in link order, below the root"},
    {"program[].entry_points", "map of stage to function", "vertex, fragment, compute"},
    {"program[].pipeline, .targets", "text, list", "over the defaults"},
    {"program[].options", "map of option to value", "fixed; not an axis"},
    {"program[].use, .axes", "list, map", "axes; a later one replaces an earlier one of its name"},
    {"program[].exclude, .require", "list of expressions",
     "drop where true; keep only where all are true"},
    {"program[].variants", "list of {options, warm}",
     "explicit ones beside the axes; warm ones are built first"},
    {"program[].only_explicit", "bool, false", "build the list only"},
    {"program[].tags", "list", "for filters and passes"},
    {"program[].pass", "name of a pass", "whose formats its pipelines have; nothing else of it"},
    {"pass[].name, .sources, .options, .variants, .disabled_stages, .requires", "",
     "what each material that lists the pass is linked with"},
    {"pass[].color, .depth, .samples, .view_mask", "",
     "formats that pipelines draw into, like rgba16_float, swapchain and d32_float; packs have "
     "them"},
    {"material[].name, .sources, .options, .entry_points, .passes, .use, .axes, .exclude, .tags",
     "", "makes a program of each of its passes"},
});

// The only page that is no verb's. Those of the daemon, kilnd(8) and kilnd.toml(5), are generated
// by kilnd from its own tables.
HelpPage ManifestPage() {
  HelpPage page{.name = "kiln.toml",
                .section = 5,
                .what = "manifest of a project: programs and variants",
                .sections = {}};
  page.sections.push_back(
      {.title = "DESCRIPTION",
       .text = "The nearest kiln.toml from the working directory upwards says which programs there "
               "are and in which variants. Unknown keys are errors. Environment variables are "
               "never substituted.",
       .items = {},
       .verbatim = {}});
  PageSection keys{.title = "KEYS", .text = {}, .items = {}, .verbatim = {}};
  for (const ManifestKey& row : kManifestKeys) {
    keys.items.push_back({.term = std::string(row.key),
                          .text = std::string(row.type) + (row.type.empty() ? "" : ": ") +
                                  std::string(row.meaning)});
  }
  page.sections.push_back(std::move(keys));
  page.sections.push_back(
      {.title = "SEE ALSO", .text = "kiln(1), kiln-init(1)", .items = {}, .verbatim = {}});
  return page;
}

void AddVerbs(const CLI::App& app, const std::string& version,
              std::map<std::string, std::string>& pages) {
  // Verbs nest two deep, which bounds the recursion.
  for (const CLI::App* verb : ShownVerbs(app)) {
    const HelpPage page = VerbPage(*verb);
    pages[page.name + ".1"] = Troff(page, version);
    AddVerbs(*verb, version, pages);
  }
}

// File name -> text: kiln.1, kiln-VERB.1 and kiln-VERB-VERB.1 for every verb that is shown,
// kiln.toml.5.
std::map<std::string, std::string> ManualPages(const CLI::App& app, const std::string& version) {
  std::map<std::string, std::string> pages;
  pages["kiln.1"] = Troff(MainPage(app), version);
  pages["kiln.toml.5"] = Troff(ManifestPage(), version);
  AddVerbs(app, version, pages);
  return pages;
}

}  // namespace

void AddManual(CLI::App& app, CommandLine& line) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* verb =
      AddVerb(app, line, {"manual", "Write the manual pages", "  kiln manual --out man"},
              [&app, &line, folder] {
                // Run when packages are made. The folder must be there.
                for (const auto& [name, text] : ManualPages(app, VersionLine())) {
                  const Result<void> written = WriteFile(*folder + "/" + name, AsBytes(text));
                  if (!written.ok()) {
                    return Fail(line.global, written.error());
                  }
                }
                return int{kSuccess};
              });
  verb->group("")->add_option("--out", *folder, "Folder")->required();
}

}  // namespace kiln::cli
