#include "calve/cli/shuffle_command.h"

namespace calve::cli {

void AddShuffle(CLI::App* app, Action* action) {
  CLI::App* shuffle = app->add_subcommand("shuffle", "Write shuffles and look into them");
  shuffle->require_subcommand(1);
  AddShuffleWrite(shuffle, action);
  AddShuffleRepartition(shuffle, action);
  AddShuffleInspect(shuffle, action);
  AddShuffleVerify(shuffle, action);
  AddShuffleRead(shuffle, action);
  shuffle->footer("Example:\n  calve shuffle write orders.parquet --partitions 200 --by customer_id --to /tmp/shuffle");
}

}  // namespace calve::cli
