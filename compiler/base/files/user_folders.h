// SPDX-License-Identifier: MIT
// Where a user's own things lie when nothing else is said. Client and daemon agree because both ask
// here. No default lies in a folder that others may write to: where the environment names no folder
// of the user there is none. Spec: XDG Base Directory 0.8; spec/daemon 11.2, 15
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace kiln {

using Variables = std::function<std::optional<std::string>(const std::string& name)>;

// Of this process.
std::optional<std::string> ProcessVariable(const std::string& name);

// $XDG_RUNTIME_DIR/kiln/kilnd.sock, else run/kilnd.sock below UserCacheFolder. As for all of
// these: a variable that is no absolute path counts as not set, and empty says that there is none.
std::string UserSocket(const Variables& variables);
// The owner's own way into a daemon whose socket others may connect to: own/kilnd.sock beside it,
// in a folder that nobody else can enter. Empty for an empty path.
std::string OwnersSocket(const std::string& socket);
// $XDG_CACHE_HOME/kiln, else $HOME/.cache/kiln.
std::string UserCacheFolder(const Variables& variables);
// $XDG_CONFIG_HOME/kiln, else $HOME/.config/kiln.
std::string UserConfigFolder(const Variables& variables);

}  // namespace kiln
