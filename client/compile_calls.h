// SPDX-License-Identifier: MIT
// Calls about sources, options and single variants: CompileService, as plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::client {

struct Connection;

struct CompileOptions {
  bool retry_failed = false;
  bool durable = false;
};

// CompileCalls::PutSources, for other classes of this folder.
Result<void> UploadSources(Connection& connection, std::span<const Source> sources);

class CompileCalls {
 public:
  // Uploads what the daemon does not have of these sources; to have nothing to upload, scope read
  // is enough. Errors: kPermissionDenied, which names what would have to be stored.
  Result<void> PutSources(std::span<const Source> sources);

  // Sources must have been uploaded. A wrong source is an outcome.
  Result<Outcome> Compile(const Program& program, std::span<const Option> options,
                          const CompileOptions& how);
  Result<OptionList> ListOptions(const Program& program);
  // The same of many programs, in their order, without what can depend on the options: names,
  // types, values and defaults are all that spaces need.
  Result<std::vector<OptionList>> ListOptionsOf(std::span<const Program* const> programs);

  // How many variants a space has; `filter`, if not empty, keeps those where it is true. What is
  // wrong with the sources or the space is in the result.
  Result<VariantCount> CountVariants(const ProgramSpace& space, const std::string& filter);
  // A page of them in rank order. Errors: kInvalidArgument for a wrong space.
  Result<VariantPage> ListVariants(const ProgramSpace& space, const std::string& filter,
                                   uint32_t page_size, const std::string& page);
  // Page after page, until there are no more or `take` has enough. Errors: those, and of PageCount.
  enum class More : uint8_t { kWanted, kEnough };
  Result<void> EachPageOfVariants(const ProgramSpace& space, const std::string& filter,
                                  uint32_t page_size,
                                  const std::function<More(std::span<const VariantRow>)>& take);

 protected:
  explicit CompileCalls(Connection& connection) : connection_(connection) {}
  ~CompileCalls() = default;

 private:
  Connection& connection_;
};

}  // namespace kiln::client
