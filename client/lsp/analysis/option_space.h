// SPDX-License-Identifier: MIT
// The option space that a manifest gives a program: values as TOML has them become values of the
// declared options. A program of a single file has the axes that `kiln init` would give it.
// See spec/daemon 6.2
#pragma once

#include <vector>

#include "client/project/manifest.h"
#include "compiler/driver/request.h"
#include "compiler/resolve/values/options.h"
#include "server/project/space.h"

namespace kiln::lsp {

// A value as people write it, or of a manifest, as a setting of the option of that name.
resolve::OptionSetting SettingOf(const resolve::Program& program, const std::string& name,
                                 const std::string& value);
resolve::OptionSetting SettingOf(const resolve::Program& program, const std::string& name,
                                 const project::ManifestValue& value);

project::SpaceRequest SpaceRequestOf(const resolve::Program& program,
                                     const project::ManifestProgram& manifest);

// The variant to begin with: declared defaults, the fixed options of the manifest, and of an axis
// that lacks the default its first value. Then `chosen`, of which what does not fit the program any
// more is left out.
std::vector<resolve::OptionSetting> VariantOfInterest(
    const resolve::Program& program, const project::ManifestProgram& manifest,
    const std::vector<resolve::OptionSetting>& chosen);

// "wet = true" for every option of a setting.
std::string TextOf(const resolve::OptionSetting& setting);

// The values that an option can have: all of a flag or enum; of a number those of the manifest's
// axis, the declared default, and what `chosen` has.
std::vector<resolve::OptionSetting> ValuesOf(const resolve::Program& program, ir::OptionId option,
                                             const project::ManifestProgram& manifest);
// The setting of an option in values of a program.
resolve::OptionSetting SettingAt(const resolve::Program& program, ir::OptionId option,
                                 uint32_t bits);

}  // namespace kiln::lsp
