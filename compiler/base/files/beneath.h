// SPDX-License-Identifier: MIT
// Files below a folder that a path from outside must not leave: (root, relative path) -> descriptor
// or text, or a file with these bytes. No symbolic link is followed below the root, so neither `..`
// nor a link leads out.
// See spec/daemon 11.6
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln {

// Opens with close-on-exec; the caller closes. `flags` and `mode` as of open(2). The root itself
// may be reached by links. Errors: kInvalidArgument with reason OUTSIDE for a path that leaves the
// root or passes a link; else FileError.
Result<int> OpenBeneath(const std::string& root, const std::string& path, int flags,
                        mode_t mode = 0);

// Errors: as OpenBeneath; kInvalidArgument with reason OUTSIDE if it is not a regular file;
// kResourceExhausted with reason LIMIT_EXCEEDED for more than `most` bytes.
Result<std::string> ReadFileBeneath(const std::string& root, const std::string& path,
                                    uint64_t most = UINT64_MAX);

// Writes by way of a NewFile, after making the root and the folders below it; leaves a file alone
// that has the same bytes already. A link in the place of the file is replaced, one in the place of
// a folder is refused. Errors: as OpenBeneath.
Result<void> WriteFileBeneath(const std::string& root, const std::string& path, ByteView bytes);

}  // namespace kiln
