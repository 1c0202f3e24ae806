// SPDX-License-Identifier: MIT
// Makes the page of a verb from what the parser knows of it, and prints it as troff or as plain
// text (spec/cli 10.2). There is no second description of a flag anywhere, so help and manual are
// never out of date.
#include "client/cli/help/help_page.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace kiln::cli {
namespace {

constexpr size_t kColumns = 80;
constexpr std::string_view kSeeAlso = "kiln(1), kilnd(8), kiln.toml(5)";

// Text that troff takes as it is: no control line, no escape.
// A line that begins with '.' or ''' is a command of troff, and '-' alone would be a hyphen, which
// a terminal shows as another character and nobody can paste.
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

// Words in lines, each `indent` columns from the left.
// A word longer than a line stands alone on one and is not broken: it is a path or a command.
std::string Wrapped(std::string_view text, size_t indent) {
  std::string out;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && indent + line.size() + 1 + word.size() > kColumns) {
      out += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return out + (line.empty() ? "" : std::string(indent, ' ') + line + "\n");
}

bool IsHelp(const CLI::Option& option) {
  return option.check_lname("help") || option.check_sname("h");
}

// `of_verb`: help is a flag of every verb, and stands with the others of it. Options without a
// group are hidden, as verbs are.
void AddOptions(const CLI::App& app, bool of_verb, std::vector<PageItem>& items) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || (of_verb && IsHelp(*option))) {
      continue;
    }
    const std::string name = option->get_positional()
                                 ? option->get_name()
                                 : option->get_name(false, true);  // "-q,--quiet"
    const bool takes = !option->get_positional() && option->get_expected_max() > 0;
    const std::string environment = option->get_envname();
    items.push_back({.term = takes ? name + " " + option->get_type_name() : name,
                     .text = option->get_description() +
                             (environment.empty() ? "" : " (environment: " + environment + ")")});
  }
}

// The table of spec/cli 4.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kExits = {
    {{"0", "success; warnings are allowed"},
     {"1", "wrong sources: errors in shaders"},
     {"2", "usage, manifest or configuration error"},
     {"3", "not found: program, variant, file, pin, batch"},
     {"4", "daemon, upstream or device unreachable"},
     {"5", "limit or budget exceeded, no room for an output"},
     {"6", "deadline exceeded or cancelled by the server"},
     {"7", "integrity: damage found, nondeterminism, bad signature"},
     {"8",
      "partial: some results are missing, or not kept where that was asked for, for other reasons "
      "than wrong sources"},
     {"9", "not permitted: authentication, scope, or a socket that is not this user's"},
     {"70", "internal error: a bug of kiln"},
     {"130", "interrupted"},
     {"141", "the reader of the output went away"},
     {"143", "terminated"}}};

}  // namespace

// A verb without a group is hidden. Scripts and packagers use those, people do not.
std::vector<const CLI::App*> ShownVerbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); });
}

// "kiln pack build": the names on the way from the root.
std::string CommandOf(const CLI::App& verb) {
  const CLI::App* above = verb.get_parent();
  return above == nullptr ? verb.get_name() : CommandOf(*above) + " " + verb.get_name();
}

// Examples are the footer of a verb, one a line. A test runs each of them through the parser.
std::vector<std::string> ExamplesOf(const CLI::App& verb) {
  std::vector<std::string> examples;
  const std::string text = verb.get_footer();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) {
      examples.push_back(line.substr(begin));
    }
  }
  return examples;
}

