// SPDX-License-Identifier: MIT
// kilnc hlsl: one entry point of one HLSL file, asked for in DXC's spelling.
//   kilnc hlsl -T ps_6_0 -E main -D FOG=1 -I lib -spirv -Fo out.spv lantern.hlsl
#pragma once

#include <span>
#include <string>

namespace kiln::tool {

// Runs the command: the module to its file, or its text to stdout; messages to stderr. Returns an
// ExitCode of compile_command.h.
int RunHlsl(std::span<const std::string> words);

}  // namespace kiln::tool
