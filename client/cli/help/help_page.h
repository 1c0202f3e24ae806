// SPDX-License-Identifier: MIT
// One page about a verb, as a manual page and as the text of --help: both are written from here, so
// that they cannot differ. See spec/cli 10
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace kiln::cli {

struct PageItem {
  std::string term;
  std::string text;
};

struct PageSection {
  std::string title;
  std::string text;  // a paragraph; or empty
  std::vector<PageItem> items;
  std::string verbatim;  // lines as they stand; or empty
};

struct HelpPage {
  std::string name;  // "kiln-pack-build"
  int section = 1;
  std::string what;
  std::vector<PageSection> sections;
};

// In the format of man(7).
std::string Troff(const HelpPage& page, const std::string& version);
// For a terminal, at most 80 columns but for what cannot be broken.
std::string PlainText(const HelpPage& page);

// kiln-VERB(1) of a verb that runs, or of one that has verbs below it.
HelpPage VerbPage(const CLI::App& verb);
// kiln(1)
HelpPage MainPage(const CLI::App& app);

// Below an app, without hidden ones.
std::vector<const CLI::App*> ShownVerbs(const CLI::App& app);
// "kiln pack build"
std::string CommandOf(const CLI::App& verb);
// Its examples, without the space in front of them.
std::vector<std::string> ExamplesOf(const CLI::App& verb);

}  // namespace kiln::cli
