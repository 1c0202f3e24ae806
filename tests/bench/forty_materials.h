// SPDX-License-Identifier: MIT
// A project whose materials resemble each other, as those of a game do: 40 of them in two passes,
// of which one is edited.
#pragma once

#include "tests/support/demo_project.h"

namespace kiln::bench {

// Errors: those of reading the manifest.
Result<DemoProject> FortyMaterials();

// One material with another factor in its body.
DemoProject WithOneMaterialEdited(DemoProject project);

}  // namespace kiln::bench
