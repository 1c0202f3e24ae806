// SPDX-License-Identifier: MIT
// What `kiln inspect` looks at -> its views as text: a program or sources, an entry of a pack or a
// file here; a signature or digest at the daemon. See spec/cli 6.7
#pragma once

#include <string>
#include <vector>

#include "client/cli/failure.h"
#include "client/cli/variant/variant.h"

namespace kiln::cli {

struct RenderedView {
  std::string view;
  std::string text;
  std::string json;  // empty for views without this form
};

struct InspectResult {
  std::vector<std::vector<RenderedView>> artifacts;
  int exit = kSuccess;  // kWrongSource: diagnostics were shown
};

// `views` empty: those that fit. Errors: kNotFound, kInvalidArgument, kDataLoss; of the daemon.
Result<InspectResult> InspectWhat(const Global& global, const VariantArguments& what,
                                  const std::vector<std::string>& views);

}  // namespace kiln::cli
