// SPDX-License-Identifier: MIT
// Manifest or files + sources on disk -> programs and spaces to send. Values take the declared
// types of the program's options, which the daemon lists. Spec: daemon §6.0.1, §6.2.1; cli §2.2
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/global.h"
#include "client/client.h"
#include "client/project/manifest.h"

namespace kiln::cli {

// A program whose sources were read; values are still text.
struct LoadedProgram {
  client::Program program;
  const project::ManifestProgram* manifest = nullptr;  // null: made from files
  std::string manifest_path;                           // for messages
};

// The manifest of the flags, or the nearest one. Errors: kNotFound, kInvalidArgument.
Result<project::Manifest> LoadManifest(const Global& global);

// Errors: kNotFound, with the closest name there is.
Result<const project::ManifestProgram*> ProgramNamed(const project::Manifest& manifest,
                                                     const std::string& name);

// A program of the manifest with its sources read. Errors: kNotFound naming the file.
Result<LoadedProgram> LoadProgram(const project::Manifest& manifest,
                                  const project::ManifestProgram& program);

client::Target TargetOf(const project::ManifestTarget& manifest);

// Errors: kNotFound or kPermissionDenied naming the file and why.
Result<client::Source> ReadSource(const std::string& file, const std::string& logical_path);

// "spirv", "wgsl", "meta", "msl", "glsl" or "hlsl"; nothing for another word.
std::optional<client::Form> FormNamed(std::string_view name);
// ".spv", ".meta", ".msl", …: how files of it end.
std::string_view ExtensionOf(client::Form form);

// "vertex=main". Errors: kInvalidArgument.
Result<client::EntryPoint> ReadEntry(const std::string& text);

// Uploads the sources and asks for the declared options. Wrong sources are in the result.
Result<client::ListedOptions> Declared(client::Client& client, const client::Program& program);

// "NAME=VALUE" typed by the declaration; what does not fit keeps the type it looks like, so that
// the daemon says what is wrong. Errors: kInvalidArgument if there is no name.
Result<client::Option> TypedOption(const std::string& text, const client::ListedOptions& declared);

// The program's space with typed fixed values and axes. Errors: kInvalidArgument naming the value.
Result<client::ProgramSpace> SpaceOf(const LoadedProgram& loaded,
                                     const client::ListedOptions& declared);

// Does `name` match the glob `pattern` ('*' any text, '?' one character)?
bool Matches(std::string_view pattern, std::string_view name);

}  // namespace kiln::cli
