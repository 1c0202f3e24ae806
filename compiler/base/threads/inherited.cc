// SPDX-License-Identifier: MIT
#include "compiler/base/threads/inherited.h"

namespace kiln {

// A function around the variable: no other file names a thread_local, and none pays for the wrapper
// that would look whether it is initialised.
const void*& Inherited() noexcept {
  thread_local const void* pointer = nullptr;
  return pointer;
}

}  // namespace kiln
