// SPDX-License-Identifier: MIT
// Variants from a daemon: fetched before the first frame into a MemorySource, from which everything
// else of the demo reads as it would from a pack. This is how a game gets shaders while it is
// developed.
#include "examples/demo/engine/daemon_variants.h"

#include <utility>
#include <vector>

#include "client/autostart.h"
#include "client/engine/fetch_into.h"
#include "client/engine/variants_of.h"

namespace kiln::demo {
namespace {

// The demo's own type of options is turned into the client's, value by value and with the type
// kept.
std::vector<client::NamedVariant> NamesOf(std::span<const VariantRequest> wanted) {
  std::vector<client::NamedVariant> names;
  for (const VariantRequest& request : wanted) {
    client::NamedVariant& name = names.emplace_back();
    name.program = request.program;
    for (const auto& [option, value] : request.options) {
      runtime::OptionSetting& setting = name.options.emplace_back();
      setting.name = option;
      std::visit([&](const auto& typed) { setting.value = typed; }, value);
    }
  }
  return names;
}

}  // namespace

// The program waits here until all variants are there. A game would rather show something
// meanwhile, which the progress is for.
Result<DaemonVariants> DaemonVariants::Fetch(std::span<const VariantRequest> wanted,
                                             const DaemonRequest& request) {
  const std::string socket = request.socket.empty() ? client::DefaultSocket() : request.socket;
  client::Endpoint endpoint;
  endpoint.address = "unix:" + socket;
  KILN_TRY(const client::DaemonConnection connected,
           client::Connect(endpoint, client::Autostart::kYes));
  // The client knows the manifest and reads the sources; the daemon is told names and digests, and
  // opens none of the files.
  KILN_TRY(const project::Manifest manifest, client::OpenManifest(request.manifest));
  KILN_TRY(client::StartupVariants subject,
           client::VariantsOf(*connected.client, manifest, NamesOf(wanted)));

  const auto source = std::make_shared<runtime::MemorySource>();
  client::StartupOptions options;
  // A daemon may end while variants are on their way. Each further attempt starts one, so the fetch
  // goes on where it was.
  options.before_attempt = [&] { (void)client::StartDaemon(socket); };  // the attempt tells
  KILN_TRY(client::StartupReport report,
           client::FetchInto(*source, *connected.client,
                             {.subject = std::move(subject),
                              .options = std::move(options),
                              .on_progress = [&](const client::StartupProgress& progress) {
                                if (request.on_progress) {
                                  request.on_progress(progress);
                                }
                                return client::Next::kGoOn;
                              }}));
  // A demo without one of its materials is no demo. A game would draw the rest.
  if (!report.failures.empty()) {
    return Error{ErrorCode::kInvalidArgument, client::MessagesOf(report.failures), "SOURCES"};
  }
  return DaemonVariants(source, std::move(report));
}

Result<VariantCode> DaemonVariants::Get(const VariantRequest& request) {
  return FindIn(source_, request);
}

}  // namespace kiln::demo
