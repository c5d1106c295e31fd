#pragma once

#include "calve/cli/session.h"

#include <CLI/App.hpp>

namespace calve::cli {

// The commands of `calve shuffle`. Each adds itself to the group `shuffle`.
void AddShuffleWrite(CLI::App* shuffle, Action* action);
void AddShuffleRepartition(CLI::App* shuffle, Action* action);
void AddShuffleInspect(CLI::App* shuffle, Action* action);
void AddShuffleVerify(CLI::App* shuffle, Action* action);
void AddShuffleRead(CLI::App* shuffle, Action* action);

}  // namespace calve::cli
