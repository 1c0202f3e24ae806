// SPDX-License-Identifier: MIT
// Lists of variants of the C interface and their fetch into a source. The list is what an engine is
// about to draw; a fetch returns when all of it is there, or says what is wrong with the sources.
#include "client/c/variants.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "client/c/deliver.h"
#include "client/engine/variants_of.h"
#include "client/startup_fetch.h"
#include "runtime/c/foreign_call.h"

using namespace kiln;
using namespace kiln::c;

namespace {

// A day. The bound keeps the conversion of nanoseconds from overflowing, whatever a caller passes.
constexpr uint64_t kLongestPatience = uint64_t{24} * 3600 * 1'000'000'000;

// The program of that name, which a project of files loads when it is first asked for. The pointer
// is valid until the next program is loaded; callers copy what they need.
Result<const client::Program*> ProgramOf(ClientProject& project, const std::string& name) {
  auto at = std::ranges::find(project.programs, name, &client::Program::name);
  if (at == project.programs.end()) {
    if (!project.of_files) {
      return Error{ErrorCode::kNotFound, fmt::format("the project has no '{}'", name), ""};
    }
    KILN_TRY(client::Program loaded,
             client::LoadNamedProgram(*project.connection->client, project.manifest, name));
    project.programs.push_back(std::move(loaded));
    at = project.programs.end() - 1;
  }
  return &*at;
}

Result<uint32_t> Add(kiln_client_variants& variants, const std::string& name,
                     std::span<const runtime::OptionSetting> options) {
  KILN_TRY(const client::Program* const program, ProgramOf(*variants.project, name));
  // The list of variants keeps its own copy of a program, as the project may load more of them
  // while a fetch runs. Only programs that a variant names are kept, so a fetch uploads no sources
  // that it does not need.
  auto& programs = variants.subject.programs;
  auto at = std::ranges::find(programs, name, &client::Program::name);
  if (at == programs.end()) {
    at = programs.insert(at, *program);
  }
  return client::AddVariant(variants.subject, static_cast<uint32_t>(at - programs.begin()),
                            options);
}

Result<client::StartupOptions> TakeOptionsOf(const kiln_client_fetch_info& info,
                                             const ClientProject& project) {
  client::StartupOptions options;
  if (info.patience_ns != 0) {
    options.patience = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::nanoseconds(std::min(info.patience_ns, kLongestPatience)));
  }
  options.before_attempt = project.start_daemon;
  return options;
}

// The callbacks run on the thread that called the fetch, one at a time, so they need no lock.
client::StartupHandlers HandlersOf(const kiln_client_fetch_info& info, kiln_source* source,
                                   kiln_client_variants& variants) {
  client::StartupHandlers handlers;
  handlers.on_blob = [source](const client::FetchedBlob& blob) {
    return AddContent(source, blob.bytes);
  };
  handlers.on_artifact = [source, &variants](const client::StartupArtifact& fetched) {
    for (size_t i = 0; i < variants.subject.variants.size(); ++i) {
      const auto& variant = variants.subject.variants[i];
      if (variants.subject.programs[variant.program].name == fetched.program &&
          // Two variants of the list may be the same one; both have the content then.
          client::OptionsText(variant.options) == client::OptionsText(fetched.options)) {
        variants.known[i] = client::ContentOf(fetched.artifact);
      }
    }
    return AddArtifact(source, fetched);
  };
  if (info.progress != nullptr) {
    handlers.on_progress = [info](const client::StartupProgress& now) {
      return info.progress(info.progress_user, now.artifacts, now.total, now.bytes) != 0
                 ? client::Next::kGoOn
                 : client::Next::kStop;
    };
  }
  return handlers;
}

// Nothing is compiled or sent where it cannot go.
Result<void> CheckInMemory(kiln_source* source) { return AddContent(source, {}); }

}  // namespace

kiln_result kiln_client_variants_create(kiln_client_project* project,
                                        kiln_client_variants** variants, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(project, "project"));
    KILN_TRY_VOID(NotNull(variants, "variants"));
    auto made = std::make_unique<kiln_client_variants>();
    made->project = project->project;
    made->subject.project = project->project->name;
    *variants = made.release();
    return {};
  });
}

kiln_result kiln_client_variants_add(kiln_client_variants* variants, const kiln_variant* variant,
                                     uint32_t* index, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(variants, "variants"));
    KILN_TRY(const kiln_variant given, Take(variant, "variant"));
    KILN_TRY_VOID(NotNull(index, "index"));
    KILN_TRY(const std::string_view program, TakeText(given.program, "variant.program"));
    KILN_TRY(const auto options, TakeOptions(given.options, given.option_count));
    KILN_TRY(*index, Add(*variants, std::string(program), options));
    return {};
  });
}

kiln_result kiln_client_variants_fetch(kiln_client_variants* variants,
                                       const kiln_client_fetch_info* info, kiln_source* source,
                                       kiln_client_fetch_report* report, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(variants, "variants"));
    KILN_TRY(const kiln_client_fetch_info given, Take(info, "info"));
    KILN_TRY_VOID(NotNull(source, "source"));
    KILN_TRY_VOID(CheckRoom(report, "report"));
    // Everything that can be wrong with the call is checked before the daemon is asked.
    KILN_TRY_VOID(CheckInMemory(source));
    KILN_TRY(client::StartupOptions options, TakeOptionsOf(given, *variants->project));
    // Which content each variant has, for a watch that begins later (watch.cc) and must not replace
    // what is there.
    variants->known.assign(variants->subject.variants.size(), {});
    client::StartupFetch fetch(*variants->project->connection->client, variants->subject,
                               std::move(options));
    KILN_TRY(const client::StartupReport done, fetch.Run(HandlersOf(given, source, *variants)));
    if (!done.failures.empty()) {
      return Error{ErrorCode::kInvalidArgument, client::MessagesOf(done.failures), "SOURCES"};
    }
    Give(kiln_client_fetch_report{.struct_size = 0,
                                  .artifacts = done.progress.artifacts,
                                  .contents = done.blobs,
                                  .bytes = done.progress.bytes,
                                  .reconnects = done.progress.reconnects},
         report);
    return {};
  });
}

void kiln_client_variants_destroy(kiln_client_variants* client_variants) {
  ForeignDestroy(client_variants);
}
