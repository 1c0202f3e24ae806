// SPDX-License-Identifier: MIT
// Long tests have a short form, which every run executes, and a full form: `<test> --full`, or
// KILN_FULL=1 in the environment.
#pragma once

#include <cstdlib>

namespace kiln::tests {

inline bool FullRun() { return std::getenv("KILN_FULL") != nullptr; }

// How often: the short or the full number.
inline int Rounds(int short_form, int full_form) { return FullRun() ? full_form : short_form; }

}  // namespace kiln::tests
