// SPDX-License-Identifier: MIT
// A prepared program and what happened to a request for one of its variants -> an explain record.
// See spec/cache 11
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/explain/explain_ring.h"
#include "server/compile/build_trace.h"
#include "server/compile/cached_build.h"

namespace kiln::compile {

// Who asked.
struct Requester {
  std::string project;
  std::string lane;   // interactive, batch
  std::string trace;  // id of the request
  Hash128 watcher;    // the watch session, if one asks
};

// The values of all options as text, in order of declaration: "true", "4u", "\"high\"".
std::vector<cache::NamedText> OptionTexts(const resolve::Program& program,
                                          const resolve::OptionValues& values);
// Settings as they were supplied, for programs whose options are not known.
std::vector<cache::NamedText> OptionTexts(std::span<const resolve::OptionSetting> settings);

// Where the requests of a program and target are. Names are made fit for storing.
cache::ExplainSlot SlotOf(const std::string& project, const std::string& program,
                          const std::string& target);

// The program that a record is about; nullopt if the record is of another version, or does not have
// all files. Its sources have
// no text and may be gone.
std::optional<ProgramRequest> ProgramOf(const cache::ExplainRecord& record);

// What every variant of the program is asked with: all inputs but the options, made fit for
// storing.
cache::ExplainInputs InputsOf(const PreparedProgram& program);

// Of a request that has not been appended. Names of the request are made fit for storing.
cache::ExplainRecord ExplainRecordOf(const PreparedProgram& program, const Requester& asker,
                                     const BuildTrace& trace, Clock& clock);

// Why the results of one program and target are not known: as ExplainRing says of single requests,
// at a cost that a batch can afford, because what all variants share is compared once.
class BatchCauses {
 public:
  // `earlier`: of the slot, before the batch.
  BatchCauses(const cache::ExplainRecord& program,
              std::vector<std::shared_ptr<const cache::ExplainRecord>> earlier);

  // Of a miss with these options.
  cache::Cause CauseOf(const std::vector<cache::NamedText>& options) const;

 private:
  std::vector<std::shared_ptr<const cache::ExplainRecord>> same_;  // but for the options
  cache::Cause of_program_ = cache::Cause::kFirstSeen;             // if there are none
};

// Results that a batch did not know, by cause.
struct MissHistogram {
  struct Row {
    uint64_t count = 0;
    std::vector<uint64_t> examples;  // numbers of explain records, at most kExamples
  };
  static constexpr size_t kExamples = 3;

  uint64_t results = 0;  // looked up
  std::map<cache::Cause, Row> causes;
};

}  // namespace kiln::compile
