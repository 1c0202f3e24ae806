// SPDX-License-Identifier: MIT
// Diagnostic + the sources of its program -> plain text and lines and columns, ready to be sent,
// rendered or written as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/source/module_text.h"
#include "compiler/source/source_file.h"
#include "compiler/source/span.h"

namespace kiln {

// Lines and columns count from 1, columns in code points; the end is the place after the last
// character. Without a place the path is empty and the numbers are 0.
struct PlacedSpan {
  std::string path;
  Span bytes;  // of the file
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t end_line = 0;
  uint32_t end_column = 0;

  bool known() const { return line != 0; }
  bool operator==(const PlacedSpan&) const = default;
};

struct PlacedLabel {
  PlacedSpan where;
  std::string text;
  bool operator==(const PlacedLabel&) const = default;
};

struct PlacedFix {
  PlacedSpan where;
  std::string replacement;
  Confidence confidence = Confidence::kSure;
  bool operator==(const PlacedFix&) const = default;
};

// Which variants of a batch fail; counts are decimal because they may exceed 64 bits.
struct PlacedVariants {
  std::string failing;
  std::string total;
  std::string condition;  // shortest expression over the live options, or empty
  std::string example;    // "fog=true quality=high"
  bool operator==(const PlacedVariants&) const = default;
};

struct PlacedDiagnostic {
  std::string code;  // "RPL6022"
  std::string name;  // "operator-types"
  Severity severity = Severity::kError;
  std::string message;
  PlacedSpan primary;
  std::vector<PlacedLabel> labels;
  std::vector<std::string> notes;  // with heading: "help: accepted: f3"
  std::optional<PlacedFix> fix;
  std::optional<PlacedVariants> variants;
  bool operator==(const PlacedDiagnostic&) const = default;
};

// modules[i] has the texts of module i in link order. A location in a text that is not there
// becomes one without a place. Requires: byte positions are filled in (see FillPositions).
PlacedDiagnostic Place(const Diagnostic& diagnostic, std::span<const ModuleText> modules);
std::vector<PlacedDiagnostic> Place(std::span<const Diagnostic> diagnostics,
                                    std::span<const ModuleText> modules);

// The same where each module has one source.
PlacedDiagnostic Place(const Diagnostic& diagnostic, std::span<const SourceFile* const> modules);
std::vector<PlacedDiagnostic> Place(std::span<const Diagnostic> diagnostics,
                                    std::span<const SourceFile* const> modules);

// Errors, then warnings, then lints; within that by path and position. Keeps the order of equals.
bool ReadsBefore(const PlacedDiagnostic& a, const PlacedDiagnostic& b);
void SortForReading(std::vector<PlacedDiagnostic>& diagnostics);

}  // namespace kiln
