// SPDX-License-Identifier: MIT
// A shared library is made of its archive; CMake wants one source of its own.
