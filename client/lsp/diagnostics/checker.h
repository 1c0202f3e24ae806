// SPDX-License-Identifier: MIT
// Diagnostics of open files, in steps between requests: first what can be said at once about the
// file that changed last (its grammar, and the variant one looks at), then its other programs, then
// all variants. What is known is published for every file of a program, open or not.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/lsp/analysis/space_check.h"
#include "client/lsp/diagnostics/diagnostic_json.h"
#include "client/lsp/features/session.h"
#include "compiler/base/clock.h"

namespace kiln::lsp {

class Checker {
 public:
  // Of the programs of one file, and of those without an open file, this many are checked.
  static constexpr size_t kMaxPrograms = 64;
  static constexpr Duration kSlice = std::chrono::milliseconds(4);
  // What programs whose variants are being tried may keep together. Beyond it they are tried one
  // after another, and one that has to wait is linked again when its turn comes.
  static constexpr size_t kMaxHeldBytes = size_t{128} << 20;

  // Both outlive it.
  Checker(Session& session, Clock& clock, size_t most_held = kMaxHeldBytes)
      : session_(session), clock_(clock), most_held_(most_held) {}

  // The file was opened, changed or saved, or is looked at in another way.
  void Touch(const std::string& path);
  void TouchOpenFiles();
  void Close(const std::string& path);

  // One step; false if nothing was left to do. Adds notifications.
  bool Step(std::vector<Json>& out);
  // Somebody asks for the file's diagnostics now: what the next steps would say about it first is
  // said here.
  void CheckNow(const std::string& path, std::vector<Json>& out);
  // From now on the programs of all projects are checked, whether something of them is open or not.
  void WatchWorkspace();
  // A step threw: what it was about is given up until it is touched again.
  void Abandon();
  // Everything that waits is given up: programs are as they were checked last, until something
  // of them is touched.
  void GiveUp();
  // Files and programs that wait or are being worked on.
  size_t waiting() const { return dirty_.size() + pending_.size() + running_.size(); }
  bool idle() const { return dirty_.empty() && pending_.empty() && running_.empty(); }
  // Of programs that are kept because their variants are being tried; the one in work is the
  // largest part where it alone is beyond kMaxHeldBytes.
  size_t held_bytes() const;
  size_t held_programs() const;
  size_t checked_programs() const { return checked_.size(); }

 private:
  // What is known of a program that was checked. The program itself goes as soon as nothing more is
  // to be tried of it: 64 of them would be gigabytes.
  struct CheckedProgram {
    ProgramSpec spec;
    Digest stamp;  // of the program
    std::vector<FileVersion> files;
    std::vector<resolve::OptionSetting> interest;
    std::shared_ptr<const LinkedSources> program;  // while it runs; null: it waits for its turn
    std::unique_ptr<SpaceCheck> check;             // with it
    std::vector<FileDiagnostic> rows;
    std::vector<Json> manifest_rows;
  };

  void CheckDirty(const std::string& path, std::vector<Json>& out);
  void CheckFile(const std::string& path, std::vector<Json>& out);
  void CheckManifest(const std::string& path, std::vector<Json>& out);
  // Checks a program anew if something of it changed; true if it did.
  bool CheckProgram(const ProgramSpec& spec);
  void StepRunning(std::vector<Json>& out);
  void ParkBeyondBound();
  void TakeRows(CheckedProgram& checked);
  void TakeManifestRows(CheckedProgram& checked);
  void Publish(const std::string& path, std::vector<Json>& out);
  void PublishProgram(const CheckedProgram& checked, std::vector<Json>& out);
  void PublishManifest(const std::string& path, std::vector<Json>& out);
  void Send(const std::string& path, Json diagnostics, std::vector<Json>& out);
  void ForgetClosed(std::vector<Json>& out);
  void QueueWorkspace();
  bool IsWanted(const CheckedProgram& checked) const;
  static std::string NameOf(const ProgramSpec& spec);

  Session& session_;
  Clock& clock_;
  const size_t most_held_;
  std::vector<std::string> dirty_;       // paths; the last one first
  std::vector<ProgramSpecPtr> pending_;  // not looked at yet; the last one first
  std::vector<std::string> running_;     // names of programs whose variants are being tried
  std::string in_work_;                  // of running_
  std::map<std::string, CheckedProgram> checked_;
  std::set<std::string> open_;
  bool watches_workspace_ = false;
  std::set<std::string> watched_;       // names of programs that stay without an open file
  std::vector<std::string> manifests_;  // of watched ones, not looked at yet
  bool forget_ = false;                 // a file was closed
};

}  // namespace kiln::lsp
