// Times writing a shuffle: 10 columns, hash partitioned by one, by calve or by plain Arrow C++.
//
//   calve_peer_shuffle_write [--arm calve|arrow|codec|input] [--codec none|lz4|zstd] [--budget BYTES] [--rows N]
//   [--partitions N]
//                            [--rounds N] [--batch-rows N] --to DIR
//
// Prints one JSON line: seconds and CPU seconds (medians), of which the input's (batches are copied afresh for every
// arm, as if they came from elsewhere), bytes written, and how much the process's memory grew at most.
// `arrow`: batches are collected up to the budget, combined, taken in the order of partitions and written to one IPC
// stream a partition. `codec`: calve without codec, and then only the codec over the same bytes. `input`: writes the
// rows as DIR/input.arrow, for peers that are not linked here, and prints nothing.
#include "calve/partitioner.h"
#include "calve/shuffle.h"
#include "calve/shuffle/block_compressor.h"
#include "support/arguments.h"

#include <arrow/array/concatenate.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/initialize.h>
#include <arrow/datum.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/compression.h>
#include <fmt/format.h>

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <random>

namespace {

using arrow::Result;
using arrow::Status;
using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

struct Options {
  std::string arm = "calve", codec = "none", to;
  int64_t budget = int64_t{512} << 20, rows = 5000000, batch_rows = 8192;
  int partitions = 200, rounds = 3;
};

template <typename Builder, typename Make>
std::shared_ptr<arrow::Array> Column(int64_t rows, Make make) {
  Builder builder;
  for (int64_t i = 0; i < rows; ++i) {
    if (!builder.Append(make()).ok()) return nullptr;
  }
  return builder.Finish().ValueOrDie();
}

/// Numbers of a small and of a large range, texts of 4 to 20 and of 24 to 40 bytes.
std::shared_ptr<arrow::RecordBatch> MakeTemplate(int64_t rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto text = [&](size_t least, size_t spread) {
    std::string value = "value-";
    while (value.size() < least + random() % spread) value += static_cast<char>('a' + random() % 26);
    return value;
  };
  arrow::ArrayVector columns;
  arrow::FieldVector fields;
  const auto add = [&](std::shared_ptr<arrow::Array> column) {
    fields.push_back(arrow::field("c" + std::to_string(fields.size()), column->type()));
    columns.push_back(std::move(column));
  };
  for (int i = 0; i < 2; ++i) {
    add(Column<arrow::Int64Builder>(rows, [&] { return static_cast<int64_t>(random()); }));
    add(Column<arrow::Int64Builder>(rows, [&] { return static_cast<int64_t>(random() % 100000); }));
    add(Column<arrow::Int32Builder>(rows, [&] { return static_cast<int32_t>(random() % 1000); }));
    add(Column<arrow::DoubleBuilder>(rows, [&] { return static_cast<double>(random() % 1000000) / 100; }));
    add(Column<arrow::StringBuilder>(rows, [&] { return i == 0 ? text(4, 16) : text(24, 16); }));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), rows, columns);
}

/// The rows, in batches that own their memory.
class Input {
 public:
  explicit Input(const Options& options) : options_(options) {
    for (uint64_t seed = 0; seed < 16; ++seed) templates_.push_back(MakeTemplate(options.batch_rows, seed));
  }
  const std::shared_ptr<arrow::Schema>& schema() const { return templates_[0]->schema(); }
  void Restart() { done_ = 0; }

  Result<std::shared_ptr<arrow::RecordBatch>> Next() {
    if (done_ >= options_.rows) return nullptr;
    const auto& whole = templates_[static_cast<size_t>(done_ / options_.batch_rows) % templates_.size()];
    const int64_t rows = std::min(options_.batch_rows, options_.rows - done_);
    arrow::ArrayVector columns;
    for (const auto& column : whole->columns()) {
      ARROW_ASSIGN_OR_RAISE(auto copy, arrow::Concatenate({column->Slice(0, rows)}));
      if (columns.empty()) AddToEach(done_, copy->data().get());
      columns.push_back(std::move(copy));
    }
    done_ += rows;
    return arrow::RecordBatch::Make(whole->schema(), rows, std::move(columns));
  }

 private:
  /// Sends the rows of every batch to other partitions, so that blocks do not repeat themselves.
  static void AddToEach(int64_t number, arrow::ArrayData* column) {
    auto* values = column->GetMutableValues<int64_t>(1);
    for (int64_t i = 0; i < column->length; ++i) values[i] += number;
  }

  Options options_;
  Batches templates_;
  int64_t done_ = 0;
};

calve::PartitionerResult MakePartitioner(const Input& input, const Options& options) {
  return calve::MakeHashPartitioner(input.schema(), {"c0"}, options.partitions);
}

