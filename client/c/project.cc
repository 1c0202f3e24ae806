// SPDX-License-Identifier: MIT
// Projects of the C interface: one of files, from a manifest, or one of programs that the caller
// makes from texts. A project may not be used by two threads at the same time, as the header says
// of all handles.
#include "client/c/project.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/c/client.h"
#include "client/engine/variants_of.h"
#include "runtime/c/foreign_call.h"

using namespace kiln;
using namespace kiln::c;

namespace {

std::unique_ptr<kiln_client_project> ProjectOf(const kiln_client& client) {
  auto made = std::make_unique<kiln_client_project>();
  // Shared, because variants and watches of the project may outlive the handle of the caller.
  made->project = std::make_shared<ClientProject>();
  made->project->connection = client.connection;
  made->project->start_daemon = client.start_daemon;
  return made;
}

// The digest is computed here, so the caller cannot name a source by a wrong one.
Result<std::vector<client::Source>> TakeSources(const kiln_client_program& program) {
  KILN_TRY(const auto rows, TakeArray(program.sources, program.source_count, "program.sources"));
  std::vector<client::Source> sources;
  for (const kiln_client_source& row : rows) {
    KILN_TRY(const std::string_view path, TakeText(row.path, "program.sources.path"));
    KILN_TRY(const std::string_view text, TakeText(row.text, "program.sources.text"));
    sources.push_back(
        {.path = std::string(path), .digest = DigestOf(text), .text = std::string(text)});
  }
  return sources;
}

Result<std::vector<client::EntryPoint>> TakeEntries(const kiln_client_program& program) {
  KILN_TRY(const auto rows, TakeArray(program.entries, program.entry_count, "program.entries"));
  std::vector<client::EntryPoint> entries;
  for (const kiln_client_entry& row : rows) {
    KILN_TRY_VOID(CheckNumber(row.stage, KILN_STAGE_COMPUTE, "program.entries.stage"));
    KILN_TRY(const std::string_view function, TakeText(row.function, "program.entries.function"));
    // The daemon's first stage is "none".
    entries.push_back(
        {.stage = static_cast<client::Stage>(row.stage + 1), .function = std::string(function)});
  }
  return entries;
}

// Everything is copied: what the caller passes may be gone when the call returns. The target is
// SPIR-V with all defaults but for the environment.
Result<client::Program> TakeProgram(const kiln_client_program& given) {
  client::Program program;
  KILN_TRY(program.name, TakeText(given.name, "program.name"));
  KILN_TRY(program.sources, TakeSources(given));
  KILN_TRY(program.entries, TakeEntries(given));
  KILN_TRY(const std::string_view pipeline, TakeText(given.pipeline, "program.pipeline"));
  KILN_TRY(const std::string_view environment, TakeText(given.environment, "program.environment"));
  // Everything else has a default or is checked by the daemon, which has the better message.
  if (program.name.empty() || program.sources.empty()) {
    return Error{ErrorCode::kInvalidArgument, "'program' needs a name and a source", ""};
  }
  if (!pipeline.empty()) {
    program.pipeline = pipeline;
  }
  client::Target& target = program.targets.emplace_back();
  if (!environment.empty()) {
    target.env = environment;
  }
  return program;
}

}  // namespace

kiln_result kiln_client_project_open(kiln_client* client, kiln_text manifest,
                                     kiln_client_project** project, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(client, "client"));
    KILN_TRY_VOID(NotNull(project, "project"));
    KILN_TRY(const std::string_view path, TakeText(manifest, "manifest"));
    auto made = ProjectOf(*client);
    KILN_TRY(made->project->manifest, client::OpenManifest(std::string(path)));
    // Programs of a project of files are loaded when a variant of them is first named
    // (variants.cc), because loading one asks the daemon for its options.
    made->project->of_files = true;
    made->project->name = client::ProjectNameOf(made->project->manifest);
    *project = made.release();
    return {};
  });
}

kiln_result kiln_client_project_create(kiln_client* client, kiln_text name,
                                       kiln_client_project** project, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(client, "client"));
    KILN_TRY_VOID(NotNull(project, "project"));
    KILN_TRY(const std::string_view text, TakeText(name, "name"));
    if (text.empty()) {
      return Error{ErrorCode::kInvalidArgument, "'name' is empty", ""};
    }
    auto made = ProjectOf(*client);
    made->project->name = text;
    *project = made.release();
    return {};
  });
}

kiln_result kiln_client_project_add(kiln_client_project* project,
                                    const kiln_client_program* program, kiln_error** error) {
  return ForeignCall(error, [&]() -> Result<void> {
    KILN_TRY_VOID(NotNull(project, "project"));
    KILN_TRY(const kiln_client_program given, Take(program, "program"));
    ClientProject& to = *project->project;
    if (to.of_files) {
      return Error{ErrorCode::kFailedPrecondition,
                   "the programs of this project are those of " + to.manifest.path, "PROJECT"};
    }
    KILN_TRY(client::Program taken, TakeProgram(given));
    if (std::ranges::find(to.programs, taken.name, &client::Program::name) != to.programs.end()) {
      return Error{ErrorCode::kAlreadyExists,
                   fmt::format("the project has a program '{}'", taken.name), ""};
    }
    // The sources go to the daemon now, so that requests name them by digest. The program is added
    // behind that: if sending fails, the project is as it was.
    KILN_TRY_VOID(to.connection->client->PutSources(taken.sources));
    to.programs.push_back(std::move(taken));
    return {};
  });
}

void kiln_client_project_destroy(kiln_client_project* client_project) {
  ForeignDestroy(client_project);
}
