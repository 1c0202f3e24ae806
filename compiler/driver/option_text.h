// SPDX-License-Identifier: MIT
// "NAME=VALUE" as people write it on a command line -> a typed setting. The declaration decides the
// type; a value that does not read as that type keeps the type it looks like, so that the check of
// options reports what was given (RPL2004). See spec/cli 2.2
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/result.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/values/options.h"

namespace kiln::driver {

// `fog` means true; `no-fog` means fog=false if the program has no option `no-fog`. An optional
// prefix `global:` or `instance:` demands the class. Errors: kInvalidArgument if there is no name.
Result<resolve::OptionSetting> ReadOption(const resolve::Program& program, std::string_view text);

// A setting of `name` whose value is `value`; `declared` guides the type if it fits.
resolve::OptionSetting ReadOptionValue(std::string_view name, std::string_view value,
                                       const ir::Option* declared);

// The value as RPL writes it in a condition: true, 4u, -1, 0.5, "high".
std::string ValueText(const resolve::OptionSetting& setting);

// "flag", "uint", …: a declared type as tools call it.
std::string_view OptionKindText(ir::OptionKind kind);

}  // namespace kiln::driver