calve::ShuffleCodec CodecOf(const std::string& name) {
  if (name == "lz4") return calve::ShuffleCodec::kLz4;
  return name == "zstd" ? calve::ShuffleCodec::kZstd : calve::ShuffleCodec::kNone;
}

Status WriteByCalve(Input* input, const Options& options) {
  calve::ShuffleWriteOptions write;
  write.blocks.codec = CodecOf(options.arm == "codec" ? "none" : options.codec);
  write.memory_budget_bytes = options.budget;
  ARROW_ASSIGN_OR_RAISE(auto partitioner, MakePartitioner(*input, options));
  ARROW_ASSIGN_OR_RAISE(const auto writer,
                        calve::ShuffleTaskWriter::Make(options.to, 0, input->schema(), std::move(partitioner), write));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer->Write(batch));
  }
  return writer->Commit().status();
}

/// One IPC stream a partition, as a person would write it with Arrow.
class ArrowWriter {
 public:
  static Result<ArrowWriter> Make(const Input& input, const Options& options) {
    ArrowWriter made;
    made.options_ = options;
    auto ipc = arrow::ipc::IpcWriteOptions::Defaults();
    ipc.use_threads = false;
    if (options.codec == "lz4") {
      ARROW_ASSIGN_OR_RAISE(ipc.codec, arrow::util::Codec::Create(arrow::Compression::LZ4_FRAME));
    } else if (options.codec == "zstd") {
      ARROW_ASSIGN_OR_RAISE(ipc.codec, arrow::util::Codec::Create(arrow::Compression::ZSTD, 1));
    }
    std::filesystem::create_directories(options.to);
    for (int p = 0; p < options.partitions; ++p) {
      ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::FileOutputStream::Open(fmt::format("{}/{}.arrows", options.to, p)));
      ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeStreamWriter(file, input.schema(), ipc));
      made.writers_.push_back(std::move(writer));
    }
    return made;
  }

  Status Write(Input* input) {
    ARROW_ASSIGN_OR_RAISE(const auto partitioner, MakePartitioner(*input, options_));
    int64_t held = 0;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, input->Next());
      if (batch == nullptr) break;
      const size_t at = partition_of_row_.size();
      partition_of_row_.resize(at + static_cast<size_t>(batch->num_rows()));
      ARROW_RETURN_NOT_OK(partitioner->Assign(*batch, std::span(partition_of_row_).subspan(at)));
      for (const auto& column : batch->column_data()) {
        for (const auto& buffer : column->buffers) held += buffer == nullptr ? 0 : buffer->capacity();
      }
      batches_.push_back(batch);
      // The batches, what they are combined to, and what is taken of it are there at the same time.
      if (3 * held > options_.budget) {
        ARROW_RETURN_NOT_OK(Flush());
        held = 0;
      }
    }
    ARROW_RETURN_NOT_OK(Flush());
    for (const auto& writer : writers_) ARROW_RETURN_NOT_OK(writer->Close());
    return Status::OK();
  }

 private:
  Status Flush() {
    if (batches_.empty()) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto whole, arrow::ConcatenateRecordBatches(batches_));
    batches_.clear();
    std::vector<int64_t> starts(static_cast<size_t>(options_.partitions) + 1);
    for (const uint32_t p : partition_of_row_) ++starts[p + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<uint32_t> order(partition_of_row_.size());
    auto next = starts;
    for (size_t row = 0; row < order.size(); ++row) {
      order[static_cast<size_t>(next[partition_of_row_[row]]++)] = static_cast<uint32_t>(row);
    }
    partition_of_row_.clear();
    const arrow::UInt32Array indices(static_cast<int64_t>(order.size()), arrow::Buffer::Wrap(order));
    ARROW_ASSIGN_OR_RAISE(const auto taken, arrow::compute::Take(arrow::Datum(whole), arrow::Datum(indices.data()),
                                                                 arrow::compute::TakeOptions::NoBoundsCheck()));
    whole.reset();
    for (size_t p = 0; p < writers_.size(); ++p) {
      if (starts[p] == starts[p + 1]) continue;
      ARROW_RETURN_NOT_OK(
          writers_[p]->WriteRecordBatch(*taken.record_batch()->Slice(starts[p], starts[p + 1] - starts[p])));
    }
    return Status::OK();
  }

  Options options_;
  std::vector<std::shared_ptr<arrow::ipc::RecordBatchWriter>> writers_;
  Batches batches_;
  std::vector<uint32_t> partition_of_row_;
};

