// SPDX-License-Identifier: MIT
// The order of the calls is that of the help page (spec/cli 10): a project's first steps, its
// building, the daemon, the cache, and last what is about the program itself.
#include "client/cli/verbs.h"

#include "client/cli/batch/batch.h"
#include "client/cli/batch/build.h"
#include "client/cli/batch/fetch.h"
#include "client/cli/cache/cache.h"
#include "client/cli/daemon/config.h"
#include "client/cli/daemon/doctor.h"
#include "client/cli/daemon/serve.h"
#include "client/cli/daemon/start.h"
#include "client/cli/daemon/status.h"
#include "client/cli/daemon/stop.h"
#include "client/cli/daemon/token.h"
#include "client/cli/dashboard/dashboard.h"
#include "client/cli/editor/fmt.h"
#include "client/cli/editor/lsp.h"
#include "client/cli/graph.h"
#include "client/cli/help/completion.h"
#include "client/cli/help/manual.h"
#include "client/cli/help/version.h"
#include "client/cli/pack/pack.h"
#include "client/cli/project/init.h"
#include "client/cli/project/options.h"
#include "client/cli/variant/compile.h"
#include "client/cli/variant/explain.h"
#include "client/cli/variant/inspect.h"
#include "client/cli/variant/preview.h"
#include "client/cli/watch/watch.h"

namespace kiln::cli {

void AddVerbs(CLI::App& app, CommandLine& line) {
  AddInit(app, line);
  AddCompile(app, line);
  AddExplain(app, line);
  AddInspect(app, line);
  AddOptions(app, line);
  AddPreview(app, line);
  AddGraph(app, line);
  AddFmt(app, line);
  AddLsp(app, line);
  AddWatch(app, line);
  AddBuild(app, line);
  AddBatch(app, line);
  AddFetch(app, line);
  AddPack(app, line);
  AddStatus(app, line);
  AddDashboard(app, line);
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
