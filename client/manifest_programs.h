// SPDX-License-Identifier: MIT
// Programs of a manifest + their sources on disk -> programs and spaces to send. Values take the
// declared types of the program's options, which the daemon lists. See spec/daemon 6.0.1, 6.2.1
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/project/manifest.h"

namespace kiln::client {

// A program whose sources were read; values are still text.
struct LoadedProgram {
  Program program;
  const project::ManifestProgram* manifest = nullptr;  // null: made from files
  std::string manifest_path;                           // for messages
};

// A program of the manifest with its sources read. Errors: kNotFound naming the file.
Result<LoadedProgram> LoadProgram(const project::Manifest& manifest,
                                  const project::ManifestProgram& program);

// What sources in HLSL need besides their texts, with the files that they may include; nothing if
// there are none. Errors: as FollowIncludes.
Result<std::optional<HlslInputs>> HlslOf(const std::string& folder,
                                         const project::ManifestHlsl& manifest,
                                         std::span<const Source> sources);

Target TargetOf(const project::ManifestTarget& manifest);

// Errors: kNotFound or kPermissionDenied naming the file and why.
Result<Source> ReadSource(const std::string& file, const std::string& logical_path);

// "spirv", "wgsl", "meta", "msl", "glsl" or "hlsl"; nothing for another word.
std::optional<Form> FormNamed(std::string_view name);
// ".spv", ".meta", ".msl", …: how files of it end.
std::string_view ExtensionOf(Form form);

// "vertex=main". Errors: kInvalidArgument.
Result<EntryPoint> ReadEntry(const std::string& text);

// Uploads the sources and asks for the declared options. Wrong sources are in the result.
Result<OptionList> Declared(Client& client, const Program& program);

// The same for many programs, in their order, in a few calls; liveness is left out.
Result<std::vector<OptionList>> DeclaredOf(Client& client,
                                           std::span<const Program* const> programs);

// The sources are wrong, and so options may be missing: what the manifest says of them cannot be
// judged.
bool HasErrors(const OptionList& declared);

// The program's space with typed fixed values and axes. Errors: kInvalidArgument naming the value.
Result<ProgramSpace> SpaceOf(const LoadedProgram& loaded, const OptionList& declared);

}  // namespace kiln::client
