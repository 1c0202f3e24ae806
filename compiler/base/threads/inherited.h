// SPDX-License-Identifier: MIT
// One pointer that a thread has from the thread that started it: on whose behalf it works. Set and
// read by runtime/c, whose callers say where memory comes from.
#pragma once

namespace kiln {

// Of the calling thread; null unless somebody set it, here or in the thread that started this one.
const void*& Inherited() noexcept;

}  // namespace kiln
