// SPDX-License-Identifier: MIT
// The short help (-h), the words about a line that was not understood, and the formatter that the
// parser asks for both (spec/cli 10). The long form is help_page.cc.
#include "client/cli/help/help.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "client/cli/help/help_page.h"
#include "client/project/manifest.h"

namespace kiln::cli {
namespace {

// A short help fits on a screen with the examples above it.
constexpr size_t kMostRows = 15;  // of flags in a short help
constexpr size_t kColumns = 100;
constexpr size_t kMostExamples = 2;

// At most thirty lines (spec/cli 10.1), grouped by what somebody wants to do. It is written by
// hand, since the groups and the words for whole families of verbs are nowhere else.
constexpr char kVerbs[] =
    "kiln turns shader sources into everything an engine draws with\n\n"
    "start here    kiln init      write kiln.toml from the sources found\n"
    "              kiln lsp       serve an editor\n"
    "              kiln fmt       sources in one style\n"
    "look at one   kiln compile   one variant, artifacts to files\n"
    "              kiln explain   why a hit, why a miss\n"
    "              kiln inspect   a variant or a file of one as text\n"
    "              kiln options   the option space of a program, with counts\n"
    "              kiln preview   a variant, or a grid of them, as a picture\n"
    "              kiln graph     the plan of a frame, and a picture of it\n"
    "              kiln watch     rebuild on save, show what is wrong\n"
    "build         kiln build     every variant of kiln.toml\n"
    "              kiln batch     list, attach, items, pause, resume, cancel\n"
    "              kiln fetch     download results, as an engine would\n"
    "              kiln pack      build, show, verify, diff, flatten, extract packs\n"
    "operate       kiln status    daemon, queue, batches, cache, health\n"
    "              kiln dashboard the same in a browser, with options and reasons\n"
    "              kiln doctor    check the installation, with what to do\n"
    "              kiln cache     stats, gc, verify, repair, export, import, pins, why\n"
    "              kiln serve     the daemon in the foreground\n"
    "              kiln start     the daemon in the background\n"
    "              kiln stop      finish running work, then end\n"
    "              kiln config    the configuration in force; check a file\n"
    "              kiln token     create, list, revoke tokens of TCP clients\n"
    "              kiln version   of this program\n"
    "              kiln completion  a script for bash, zsh or fish\n\n"
    "kiln VERB -h: examples and flags; kiln VERB --help: all of it\n";

// "-t,--target TEXT", "programs ..."
std::string NameOf(const CLI::Option& option) {
  const bool many = option.get_expected_max() > 1;
  if (option.get_positional()) {
    return option.get_name() + (many ? "..." : "");
  }
  const std::string type = option.get_type_name();
  // The parser appends its checks to the name of the type: "TEXT:{a,b}", "INT in [1 - 5]". The row
  // has only the name.
  const size_t end = std::min({type.find(':'), type.find('{'), type.find(" in "), type.size()});
  const bool takes = option.get_expected_max() > 0;
  return option.get_name(false, true) +
         (!takes ? "" : " " + (end == 0 ? std::string("WORD") : type.substr(0, end)));
}

// "auto, bar, lines, none: Progress on stderr"
std::string TextOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) {
    return option.get_description();
  }
  return option.get_description() + " {" + type.substr(open + 1, close - open);
}

// Too long a row is cut and not wrapped: the short help must fit its 24 lines.
std::string Row(const std::string& name, const std::string& text) {
  std::string row = fmt::format("  {:<26} {}", name, text);
  if (row.size() > kColumns) {
    row.resize(kColumns - 3);
    row += "...";
  }
  return row + "\n";
}

// The parser adds the help flags to each verb itself; they would fill two rows of each page.
bool IsHelp(const CLI::Option& option) {
  return option.check_lname("help") || option.check_sname("h");
}

// The partition is stable: within words and within flags the order of their declaration stays.
std::vector<const CLI::Option*> ShownOptions(const CLI::App& verb) {
  const auto is_shown = [](const CLI::Option* option) {
    return !option->get_group().empty() && !IsHelp(*option);
  };
  std::vector<const CLI::Option*> shown = verb.get_options(is_shown);
  // A verb of a group takes the group's flags as well, such as --dir of `kiln cache`.
  if (const CLI::App* above = verb.get_parent(); above->get_parent() != nullptr) {
    const std::vector<const CLI::Option*> more = above->get_options(is_shown);
    shown.insert(shown.end(), more.begin(), more.end());
  }
  // Positional words stand before flags.
  std::ranges::stable_partition(shown, [](const CLI::Option* o) { return o->get_positional(); });
  return shown;
}

