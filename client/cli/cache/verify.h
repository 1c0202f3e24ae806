// SPDX-License-Identifier: MIT
// kiln cache verify: hashes everything again and changes nothing. See spec/cache 9
#pragma once

#include <memory>
#include <string>

#include "client/cli/command_line.h"

namespace kiln::cli {

// `dir`: what --dir says once the words are parsed.
void AddCacheVerify(CLI::App& cache, CommandLine& line,
                    const std::shared_ptr<const std::string>& dir);

}  // namespace kiln::cli
