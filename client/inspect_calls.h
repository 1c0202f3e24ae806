// SPDX-License-Identifier: MIT
// Calls that look at results: what they are (Inspect), and why they were hits or misses (Explain).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::client {

struct Connection;

class InspectCalls {
 public:
  // Views of one result by signature, of one product by digest, or of a variant that was compiled:
  // stats, meta, layout, options, disasm, ir (of a variant), wgsl, msl, glsl, hlsl; none: those of
  // the daemon's choice. By artifact, then in their order. Errors: kNotFound; kInvalidArgument for
  // what is no view of it; kFailedPrecondition for code that does not translate.
  struct InspectSignature {
    std::string hex;
  };
  struct InspectContent {
    std::string hex;
  };
  struct InspectVariant {
    Program program;
    std::vector<Option> options;
  };
  using InspectSubject = std::variant<InspectSignature, InspectContent, InspectVariant>;
  Result<std::vector<InspectedView>> Inspect(const InspectSubject& subject,
                                             std::span<const std::string> views);

  struct ExplainVariant {  // would it hit now?
    std::string project;
    Program program;
    std::vector<Option> options;
  };
  struct ExplainKey {
    std::string hex;  // signature, variant or live key
  };
  struct ExplainRequest {
    uint64_t seq = 0;  // of an outcome
  };
  struct ExplainBatch {
    std::string id;  // hex
  };
  struct ExplainLast {
    uint32_t count = 1;
  };
  using ExplainSubject =
      std::variant<ExplainVariant, ExplainKey, ExplainRequest, ExplainBatch, ExplainLast>;
  // Errors: kNotFound if nobody remembers.
  Result<ExplainReply> Explain(const ExplainSubject& subject);

 protected:
  explicit InspectCalls(Connection& connection) : connection_(connection) {}
  ~InspectCalls() = default;

 private:
  Connection& connection_;
};

}  // namespace kiln::client