// Of a group the first example of each verb below, until there are two: they show what the group is
// for better than its own name.
std::vector<std::string> FirstExamples(const CLI::App& verb) {
  std::vector<std::string> examples = ExamplesOf(verb);
  for (const CLI::App* sub : ShownVerbs(verb)) {
    const std::vector<std::string> below = ExamplesOf(*sub);
    examples.insert(examples.end(), below.begin(), below.begin() + (below.empty() ? 0 : 1));
  }
  examples.resize(std::min(examples.size(), kMostExamples));
  return examples;
}

// The names of flags that have no rows of their own, in one line.
std::string Rest(const std::vector<const CLI::Option*>& options) {
  std::string text = "  also";
  for (size_t i = kMostRows; i < options.size(); ++i) {
    const std::string name = " " + options[i]->get_name();
    if (text.size() + name.size() > kColumns - 3) {
      text += "...";
      break;
    }
    text += name;
  }
  return text + "\n";
}

// -h is the short form and --help the page of the manual, which the parser asks for as "All".
class Help final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode mode) const override {
    const bool main = app->get_parent() == nullptr;
    if (mode != CLI::AppFormatMode::All) {
      return main ? VerbTable() : ShortHelp(*app);
    }
    return PlainText(main ? MainPage(*app) : VerbPage(*app));
  }
};

// The verb that was understood last. The parser lists subcommands in the order in which they were
// understood, and a line has one path only.
const CLI::App& Deepest(const CLI::App& app) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) {
    verb = verb->get_subcommands().front();
  }
  return *verb;
}

void AddFlags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      flags.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      flags.push_back("-" + name);
    }
  }
}

// `known` may hold thousands of names without harm: Closest is linear in their number and bounded
// in their length.
std::string ClosestText(std::string_view what, const std::string& word,
                        const std::vector<std::string>& known) {
  const bool tells = word.size() > 2;  // "-x" is as near to every short flag
  const std::string_view closest =
      tells ? project::Closest(word, std::vector<std::string_view>(known.begin(), known.end()))
            : std::string_view();
  return fmt::format(
      "unknown {} '{}'{}", what, word,
      closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest));
}

}  // namespace

std::string VerbTable() { return kVerbs; }

// The examples come first: most who ask for help want a line to change. Verbs below take rows from
// the flags, so that both together stay within kMostRows.
std::string ShortHelp(const CLI::App& verb) {
  std::string text;
  for (const std::string& example : FirstExamples(verb)) {
    text += "  " + example + "\n";
  }
  const std::string command = CommandOf(verb);
  text += fmt::format("\n{}: {}\n\n", command, verb.get_description());
  const std::vector<const CLI::App*> below = ShownVerbs(verb);
  for (const CLI::App* sub : below) {
    text += Row(sub->get_name(), sub->get_description());
  }
  const std::vector<const CLI::Option*> options = ShownOptions(verb);
  for (size_t i = 0; i < std::min(options.size(), kMostRows - std::min(below.size(), kMostRows));
       ++i) {
    text += Row(NameOf(*options[i]), TextOf(*options[i]));
  }
  if (below.empty() && options.size() > kMostRows) {
    text += Rest(options);
  }
  return text +
         fmt::format("\n{} --help tells all; kiln --help has the flags of every verb\n", command);
}

void SetHelp(CLI::App& app) {
  app.set_help_flag("-h", "Examples and flags in short");
  app.set_help_all_flag("--help", "All of it, as in the manual page");
  app.formatter(std::make_shared<Help>());
}

// `otherwise` is the parser's own sentence, for mistakes that are no unknown word, such as a
// missing value.
std::string MisunderstoodText(const CLI::App& app, const std::string& otherwise) {
  const CLI::App& verb = Deepest(app);
  // The first word that the parser did not take is the mistake; what follows it may only be wrong
  // because of it.
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word.starts_with('-')) {
      std::vector<std::string> flags;
      // Flags of a verb, of its group and of every verb are all possible there.
      for (const CLI::App* at = &verb; at != nullptr; at = at->get_parent()) {
        AddFlags(*at, flags);
      }
      return ClosestText("flag", word.substr(0, word.find('=')), flags);
    }
    if (const std::vector<const CLI::App*> below = ShownVerbs(verb); !below.empty()) {
      std::vector<std::string> names;
      for (const CLI::App* sub : below) {
        names.push_back(sub->get_name());
      }
      return ClosestText("verb", word, names);
    }
    return fmt::format("unexpected word '{}'", word);
  }
  return otherwise;
}

}  // namespace kiln::cli