Status WriteByArrow(Input* input, const Options& options) {
  ARROW_ASSIGN_OR_RAISE(auto writer, ArrowWriter::Make(*input, options));
  return writer.Write(input);
}

Status WriteInput(Input* input, const Options& options) {
  std::filesystem::create_directories(options.to);
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::FileOutputStream::Open(options.to + "/input.arrow"));
  ARROW_ASSIGN_OR_RAISE(const auto writer, arrow::ipc::MakeFileWriter(file, input->schema()));
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input->Next());
    if (batch == nullptr) break;
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
  }
  ARROW_RETURN_NOT_OK(writer->Close());
  return file->Close();
}

/// The codec alone, over the blocks that were written without.
Status CompressOnly(const Options& options, const arrow::Buffer& blocks) {
  ARROW_ASSIGN_OR_RAISE(const auto compressor, calve::shuffle::MakeBlockCompressor(CodecOf(options.codec), {}));
  calve::ipc::ByteArena out(arrow::default_memory_pool());
  std::span<const uint8_t> left(blocks.data(), static_cast<size_t>(blocks.size()));
  while (!left.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto header, calve::ParseShuffleBlockHeader(left));
    const auto size = static_cast<size_t>(header.block_size());
    out.Truncate(0);
    ARROW_RETURN_NOT_OK(compressor->Compress(left.first(size).subspan(20), {}, &out));
    left = left.subspan(size);
  }
  return Status::OK();
}

Result<std::shared_ptr<arrow::Buffer>> WriteBlocks(Input* input, const Options& options) {
  ARROW_RETURN_NOT_OK(WriteByCalve(input, options));
  ARROW_ASSIGN_OR_RAISE(const auto file, arrow::io::ReadableFile::Open(options.to + "/shuffle_0_0_0.data"));
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  return file->Read(size);
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int64_t PeakKiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int64_t FolderBytes(const std::string& folder) {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    bytes += static_cast<int64_t>(entry.file_size());
  return bytes;
}

Result<Options> Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--arm") {
      options.arm = value;
    } else if (name == "--codec") {
      options.codec = value;
    } else if (name == "--budget") {
      options.budget = std::atoll(value.c_str());
    } else if (name == "--rows") {
      options.rows = std::atoll(value.c_str());
    } else if (name == "--batch-rows") {
      options.batch_rows = std::atoll(value.c_str());
    } else if (name == "--partitions") {
      options.partitions = std::atoi(value.c_str());
    } else if (name == "--rounds") {
      options.rounds = std::atoi(value.c_str());
    } else if (name == "--to") {
      options.to = value;
    } else {
      return Status::Invalid("unknown option ", name);
    }
  }
  if (options.to.empty()) return Status::Invalid("--to DIR is needed");
  return options;
}

Status Run(const Options& options) {
  ARROW_RETURN_NOT_OK(arrow::compute::Initialize());
  Input input(options);
  if (options.arm == "input") return WriteInput(&input, options);
  double input_cpu = CpuSeconds();
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input.Next());
    if (batch == nullptr) break;
  }
  input_cpu = CpuSeconds() - input_cpu;
  const int64_t before = PeakKiB();
  std::vector<double> seconds, cpu;
  int64_t bytes = 0;
  for (int round = 0; round < options.rounds; ++round) {
    std::filesystem::remove_all(options.to);
    input.Restart();
    std::shared_ptr<arrow::Buffer> blocks;
    if (options.arm == "codec") {
      ARROW_ASSIGN_OR_RAISE(blocks, WriteBlocks(&input, options));
    }
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = CpuSeconds();
    ARROW_RETURN_NOT_OK(options.arm == "codec"   ? CompressOnly(options, *blocks)
                        : options.arm == "arrow" ? WriteByArrow(&input, options)
                                                 : WriteByCalve(&input, options));
    cpu.push_back(CpuSeconds() - cpu_start);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    bytes = FolderBytes(options.to);
  }
  fmt::print(
      "{{\"arm\": \"{}\", \"codec\": \"{}\", \"budget\": {}, \"rows\": {}, \"seconds\": {:.3f}, \"cpu_seconds\": "
      "{:.3f}, "
      "\"input_cpu_seconds\": {:.3f}, \"bytes\": {}, \"grown_bytes\": {}}}\n",
      options.arm, options.codec, options.budget, options.rows, calve::bench::Median(seconds),
      calve::bench::Median(cpu), input_cpu, bytes, (PeakKiB() - before) * 1024);
  std::filesystem::remove_all(options.to);
  return Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = Parse(argc, argv);
  const Status status = options.ok() ? Run(*options) : options.status();
  if (status.ok()) return 0;
  fmt::print(stderr, "calve_peer_shuffle_write: {}\n", status.ToString());
  return 1;
}
