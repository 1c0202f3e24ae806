// SPDX-License-Identifier: MIT
#include "client/cli/verbs.h"

#include "client/cli/batch.h"
#include "client/cli/build.h"
#include "client/cli/cache.h"
#include "client/cli/compile.h"
#include "client/cli/completion.h"
#include "client/cli/config.h"
#include "client/cli/doctor.h"
#include "client/cli/explain.h"
#include "client/cli/fetch.h"
#include "client/cli/graph.h"
#include "client/cli/init.h"
#include "client/cli/inspect.h"
#include "client/cli/manual.h"
#include "client/cli/options.h"
#include "client/cli/pack.h"
#include "client/cli/preview.h"
#include "client/cli/serve.h"
#include "client/cli/start.h"
#include "client/cli/status.h"
#include "client/cli/stop.h"
#include "client/cli/token.h"
#include "client/cli/version.h"
#include "client/cli/watch.h"

namespace kiln::cli {

void AddVerbs(CLI::App& app, CommandLine& line) {
  AddInit(app, line);
  AddCompile(app, line);
  AddExplain(app, line);
  AddInspect(app, line);
  AddOptions(app, line);
  AddPreview(app, line);
  AddGraph(app, line);
  AddWatch(app, line);
  AddBuild(app, line);
  AddBatch(app, line);
  AddFetch(app, line);
  AddPack(app, line);
  AddStatus(app, line);
  AddDoctor(app, line);
  AddServe(app, line);
  AddStart(app, line);
  AddStop(app, line);
  AddConfig(app, line);
  AddToken(app, line);
  AddCache(app, line);
  AddVersion(app, line);
  AddCompletion(app, line);
  AddManual(app, line);
}

}  // namespace kiln::cli
