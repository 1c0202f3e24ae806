// SPDX-License-Identifier: MIT
// The zstd contexts of a thread. Making one costs more than compressing a small module: some
// hundred kilobytes that the system gives, clears and takes back. So each thread keeps one of each
// kind, as large as the largest thing that it met, until it ends.
#pragma once

#include <zstd.h>

namespace kiln::cache {

// In its default state: no dictionary, no parameter. Null without memory. Valid until the thread
// ends; not for use in two calls at a time.
ZSTD_CCtx* CompressorOfThread();
ZSTD_DCtx* DecompressorOfThread();

}  // namespace kiln::cache
