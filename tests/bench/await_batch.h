// SPDX-License-Identifier: MIT
// Waits for a batch of this process by its events.
#pragma once

#include "compiler/base/check.h"
#include "compiler/base/mutex.h"
#include "server/compile/batch/batch.h"

namespace kiln::bench {

// Of a batch that was started, when it is done. One that ends otherwise ends the program.
inline compile::BatchSummary AwaitBatch(compile::Batches& batches, const Hash128& id) {
  struct News {
    Mutex mutex;
    CondVar changed;
    bool there KILN_GUARDED_BY(mutex) = false;
  } news;
  const Result<std::shared_ptr<void>> subscription =
      batches.Subscribe(id, compile::Batches::Wakes::kYes, [&news] {
        const MutexLock lock(news.mutex);
        news.there = true;
        news.changed.NotifyAll();
      });
  KILN_CHECK(subscription.ok(), "no batch");
  for (;;) {
    const Result<compile::BatchSummary> summary = batches.Get(id);
    KILN_CHECK(summary.ok(), "no batch");
    if (summary->state == compile::BatchState::kDone) {
      return *summary;
    }
    KILN_CHECK(summary->state == compile::BatchState::kQueued ||
                   summary->state == compile::BatchState::kRunning,
               "the batch ended early");
    const MutexLock lock(news.mutex);
    while (!news.there) {
      news.changed.Wait(news.mutex);
    }
    news.there = false;
  }
}

}  // namespace kiln::bench
