// SPDX-License-Identifier: MIT
// Mistakes of what a manifest and --where say of variants, shown where they were written: the
// daemon knows the expressions, not the file. See spec/daemon 6.3, spec/cli 9
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/project/manifest.h"
#include "compiler/diag/place.h"

namespace kiln::cli {

// Lines and columns of bytes of a text.
PlacedSpan PlacedAt(std::string path, std::string_view text, Span bytes);

class SpaceMistakes {
 public:
  // `where` is what --where says. Both outlive the object.
  SpaceMistakes(const project::Manifest& manifest, const std::string& where);

  // Places of expressions become places of the file, or of --where; all others stay.
  std::vector<PlacedDiagnostic> InFiles(std::vector<PlacedDiagnostic> diagnostics) const;

  // The sources, and the texts that such places are in.
  std::vector<client::Source> SourcesWith(std::vector<client::Source> sources) const;

 private:
  void MoveToFile(PlacedSpan& where) const;

  const project::Manifest& manifest_;
  const std::string& where_;
};

}  // namespace kiln::cli
