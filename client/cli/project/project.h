// SPDX-License-Identifier: MIT
// What verbs say about programs of a manifest, and options that were typed -> what the library of
// the client takes. See spec/daemon 6.0.1, 6.2.1; spec/cli 2.2
#pragma once

#include <string>
#include <string_view>

#include "client/cli/global.h"
#include "client/client.h"
#include "client/manifest_programs.h"
#include "client/project/manifest.h"

namespace kiln::cli {

using client::Declared;
using client::DeclaredOf;
using client::ExtensionOf;
using client::FormNamed;
using client::LoadedProgram;
using client::LoadProgram;
using client::ReadEntry;
using client::ReadSource;
using client::SpaceOf;
using client::TargetOf;

// The manifest of the flags, or the nearest one. Errors: kNotFound, kInvalidArgument.
Result<project::Manifest> LoadManifest(const Global& global);

// Errors: kNotFound, with the closest name there is.
Result<const project::ManifestProgram*> ProgramNamed(const project::Manifest& manifest,
                                                     const std::string& name);

// "NAME=VALUE" typed by the declaration; what does not fit keeps the type it looks like, so that
// the daemon says what is wrong. Errors: kInvalidArgument if there is no name.
Result<client::Option> TypedOption(const std::string& text, const client::OptionList& declared);

// Does `name` match the glob `pattern` ('*' any text, '?' one character)?
bool Matches(std::string_view pattern, std::string_view name);

}  // namespace kiln::cli
