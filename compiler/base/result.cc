// SPDX-License-Identifier: MIT
// Names and texts of operational errors.
#include "compiler/base/result.h"

namespace kiln {

// The names are those of the codes of gRPC, which the daemon answers with; scripts compare them, so
// they are part of the interface.
std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled:
      return "CANCELLED";
    case ErrorCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case ErrorCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case ErrorCode::kNotFound:
      return "NOT_FOUND";
    case ErrorCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case ErrorCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case ErrorCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case ErrorCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case ErrorCode::kAborted:
      return "ABORTED";
    case ErrorCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case ErrorCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case ErrorCode::kInternal:
      return "INTERNAL";
    case ErrorCode::kUnavailable:
      return "UNAVAILABLE";
    case ErrorCode::kDataLoss:
      return "DATA_LOSS";
    case ErrorCode::kUnauthenticated:
      return "UNAUTHENTICATED";
  }
  KILN_UNREACHABLE();
}

// `CODE (REASON): context`, with the parts that are there.
std::string ErrorText(const Error& error) {
  std::string text(ErrorCodeName(error.code));
  if (!error.reason.empty()) {
    text += " (" + error.reason + ")";
  }
  if (!error.context.empty()) {
    text += ": " + error.context;
  }
  return text;
}

Error WithContext(Error error, std::string_view prefix) {
  // The prefix comes in front, so that the text reads from the outside to the inside.
  error.context = std::string(prefix) + ": " + error.context;
  return error;
}

}  // namespace kiln
