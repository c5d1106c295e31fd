import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.crypto.*;
import org.apache.parquet.example.data.*;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.*;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.*;
import org.apache.parquet.schema.*;

public class WriteEncrypted {
  static void write(String path, boolean ctr, boolean plain, boolean columns, CompressionCodecName codec) throws Exception {
    MessageType schema = MessageTypeParser.parseMessageType(
        "message m { required int64 id; optional binary name (STRING); optional double x; optional group tags (LIST) { repeated group list { optional int32 element; } } }");
    FileEncryptionProperties.Builder b = FileEncryptionProperties.builder("0123456789012345".getBytes())
        .withFooterKeyMetadata("kf".getBytes()).withAADPrefix("tester".getBytes());
    if (ctr) b.withAlgorithm(ParquetCipher.AES_GCM_CTR_V1);
    if (plain) b.withPlaintextFooter();
    if (columns) {
      Map<ColumnPath, ColumnEncryptionProperties> m = new HashMap<>();
      for (String[] c : new String[][]{{"id", "1234567890123450"}, {"name", "1234567890123451"}, {"tags.list.element", "1234567890123452"}}) {
        ColumnPath p = ColumnPath.fromDotString(c[0]);
        m.put(p, ColumnEncryptionProperties.builder(p).withKey(c[1].getBytes()).withKeyMetaData(("k " + c[0]).getBytes()).build());
      }
      b.withEncryptedColumns(m);
    }
    new java.io.File(path).delete();
    try (ParquetWriter<Group> w = ExampleParquetWriter.builder(new Path(path)).withType(schema)
        .withWriterVersion(WriterVersion.PARQUET_2_0).withCompressionCodec(codec).withConf(new Configuration())
        .withPageWriteChecksumEnabled(true).withPageRowCountLimit(40).withRowGroupRowCountLimit(100)
        .withBloomFilterEnabled("id", true).withBloomFilterNDV("id", 100L).withEncryption(b.build()).build()) {
      SimpleGroupFactory f = new SimpleGroupFactory(schema);
      for (int i = 0; i < 200; i++) {
        Group g = f.newGroup().append("id", (long) i * 7919);
        if (i % 11 != 3) g.append("name", "name " + i % 23);
        if (i % 5 != 1) g.append("x", i + 0.25);
        if (i % 7 != 0) {
          Group t = g.addGroup("tags");
          if (i % 7 != 1) { t.addGroup("list").append("element", i); t.addGroup("list"); t.addGroup("list").append("element", i % 3); }
        }
        w.write(g);
      }
    }
  }
  public static void main(String[] a) throws Exception {
    write("java_v2_gcm_columns.parquet.encrypted", false, false, true, CompressionCodecName.UNCOMPRESSED);
    write("java_v2_ctr_uniform.parquet.encrypted", true, false, false, CompressionCodecName.SNAPPY);
    write("java_v2_gcm_plaintext_footer.parquet.encrypted", false, true, true, CompressionCodecName.SNAPPY);
  }
}
