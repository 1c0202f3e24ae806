// SPDX-License-Identifier: MIT
// The layout engine: the declarations of a program -> every number of it. One core, two policies; a
// pure function that never looks into bodies. See spec/layout 7 to 10.
#pragma once

#include "compiler/layout/bytes.h"
#include "compiler/layout/program.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

// `types` holds the types of the program and gets those of implicit buffers; `bytes` is over
// `types` with the matrix order of the settings. With errors among the findings, the numbers mean
// nothing.
ProgramLayout LayOut(const Program& program, Types& types, ByteLayouts& bytes);

}  // namespace kiln::layout
