// SPDX-License-Identifier: MIT
// Whole files of users: path -> text, bytes -> path. Not for the cache, which has its own rules of
// durability.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln {

// "cannot read 'x.rpl': No such file or directory", with reason FILE: of missing rights
// kPermissionDenied, of a full disk kFull, else kNotFound. `what`: "cannot read"; `number`: an
// errno.
Error FileError(const std::string& path, std::string_view what, int number);

inline constexpr size_t kMaxWholeFile = size_t{256} << 20;  // a device may never end

// Never waits: a pipe or a device is refused at once, a file that is too large before it is read.
// Errors: FileError, naming the file and why; kInvalidArgument with reason FILE if it is not a
// regular file; kResourceExhausted, LIMIT_EXCEEDED, above `most` bytes.
Result<std::string> ReadFile(const std::string& path, size_t most = kMaxWholeFile);

// Writes by way of a NewFile, after making its folder; leaves a file alone that has the same bytes
// already. A link is replaced by the file, a device or a pipe that somebody reads is written to.
// Errors: as ReadFile.
Result<void> WriteFile(const std::string& path, ByteView bytes);

}  // namespace kiln
