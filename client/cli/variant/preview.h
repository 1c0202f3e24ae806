// SPDX-License-Identifier: MIT
// kiln preview: a variant as a picture, or the variants of one or two axes as a contact sheet. The
// only verb that opens the Vulkan loader. See spec/cli 6.9, spec/pso 10
#pragma once

#include "client/cli/command_line.h"

namespace kiln::cli {

void AddPreview(CLI::App& app, CommandLine& line);

}  // namespace kiln::cli
