// SPDX-License-Identifier: MIT
// One request to a listener on this machine, for tests of what it serves.
#pragma once

#include <string>

namespace kiln {

// Head and body of the answer. Requires: the address is HOST:PORT of the loopback interface.
std::string HttpGet(const std::string& address, const std::string& path);

}  // namespace kiln
