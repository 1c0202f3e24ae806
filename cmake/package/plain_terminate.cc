// SPDX-License-Identifier: MIT
// Where the standard library of C++ is linked into a library, its way to say what ended the program
// brings a demangler of 60 KiB. No exception leaves libkiln, so nothing is ever said there.
#include <cstdlib>

namespace __gnu_cxx {

void __verbose_terminate_handler();  // NOLINT(bugprone-reserved-identifier)
void __verbose_terminate_handler() { std::abort(); }

}  // namespace __gnu_cxx