// One structure for both forms: Troff and PlainText print the same page, so `--help` and the manual
// never differ.
HelpPage VerbPage(const CLI::App& verb) {
  const std::string command = CommandOf(verb);
  HelpPage page{.name = command, .what = verb.get_description(), .sections = {}};
  // The name of a page may have no blanks: kiln-pack-build(1).
  std::ranges::replace(page.name, ' ', '-');
  const std::vector<const CLI::App*> below = ShownVerbs(verb);
  PageSection synopsis{.title = "SYNOPSIS", .text = {}, .items = {}, .verbatim = {}};
  PageSection verbs{.title = "VERBS", .text = {}, .items = {}, .verbatim = {}};
  for (const CLI::App* sub : below) {
    synopsis.verbatim += fmt::format("{} [flags] [words]\n", CommandOf(*sub));
    verbs.items.push_back({.term = fmt::format("{}-{}(1)", page.name, sub->get_name()),
                           .text = sub->get_description()});
  }
  if (below.empty()) {
    synopsis.verbatim = command + " [flags] [words]\n";
  }
  page.sections.push_back(std::move(synopsis));
  if (!below.empty()) {
    page.sections.push_back(std::move(verbs));
  }
  PageSection options{.title = "OPTIONS",
                      .text = "Those of every verb are in kiln(1).",
                      .items = {},
                      .verbatim = {}};
  AddOptions(verb, true, options.items);
  if (const CLI::App* above = verb.get_parent(); above->get_parent() != nullptr) {
    AddOptions(*above, true, options.items);
  }
  page.sections.push_back(std::move(options));
  if (below.empty()) {
    PageSection examples{.title = "EXAMPLES", .text = {}, .items = {}, .verbatim = {}};
    for (const std::string& example : ExamplesOf(verb)) {
      examples.verbatim += example + "\n";
    }
    page.sections.push_back(std::move(examples));
  }
  page.sections.push_back(
      {.title = "SEE ALSO", .text = std::string(kSeeAlso), .items = {}, .verbatim = {}});
  return page;
}

// The page of the program itself: flags of every verb and the exit codes, which verbs' pages do not
// repeat.
HelpPage MainPage(const CLI::App& app) {
  HelpPage page{.name = "kiln",
                .what = "shader sources into everything an engine draws with",
                .sections = {}};
  page.sections.push_back({.title = "SYNOPSIS",
                           .text = {},
                           .items = {},
                           .verbatim = "kiln [flags] verb [flags] [words]\n"});
  PageSection verbs{.title = "VERBS", .text = {}, .items = {}, .verbatim = {}};
  for (const CLI::App* verb : ShownVerbs(app)) {
    verbs.items.push_back(
        {.term = fmt::format("kiln-{}(1)", verb->get_name()), .text = verb->get_description()});
  }
  page.sections.push_back(std::move(verbs));
  PageSection options{.title = "OPTIONS",
                      .text = "Of every verb, before or behind it.",
                      .items = {},
                      .verbatim = {}};
  AddOptions(app, false, options.items);
  page.sections.push_back(std::move(options));
  PageSection exits{.title = "EXIT STATUS", .text = {}, .items = {}, .verbatim = {}};
  for (const auto& [code, meaning] : kExits) {
    exits.items.push_back({.term = std::string(code), .text = std::string(meaning)});
  }
  page.sections.push_back(std::move(exits));
  page.sections.push_back({.title = "SEE ALSO",
                           .text = "kilnd(8), kiln.toml(5), kilnd.toml(5)",
                           .items = {},
                           .verbatim = {}});
  return page;
}

// The version stands in the place of the date: pages that are generated twice from one source are
// equal.
std::string Troff(const HelpPage& page, const std::string& version) {
  std::string upper = page.name;
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text =
      fmt::format(".TH {} {} \"\" \"{}\" \"kiln\"\n.SH NAME\n{} \\- {}\n", Plain(upper),
                  page.section, Plain(version), Plain(page.name), Plain(page.what));
  for (const PageSection& section : page.sections) {
    text += fmt::format(".SH {}\n", section.title);
    text += section.text.empty() ? "" : Plain(section.text) + "\n";
    for (const PageItem& item : section.items) {
      text += fmt::format(".TP\n.B {}\n{}\n", Plain(item.term), Plain(item.text));
    }
    text += section.verbatim.empty() ? "" : fmt::format(".nf\n{}.fi\n", Plain(section.verbatim));
  }
  return text;
}

// Terms are not wrapped: they are names of flags that people search for.
std::string PlainText(const HelpPage& page) {
  std::string text = "NAME\n" + Wrapped(page.name + " - " + page.what, 2);
  for (const PageSection& section : page.sections) {
    text += "\n" + section.title + "\n" + Wrapped(section.text, 2);
    for (const PageItem& item : section.items) {
      text += "  " + item.term + "\n" + Wrapped(item.text, 8);
    }
    for (size_t at = 0; at < section.verbatim.size();) {
      const size_t end = section.verbatim.find('\n', at);
      text += "  " + section.verbatim.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }
  return text;
}

}  // namespace kiln::cli
