// SPDX-License-Identifier: MIT
// Diagnostics about expressions of the manifest come with places within the expression. Here they
// get places in kiln.toml, or in the text of --where, so that a person can go there.
#include "client/cli/project/space_mistakes.h"

#include <optional>
#include <utility>

#include "client/project/expression_place.h"
#include "compiler/source/line_index.h"

namespace kiln::cli {
// Makes an index of lines each time. Mistakes in a manifest are few.
PlacedSpan PlacedAt(std::string path, std::string_view text, Span bytes) {
  const LineIndex index(text);
  const LineColumn begin = index.At(bytes.begin);
  const LineColumn end = index.At(bytes.end);
  return {.path = std::move(path),
          .bytes = bytes,
          .line = begin.line,
          .column = begin.column,
          .end_line = end.line,
          .end_column = end.column};
}

SpaceMistakes::SpaceMistakes(const project::Manifest& manifest, const std::string& where)
    : manifest_(manifest), where_(where) {}

// The daemon counts from where it was told that the expression begins.
void SpaceMistakes::MoveToFile(PlacedSpan& where) const {
  // --where is a text without a file: it has lines of its own.
  if (where.path == client::kFilterPath) {
    where = PlacedAt(where.path, where_, where.bytes);
    return;
  }
  if (where.path != manifest_.path) {
    return;
  }
  for (const project::ManifestProgram& program : manifest_.programs) {
    for (const auto* expressions : {&program.exclude, &program.require}) {
      for (const project::ManifestExpression& expression : *expressions) {
        if (expression.place.line != where.line ||
            expression.place.column + where.bytes.begin != where.column) {
          continue;
        }
        // Quotes and escapes of TOML make positions in the expression and in the file differ, so
        // the place is looked up in the text.
        const std::optional<Span> span =
            project::SpanInManifest(manifest_.text, expression, where.bytes);
        if (span.has_value()) {
          where = PlacedAt(where.path, manifest_.text, *span);
        }
        return;
      }
    }
  }
}

// The primary place, labels and the fix all move: a fix that stayed behind would edit another part
// of the file.
std::vector<PlacedDiagnostic> SpaceMistakes::InFiles(
    std::vector<PlacedDiagnostic> diagnostics) const {
  for (PlacedDiagnostic& diagnostic : diagnostics) {
    MoveToFile(diagnostic.primary);
    for (PlacedLabel& label : diagnostic.labels) {
      MoveToFile(label.where);
    }
    if (diagnostic.fix.has_value()) {
      MoveToFile(diagnostic.fix->where);
    }
  }
  return diagnostics;
}

// Snippets of a diagnostic come from these texts, so the manifest and the filter are among them as
// if they were files.
std::vector<client::Source> SpaceMistakes::SourcesWith(std::vector<client::Source> sources) const {
  sources.push_back({.path = manifest_.path, .digest = {}, .text = manifest_.text});
  sources.push_back({.path = client::kFilterPath, .digest = {}, .text = where_});
  return sources;
}

}  // namespace kiln::cli
