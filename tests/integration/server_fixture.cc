// SPDX-License-Identifier: MIT
#include "tests/integration/server_fixture.h"

#include <fstream>
#include <sstream>

namespace kiln::server {

const std::string& GoodSource() {
  static const std::string text = [] {
    std::ifstream file(std::string(KILN_SOURCE_DIR) + "/tests/acceptance/rpl/early_return.rpl");
    std::stringstream read;
    read << file.rdbuf();
    return read.str();
  }();
  return text;
}

}  // namespace kiln::server
