// SPDX-License-Identifier: MIT
// Axes of a manifest that no variant reads: they multiply the variants to count and to name, never
// the results. See spec/daemon 6.5.1
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/global.h"
#include "client/client.h"
#include "client/project/manifest.h"
#include "compiler/diag/place.h"

namespace kiln::cli {

struct UnreadAxis {
  PlacedDiagnostic diagnostic;  // where the axis stands in the file
  std::set<std::string> programs;
};

using DeclaredOptions = std::pair<std::string, client::OptionList>;  // by program

// In the order of the file. An axis of [axes.SET] is read if any program that uses it reads it, so
// nothing is said of one that programs use which are not among `declared`; nor of programs with
// errors, nor of names that begin with '_'.
// Requires: `declared` was listed with what options affect.
std::vector<UnreadAxis> UnreadAxes(const project::Manifest& manifest,
                                   std::span<const DeclaredOptions> declared);

// Shows them as warnings. Asks the daemon what the options of these programs reach, one call for
// each that has axes; where it does not answer, nothing is said.
void ShowUnreadAxes(const Global& global, const project::Manifest& manifest,
                    std::span<const client::ProgramSpace> programs, client::Client& client);

}  // namespace kiln::cli
