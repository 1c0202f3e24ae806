// SPDX-License-Identifier: MIT
// The names of faults. They are stored in quarantine rows and read by scripts, so a name never
// changes.
#include "cache/maintenance.h"

namespace kiln::cache {

std::string_view FaultKindName(FaultKind kind) {
  switch (kind) {
    case FaultKind::kDatabase:
      return "database";
    case FaultKind::kSchema:
      return "schema";
    case FaultKind::kIndex:
      return "index";
    case FaultKind::kBlob:
      return "blob";
    case FaultKind::kBlobSize:
      return "blob_size";
    case FaultKind::kRecord:
      return "record";
    case FaultKind::kColumns:
      return "columns";
    case FaultKind::kDangling:
      return "dangling";
    case FaultKind::kReference:
      return "reference";
    case FaultKind::kAlias:
      return "alias";
    case FaultKind::kPin:
      return "pin";
    case FaultKind::kExplain:
      return "explain";
    case FaultKind::kDictionary:
      return "dictionary";
    case FaultKind::kBlock:
      return "block";
  }
  return "";
}

// One line: KIND, the key if there is one, and the detail. Clients take it apart again at the first
// ": ".
std::string FaultText(const Fault& fault) {
  std::string text(FaultKindName(fault.kind));
  if (!fault.key.id.zero()) {
    text += " " + KeyText(fault.key);
  }
  return text + ": " + fault.detail;
}

}  // namespace kiln::cache
