// SPDX-License-Identifier: MIT
// What kiln says about itself: the table of verbs, the short help of a verb, the long one, and what
// somebody may have meant who was not understood. See spec/cli 10.1
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace kiln::cli {

// Of `kiln` alone.
std::string VerbTable();

// -h: two examples first, at most 24 lines.
std::string ShortHelp(const CLI::App& verb);

// -h and --help of all verbs that are added from now on.
void SetHelp(CLI::App& app);

// "unknown verb 'buld'; did you mean 'build'?", "unknown flag '--otu'; …", or `otherwise` if the
// words that were not taken, after a parse that failed, explain nothing.
std::string MisunderstoodText(const CLI::App& app, const std::string& otherwise);

}  // namespace kiln::cli
