// SPDX-License-Identifier: MIT
// Names of others -> names of files: of programs, targets, entries and stages, as manifests, packs
// and daemons say them. Every name that becomes part of a path goes through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln {

inline constexpr size_t kMaxTargetName = 128;  // bytes

// One part of a path that is visible, leads nowhere else and is understood by every file system:
// at most 136 bytes of letters, digits, '_', '-' and '.', not beginning with '.'. A '/' becomes
// '.', as in rock/forward -> rock.forward. A name that had to be changed in any other way gets its
// digest behind '~', so that two different names do not become one.
std::string FileNameOf(std::string_view name);

// Whether a target may be called so: 1 to 128 letters, digits, '_', '-' and '.', not beginning with
// '.'. Such a name is its own FileNameOf.
bool IsTargetName(std::string_view name);
inline constexpr std::string_view kTargetNameRule =
    "1 to 128 letters, digits, '_', '-' and '.', not beginning with '.'";

}  // namespace kiln
