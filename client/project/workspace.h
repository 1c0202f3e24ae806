// SPDX-License-Identifier: MIT
// Which copy of a project's files this is. See spec/daemon 8.1
#pragma once

#include <string>

namespace kiln::project {

// Names the folder of a manifest among all folders of all machines: 32 hex digits, the same in
// every process of this machine and after a restart, different for any other folder, machine or
// container. A SHA-256 of the machine's id, its host name and the folder's real path: neither can
// be read from it. Links count as what they lead to; a folder that is not there goes by its name.
std::string WorkspaceId(const std::string& folder);

}  // namespace kiln::project
