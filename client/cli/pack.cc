// SPDX-License-Identifier: MIT
#include "client/cli/pack.h"

#include "client/cli/add_verb.h"
#include "client/cli/pack_build.h"
#include "client/cli/pack_diff.h"
#include "client/cli/pack_extract.h"
#include "client/cli/pack_flatten.h"
#include "client/cli/pack_keygen.h"
#include "client/cli/pack_show.h"
#include "client/cli/pack_stats.h"
#include "client/cli/pack_verify.h"

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
