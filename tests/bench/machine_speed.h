// SPDX-License-Identifier: MIT
// How much slower this machine is than the one that budgets are given for: it copies and renumbers
// a word of a SPIR-V module in 0.3 ns (architecture.md 10.5).
#pragma once

namespace kiln::bench {

inline constexpr double kReferenceNsPerWord = 0.3;

// Of this thread, now: nanoseconds per word over 900 modules of 2,300 words, in which every second
// word is an id, over kReferenceNsPerWord. Takes some milliseconds; call it between samples.
double SlowerThanReference();

}  // namespace kiln::bench
