// SPDX-License-Identifier: MIT
// Which pipelines are set up alike: serialised metadata -> content id of what a pipeline object is
// made from besides code and layout. What merely tells where an artifact comes from (module hashes,
// influence of options) is no part of it. See spec/cache 4.1 (field 5), spec/daemon 8.3.3
#pragma once

#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"

namespace kiln::artifact {

// Of the pipeline type, entry points, settings, colour outputs, blend constants, fixed state,
// specialisation and workgroup size. Requires nothing of the bytes; of such that are no metadata it
// is the id of all of them.
Hash128 StateHash(ByteView metadata);

// The stretches of the metadata that are its state, in their order; they replace what `runs` had.
// False: the bytes are no metadata.
bool FindStateRuns(ByteView metadata, std::vector<ByteView>& runs);

}  // namespace kiln::artifact
