// SPDX-License-Identifier: MIT
// How many connections gRPC holds of those that it was given. It does not tell when it closes one,
// so their descriptors are looked at when the number matters: one that is closed, or names another
// socket by now, is gone. Spec: daemon §10
#pragma once

#include <cstddef>
#include <map>
#include <sys/types.h>

#include "compiler/base/mutex.h"

namespace kiln::rpc {

// Safe from any thread.
class ConnectionCount {
 public:
  explicit ConnectionCount(size_t max) : max_(max) {}

  // False if there are as many as may be; then the caller closes it.
  bool Add(int fd);
  size_t Count();

 private:
  void Sweep() KILN_REQUIRES(mutex_);

  const size_t max_;
  Mutex mutex_;
  std::map<int, ino_t> open_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::rpc
