// SPDX-License-Identifier: MIT
#include "client/cli/manual.h"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace kiln::cli {
namespace {

// Text that troff takes as it is: no control line, no escape.
std::string Plain(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    out += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    line_begins = c == '\n';
  }
  return out;
}

std::string Head(std::string_view name, int section, const std::string& version,
                 std::string_view what) {
  std::string upper(name);
  for (char& c : upper) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return fmt::format(".TH {} {} \"\" \"{}\" \"kiln\"\n.SH NAME\n{} \\- {}\n", Plain(upper), section,
                     Plain(version), Plain(name), Plain(what));
}

std::vector<const CLI::App*> ShownVerbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); });
}

std::string Options(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) {
      continue;
    }
    const std::string name = option->get_positional()
                                 ? option->get_name()
                                 : option->get_name(false, true);  // "-q,--quiet"
    const bool takes = !option->get_positional() && option->get_expected_max() > 0;
    const std::string type = takes ? " " + option->get_type_name() : std::string();
    text += fmt::format(".TP\n.B {}\n{}{}\n", Plain(name + type), Plain(option->get_description()),
                        option->get_envname().empty()
                            ? std::string()
                            : fmt::format(" (environment: {})", Plain(option->get_envname())));
  }
  return text;
}

// A verb, and the verbs below it, in one page.
std::string VerbPage(const CLI::App& verb, const std::string& version) {
  const std::string name = "kiln-" + verb.get_name();
  std::string text = Head(name, 1, version, verb.get_description());
  text += ".SH SYNOPSIS\n";
  const std::vector<const CLI::App*> below = ShownVerbs(verb);
  if (below.empty()) {
    text += fmt::format(".B kiln {}\n[flags] [words]\n", Plain(verb.get_name()));
  }
  for (const CLI::App* sub : below) {
    text += fmt::format(".B kiln {} {}\n[flags] [words]\n.br\n", Plain(verb.get_name()),
                        Plain(sub->get_name()));
  }
  text += ".SH OPTIONS\n" + Options(verb);
  for (const CLI::App* sub : below) {
    text += fmt::format(".SS {}\n{}\n", Plain(sub->get_name()), Plain(sub->get_description()));
    text += Options(*sub);
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", Plain(sub->get_footer()));
  }
  if (below.empty()) {
    text += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", Plain(verb.get_footer()));
  }
  return text + ".SH SEE ALSO\n.BR kiln (1),\n.BR kilnd (8),\n.BR kiln.toml (5)\n";
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kExits = {
    {{"0", "success; warnings are allowed"},
     {"1", "wrong sources: errors in shaders"},
     {"2", "usage, manifest or configuration error"},
     {"3", "not found: program, variant, file, pin, batch"},
     {"4", "daemon, upstream or device unreachable"},
     {"5", "limit or budget exceeded"},
     {"6", "deadline exceeded or cancelled by the server"},
     {"7", "integrity: damage found, nondeterminism, bad signature"},
     {"8", "partial: some results are missing for other reasons than wrong sources"},
     {"9", "not permitted: authentication or scope"},
     {"70", "internal error"},
     {"130", "interrupted"},
     {"141", "the reader of the output went away"},
     {"143", "terminated"}}};

std::string MainPage(const CLI::App& app, const std::string& version) {
  std::string text =
      Head("kiln", 1, version, "shader sources into everything an engine draws with");
  text += ".SH SYNOPSIS\n.B kiln\n[flags]\n.I verb\n[flags] [words]\n.SH VERBS\n";
  for (const CLI::App* verb : ShownVerbs(app)) {
    text += fmt::format(".TP\n.BR kiln\\-{} (1)\n{}\n", Plain(verb->get_name()),
                        Plain(verb->get_description()));
  }
  text += ".SH OPTIONS\nOf every verb, before or behind it.\n" + Options(app);
  text += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExits) {
    text += fmt::format(".TP\n.B {}\n{}\n", code, Plain(meaning));
  }
  return text + ".SH SEE ALSO\n.BR kilnd (8),\n.BR kiln.toml (5),\n.BR kilnd.toml (5)\n";
}

struct ManifestKey {
  std::string_view key;
  std::string_view type;
  std::string_view meaning;
};

// daemon §6.2
constexpr auto kManifestKeys = std::to_array<ManifestKey>({
    {"project.manifest", "integer, required", "version of the schema; 1"},
    {"project.name", "text", "what the project is called in reports and explanations"},
    {"project.root", "path, \".\"", "root of the paths of sources"},
    {"defaults.pipeline, .targets, .options, .entry_points, .use", "", "for every program"},
    {"target.NAME.form", "spirv or meta", "what is made"},
    {"target.NAME.env", "vulkan1.0 to vulkan1.4", "environment"},
    {"target.NAME.version, .debug, .recipes, .settings", "",
     "version of the form; none, names or full; passes; modules = per_entry or combined"},
    {"axes.SET", "map of option to \"*\" or list", "axes that programs share by use"},
    {"program[].name", "text, unique", "how it is called on the command line"},
    {"program[].sources", "list of paths", "in link order, below the root"},
    {"program[].entry_points", "map of stage to function", "vertex, fragment, compute"},
    {"program[].pipeline, .targets", "text, list", "over the defaults"},
    {"program[].options", "map of option to value", "fixed; not an axis"},
    {"program[].use, .axes", "list, map", "axes; a later one replaces an earlier one of its name"},
    {"program[].exclude, .require", "list of expressions",
     "drop where true; keep only where all are true"},
    {"program[].variants", "list of {options, warm}", "explicit ones beside the axes"},
    {"program[].only_explicit", "bool, false", "build the list only"},
    {"program[].tags", "list", "for filters and passes"},
});

std::string ManifestPage(const std::string& version) {
  std::string text = Head("kiln.toml", 5, version, "manifest of a project: programs and variants");
  text +=
      ".SH DESCRIPTION\nThe nearest\n.B kiln.toml\nfrom the working directory upwards says which "
      "programs there are and in which variants. Unknown keys are errors. Environment variables "
      "are never substituted.\n.SH KEYS\n";
  for (const ManifestKey& row : kManifestKeys) {
    text += fmt::format(".TP\n.B {}\n{}{}{}\n", Plain(row.key), Plain(row.type),
                        row.type.empty() ? "" : ": ", Plain(row.meaning));
  }
  return text + ".SH SEE ALSO\n.BR kiln (1),\n.BR kiln\\-init (1)\n";
}

}  // namespace

std::map<std::string, std::string> ManualPages(const CLI::App& app, const std::string& version) {
  std::map<std::string, std::string> pages;
  pages["kiln.1"] = MainPage(app, version);
  pages["kiln.toml.5"] = ManifestPage(version);
  for (const CLI::App* verb : ShownVerbs(app)) {
    pages["kiln-" + verb->get_name() + ".1"] = VerbPage(*verb, version);
  }
  return pages;
}

}  // namespace kiln::cli
