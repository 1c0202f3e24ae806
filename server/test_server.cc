// SPDX-License-Identifier: MIT
#include "server/test_server.h"

#include "compiler/base/files/file.h"

namespace kiln::server {

const std::string& GoodSource() {
  static const std::string text =
      ReadFile(std::string(KILN_SOURCE_DIR) + "/tests/acceptance/rpl/early_return.rpl").value();
  return text;
}

}  // namespace kiln::server
