// SPDX-License-Identifier: MIT
// Programs as they were pushed last, for the thread that fetches what is too large to come along.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/types.h"

namespace kiln::cli {

using KeptPrograms = std::map<std::string, client::Program>;  // by name

// Makes `kept` what `spaces` are now. Texts are copied for those alone that have other sources or
// files to include: an edit of one of thousands costs one.
void KeepPrograms(const std::vector<client::ProgramSpace>& spaces, KeptPrograms& kept);

}  // namespace kiln::cli
