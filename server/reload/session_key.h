// SPDX-License-Identifier: MIT
// Whose watch session it is: one workspace of one principal. See spec/daemon 8.1
#pragma once

#include <compare>
#include <string>

#include "compiler/base/digest.h"

namespace kiln::reload {

struct SessionKey {
  std::string principal;  // ops::Principal::id
  std::string project;
  std::string workspace;  // as the client names it; empty: one of its own, that `client` names
  std::string client;     // without a workspace only

  // The same after a restart; zero without a workspace.
  Hash128 Id() const {
    return workspace.empty() ? Hash128()
                             : HashBytes(AsBytes(principal + '\n' + project + '\n' + workspace));
  }
  friend auto operator<=>(const SessionKey&, const SessionKey&) = default;
};

}  // namespace kiln::reload
