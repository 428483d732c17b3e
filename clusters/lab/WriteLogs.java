import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.Properties;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import kafka.log.Log;
import kafka.log.LogConfig;
import kafka.server.BrokerTopicStats;
import kafka.server.FetchDataInfo;
import kafka.server.FetchLogEnd$;
import kafka.server.LogDirFailureChannel;
import kafka.utils.Scheduler;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.utils.Time;

/**
 * Write logs with Kafka's own class Log (2.8), as lines on the standard input say, and print what its lookups answer.
 *
 *   log FOLDER NAME=VALUE,…                      begins a log with this configuration of a topic
 *   batch BASE_OFFSET SIZE TIMESTAMP,…           appends a batch with one record of SIZE bytes for each timestamp
 *   start OFFSET                                 raises the start offset
 *   offset OFFSET                                prints the base offset of the first batch of a fetch, or none
 *   time TIMESTAMP                               prints the offset that a lookup by timestamp answers, or none
 *   close                                        closes the log
 */
public class WriteLogs {
    private static Log open(File folder, String settings) {
        Properties properties = new Properties();
        for (String setting : settings.split(",")) {
            String[] parts = setting.split("=");
            properties.put(parts[0], parts[1]);
        }
        Object future = Proxy.newProxyInstance(
            WriteLogs.class.getClassLoader(), new Class<?>[] {ScheduledFuture.class},
            (proxy, method, arguments) -> method.getReturnType() == boolean.class ? (Object) true : null);
        Scheduler scheduler = (Scheduler) Proxy.newProxyInstance(
            WriteLogs.class.getClassLoader(), new Class<?>[] {Scheduler.class}, (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "isStarted": return true;
                    case "schedule$default$3": return 0L;
                    case "schedule$default$4": return -1L;
                    case "schedule$default$5": return TimeUnit.MILLISECONDS;
                    case "schedule": return future;
                    default: return null;
                }
            });
        folder.mkdirs();
        LogConfig config = new LogConfig(properties, LogConfig.apply$default$2());
        return Log.apply(folder, config, 0L, 0L, scheduler, new BrokerTopicStats(), Time.SYSTEM, 3600000, 600000,
            new LogDirFailureChannel(1), true, false);
    }

    private static MemoryRecords batch(long baseOffset, int size, String[] timestamps) {
        SimpleRecord[] records = new SimpleRecord[timestamps.length];
        for (int i = 0; i < records.length; i++)
            records[i] = new SimpleRecord(Long.parseLong(timestamps[i]), new byte[size]);
        return MemoryRecords.withRecords(baseOffset, CompressionType.NONE, 0, records);
    }

    private static String read(Log log, long offset) {
        FetchDataInfo found = log.read(offset, 1, FetchLogEnd$.MODULE$, true);
        Iterator<? extends RecordBatch> batches = found.records().batches().iterator();
        if (found.records() instanceof FileRecords && found.records().sizeInBytes() > 0) {
            ByteBuffer header = ByteBuffer.allocate(8);
            try {
                ((FileRecords) found.records()).readInto(header, 0);
            } catch (java.io.IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
            return Long.toString(header.getLong(0));
        }
        return batches.hasNext() ? Long.toString(batches.next().baseOffset()) : "none";
    }

    private static String find(Log log, long timestamp) {
        scala.Option<FileRecords.TimestampAndOffset> found = log.fetchOffsetByTimestamp(timestamp);
        return found.isEmpty() ? "none" : Long.toString(found.get().offset);
    }

    public static void main(String[] arguments) {
        try {
            run();
        } catch (Throwable error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    private static void run() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        Log log = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "log": log = open(new File(words[1]), words[2]); break;
                case "batch":
                    log.appendAsFollower(batch(Long.parseLong(words[1]), Integer.parseInt(words[2]), words[3].split(",")));
                    break;
                case "start":
                    log.updateHighWatermark(log.logEndOffset());
                    log.maybeIncrementLogStartOffset(Long.parseLong(words[1]), kafka.log.ClientRecordDeletion$.MODULE$);
                    break;
                case "offset": System.out.println(read(log, Long.parseLong(words[1]))); break;
                case "time": System.out.println(find(log, Long.parseLong(words[1]))); break;
                case "close": log.close(); break;
                default: throw new IllegalArgumentException(line);
            }
        }
    }
}
