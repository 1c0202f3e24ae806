// SPDX-License-Identifier: MIT
#include "compiler/base/threads/inherited.h"

namespace kiln {

const void*& Inherited() noexcept {
  thread_local const void* pointer = nullptr;
  return pointer;
}

}  // namespace kiln
