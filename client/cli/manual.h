// SPDX-License-Identifier: MIT
// The declared verbs and flags -> manual pages in the format of man(7), so that page and --help
// cannot differ. See spec/cli 10.2
#pragma once

#include <map>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): as its library names it
class App;
}

namespace kiln::cli {

// File name -> text: kiln.1, kiln-VERB.1 and kiln-VERB-VERB.1 for every verb that is shown,
// kiln.toml.5.
std::map<std::string, std::string> ManualPages(const CLI::App& app, const std::string& version);

}  // namespace kiln::cli
