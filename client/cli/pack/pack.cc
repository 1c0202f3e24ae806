// SPDX-License-Identifier: MIT
// The group `kiln pack` (spec/cli 6.10). The order is that of the life of a pack: made, looked at,
// compared, merged, taken apart; keys last.
#include "client/cli/pack/pack.h"

#include "client/cli/add_verb.h"
#include "client/cli/pack/build.h"
#include "client/cli/pack/diff.h"
#include "client/cli/pack/extract.h"
#include "client/cli/pack/flatten.h"
#include "client/cli/pack/keygen.h"
#include "client/cli/pack/show.h"
#include "client/cli/pack/stats.h"
#include "client/cli/pack/verify.h"

namespace kiln::cli {

void AddPack(CLI::App& app, CommandLine& line) {
  CLI::App* pack = AddGroup(app, "pack", "Pack files");
  AddPackBuild(*pack, line);
  AddPackShow(*pack, line);
  AddPackStats(*pack, line);
  AddPackVerify(*pack, line);
  AddPackDiff(*pack, line);
  AddPackFlatten(*pack, line);
  AddPackExtract(*pack, line);
  AddPackKeygen(*pack, line);
}

}  // namespace kiln::cli
