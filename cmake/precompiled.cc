// SPDX-License-Identifier: MIT
// Carries the headers that all targets share precompiled.
