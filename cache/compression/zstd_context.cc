// SPDX-License-Identifier: MIT
// Contexts of zstd, which hold its tables and are a few hundred KiB each.
#include "cache/compression/zstd_context.h"

#include <memory>

namespace kiln::cache {
namespace {

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace

// One context for each thread and direction, as making one costs more than a small frame. It is
// reset at each use, because a frame that failed or was stopped leaves it in any state.
ZSTD_CCtx* CompressorOfThread() {
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (context != nullptr) {
    (void)ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  }
  return context.get();
}

// The context belongs to the thread for as long as the thread lives. The pointer must not be given
// to another one.
ZSTD_DCtx* DecompressorOfThread() {
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context != nullptr) {
    (void)ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  }
  return context.get();
}

}  // namespace kiln::cache
