#include "calve/cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

namespace calve::cli {

namespace {

arrow::StopSource* stop_source = nullptr;
std::atomic<int> stop_signal{0};
std::atomic<bool> file_is_set{false};
char file_to_remove[4096];

// Only what is async-signal-safe.
void OnSignal(int signal_number) {
  if (stop_signal.exchange(signal_number) == 0) {
    stop_source->RequestStopFromSignal(signal_number);
    return;
  }
  if (file_is_set.load()) unlink(file_to_remove);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void InstallInterrupts() {
  stop_source = new arrow::StopSource();
  struct sigaction action = {};
  action.sa_handler = OnSignal;  // without SA_RESTART: a write to a full pipe returns
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // nohup starts a command with SIGHUP ignored, so that it outlives its terminal.
  struct sigaction hangup = {};
  if (sigaction(SIGHUP, nullptr, &hangup) != 0 || hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

const arrow::StopToken& InterruptToken() {
  static const arrow::StopToken token = stop_source != nullptr ? stop_source->token() : arrow::StopToken::Unstoppable();
  return token;
}

int InterruptSignal() { return stop_signal.load(); }

void SetFileToRemove(const std::string& path) {
  file_is_set.store(false);
  if (path.empty() || path.size() >= sizeof(file_to_remove)) return;
  std::memcpy(file_to_remove, path.c_str(), path.size() + 1);
  file_is_set.store(true);
}

}  // namespace calve::cli
