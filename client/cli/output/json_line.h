// SPDX-License-Identifier: MIT
// One line of --json. See spec/cli 7.1
#pragma once

#include <nlohmann/json.hpp>

#include "client/cli/output/print.h"
#include "compiler/base/text/json_row.h"

namespace kiln::cli {

inline void PrintLine(const nlohmann::ordered_json& object) {
  Print("{}\n", TrustedText{JsonLine(object)});
}

}  // namespace kiln::cli
