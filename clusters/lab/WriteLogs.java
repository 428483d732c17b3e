import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.utils.Time;

/**
 * Drive Kafka's own class Log (2.8) or UnifiedLog (3.9), as lines on the standard input say; each is answered by a line.
 *
 *   log FOLDER NAME=VALUE,…                      begins a log with this configuration of a topic
 *   load START RECOVERY_POINT CLEAN              loads it again, with these checkpoints, after a clean stop (1) or not (0)
 *   clock MILLISECONDS                           sets the clock of the log, which stands still otherwise
 *   batch BASE_OFFSET SIZE TIMESTAMP,…           appends a batch with one record of SIZE bytes for each timestamp
 *   hw OFFSET, start OFFSET, flush OFFSET        sets the high watermark, raises the start offset, flushes
 *   truncate OFFSET, restart OFFSET              truncates the log, or all of it, so that it begins again there
 *   retain, files                                does what retention does; removes the .deleted files that are due
 *   record BASE_OFFSET KEY SIZE TIMESTAMP        appends a batch of one record with a key; of size -1, a tombstone
 *   clean KEYS BYTES TICK CHECKS RENAMES         has a cleaner clean the log, whose map has room for KEYS, and whose buffers
 *                                                for BYTES; the clock moves on by TICK once it has begun; it stops, as by a
 *                                                crash, before check CHECKS that it goes on, or behind the RENAMES-th old
 *                                                segment that it renames; 0 for never
 *   expire                                       has the cleaner's thread delete segments
 *   produce OFFSET SEQUENCE TIMESTAMP ONGOING    appends a batch of producer 1, epoch 0, as a leader or, at an OFFSET, as a
 *                                                follower; in a transaction, which is ONGOING at its coordinator (1), or not
 *                                                (0), or without one (2); answers 0 for a duplicate, else 1
 *   marker OFFSET EPOCH TIMESTAMP                appends a commit marker of producer 1
 *   roll, forget                                 rolls; forgets producers that have appended nothing for long
 *   offset OFFSET                                says the base offset of the first batch of a fetch, or none
 *   time TIMESTAMP                               says the offset that a lookup by timestamp answers, or none
 *   close, crash                                 flushes and closes the log, or closes its files without a write
 *
 * Of the settings, `producer.expiration` is after how many milliseconds a log forgets a producer.
 *
 * An answer is `none`, a number (of a batch: its bytes; of a cleaning: up to where it goes, and -1 if it has stopped; of a
 * command without one: 0), or `error` and the exception's class. Behind it are, while the log is open, its start offset,
 * end offset, high watermark and recovery point, and the numbers of entries in both indexes of the active segment, behind
 * which the files have what was there before; then the last stable offset and, if the log knows producer 1, its epoch, its
 * last sequence number with its offset, the timestamp, and the first offset of its open transaction; -1 for none.
 */
public class WriteLogs {
    private static final String LOGS = "org.apache.kafka.storage.internals.log.";
    private static final List<Object[]> deletions = new ArrayList<>();
    private static long now = System.currentTimeMillis();
    private static File folder;
    private static String settings;
    private static Object log;
    private static Object manager;
    private static int checks, renames, tick;

    /** Ends a cleaning where a crash of the broker would. */
    private static class Crash extends Error {
    }

    /** Return the first of these classes that the release has. */
    private static Class<?> type(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException error) {
                // Another release has it elsewhere.
            }
        }
        throw new ClassNotFoundException(String.join(", ", names));
    }

    private static boolean takes(Class<?>[] types, Object[] arguments) {
        if (types.length != arguments.length)
            return false;
        for (int i = 0; i < types.length; i++)
            if (arguments[i] != null && !types[i].isPrimitive() && !types[i].isInstance(arguments[i])
                    || types[i] == long.class && !(arguments[i] instanceof Long)
                    || types[i] == boolean.class && !(arguments[i] instanceof Boolean))
                return false;
        return true;
    }

    /** Call the method of an object, or of a class, that takes these arguments. */
    private static Object call(Object target, String name, Object... arguments) throws Exception {
        Class<?> owner = target instanceof Class ? (Class<?>) target : target.getClass();
        for (Method method : owner.getMethods()) {
            if (method.getName().equals(name) && takes(method.getParameterTypes(), arguments)
                    && (target != owner || Modifier.isStatic(method.getModifiers()))) {
                try {
                    return method.invoke(target == owner ? null : target, arguments);
                } catch (InvocationTargetException error) {
                    if (error.getCause() instanceof Error)
                        throw (Error) error.getCause();
                    throw (Exception) error.getCause();
                }
            }
        }
        throw new NoSuchMethodException(owner + "." + name);
    }

    private static Object make(Class<?> owner, Object... arguments) throws Exception {
        for (java.lang.reflect.Constructor<?> constructor : owner.getConstructors())
            if (takes(constructor.getParameterTypes(), arguments))
                return constructor.newInstance(arguments);
        throw new NoSuchMethodException(owner.toString());
    }

    private static boolean isOld() {
        return WriteLogs.class.getClassLoader().getResource("kafka/log/UnifiedLog.class") == null;
    }

    /** Return a scheduler that keeps the deletions of files until they are asked for, and drops all other tasks. */
    private static Object scheduler() throws ClassNotFoundException {
        ClassLoader loader = WriteLogs.class.getClassLoader();
        Object future = Proxy.newProxyInstance(loader, new Class<?>[] {ScheduledFuture.class},
            (proxy, method, arguments) -> method.getReturnType() == boolean.class ? (Object) true : null);
        Class<?> type = type("org.apache.kafka.server.util.Scheduler", "kafka.utils.Scheduler");
        return Proxy.newProxyInstance(loader, new Class<?>[] {type}, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "isStarted": return true;
                case "schedule$default$3": return 0L;
                case "schedule$default$4": return -1L;
                case "schedule$default$5": return java.util.concurrent.TimeUnit.MILLISECONDS;
                case "schedule": case "scheduleOnce":
                    if (arguments[0].equals("delete-file")) {
                        deletions.add(new Object[] {now + (arguments.length > 2 ? (Long) arguments[2] : 0L), arguments[1]});
                        if (renames > 0 && --renames == 0)
                            throw new Crash();
                    }
                    return future;
                default: return null;
            }
        });
    }

    private static Time clock() {
        return (Time) Proxy.newProxyInstance(WriteLogs.class.getClassLoader(), new Class<?>[] {Time.class},
            (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "milliseconds": case "hiResClockMs": return now;
                    case "nanoseconds": return now * 1_000_000;
                    default: return null;
                }
            });
    }

    private static Object open(long start, long recoveryPoint, boolean isClean) throws Exception {
        Properties properties = new Properties();
        for (String setting : settings.split(",")) {
            String[] parts = setting.split("=");
            properties.put(parts[0], parts[1]);
        }
        int expiration = Integer.parseInt(properties.getOrDefault("producer.expiration", "86400000").toString());
        properties.remove("producer.expiration");
        folder.mkdirs();
        deletions.clear();
        Object statistics = isOld()
            ? make(type("kafka.server.BrokerTopicStats"))
            : make(type("kafka.server.BrokerTopicStats"), false);
        Object failures = make(type(LOGS + "LogDirFailureChannel", "kafka.server.LogDirFailureChannel"), 1);
        if (isOld()) {
            Class<?> config = type("kafka.log.LogConfig");
            return call(type("kafka.log.Log"), "apply", folder,
                make(config, properties, call(config, "apply$default$2")), start, recoveryPoint, scheduler(), statistics,
                clock(), expiration, 600000, failures, isClean, false);
        }
        return call(type("kafka.log.UnifiedLog"), "apply", folder, make(type(LOGS + "LogConfig"), properties), start,
            recoveryPoint, scheduler(), statistics, clock(), 3600000,
            make(type(LOGS + "ProducerStateManagerConfig"), expiration, true), 600000, failures, isClean,
            scala.Option.empty(), false, new ConcurrentHashMap<String, Object>(), false,
            type(LOGS + "LogOffsetsListener").getField("NO_OP_OFFSETS_LISTENER").get(null));
    }

    private static Object list(Object element) throws Exception {
        return call(type("scala.collection.immutable.Nil$").getField("MODULE$").get(null), "$colon$colon", element);
    }

    private static Object cleanerManager() throws Exception {
        Object logs = make(type("kafka.utils.Pool"), scala.Option.empty());
        for (Method method : logs.getClass().getMethods())
            if (method.getName().equals("put"))
                method.invoke(logs, call(log, "topicPartition"), log);
        return make(type("kafka.log.LogCleanerManager"), list(folder.getParentFile()), logs,
            make(type(LOGS + "LogDirFailureChannel", "kafka.server.LogDirFailureChannel"), 1));
    }

    /** Clean the log as LogCleaner.CleanerThread.cleanFilthiestLog does. */
    private static String clean(int keys, int bytes) throws Exception {
        scala.Option<?> found = (scala.Option<?>) call(manager, "grabFilthiestCompactedLog", clock(),
            make(type("kafka.log.PreCleanStats")));
        if (found.isEmpty())
            return "none";
        // Half of the slots are used, which have 16 bytes of a hash and 8 of an offset.
        int memory = 24 * (2 * keys + 1);
        Object map = isOld()
            ? make(type("kafka.log.SkimpyOffsetMap"), memory, "MD5")
            : make(type(LOGS + "SkimpyOffsetMap"), memory);
        Object throttler = isOld()
            ? make(type("kafka.utils.Throttler"), Double.MAX_VALUE, 1000L, true, "throttler", "entries", clock())
            : make(type(LOGS.replace(".log.", ".utils.") + "Throttler"), Double.MAX_VALUE, 1000L, "throttler", "entries", clock());
        scala.Function1<Object, Object> check = partition -> {
            now += tick;
            tick = 0;
            if (checks > 0 && --checks == 0)
                throw new Crash();
            return null;
        };
        Object cleaner = make(type("kafka.log.Cleaner"), 0, map, bytes, 1 << 20, 0.5, throttler, clock(), check);
        Object cleanable = found.get();
        Object end = call(call(cleaner, "clean", cleanable), "_1");
        call(manager, "doneCleaning", call(log, "topicPartition"), folder.getParentFile(), end);
        return end.toString();
    }

    private static void expire() throws Exception {
        call(manager, "deletableLogs");
        call(log, "deleteOldSegments");
        call(manager, "doneDeleting", list(call(log, "topicPartition")));
    }

    private static MemoryRecords keyed(long baseOffset, String key, int size, long timestamp) throws Exception {
        return batch(baseOffset, new SimpleRecord(timestamp, key.getBytes(), size < 0 ? null : new byte[size]));
    }

    private static MemoryRecords batch(long baseOffset, int size, String[] timestamps) throws Exception {
        SimpleRecord[] records = new SimpleRecord[timestamps.length];
        for (int i = 0; i < records.length; i++)
            records[i] = new SimpleRecord(Long.parseLong(timestamps[i]), new byte[size]);
        return batch(baseOffset, records);
    }

    private static MemoryRecords batch(long baseOffset, SimpleRecord... records) throws Exception {
        return (MemoryRecords) call(MemoryRecords.class, "withRecords", baseOffset, noCompression(), 0, records);
    }

    private static Object noCompression() throws Exception {
        return type("org.apache.kafka.common.compress.Compression", "org.apache.kafka.common.record.CompressionType")
            .getField("NONE").get(null);
    }

    private static String read(long offset) throws Exception {
        Object end = isOld()
            ? type("kafka.server.FetchLogEnd$").getField("MODULE$").get(null)
            : type(LOGS + "FetchIsolation").getField("LOG_END").get(null);
        Object found = call(log, "read", offset, 1, end, true);
        Object records = isOld() ? call(found, "records") : found.getClass().getField("records").get(found);
        if (records instanceof FileRecords && ((FileRecords) records).sizeInBytes() > 0) {
            ByteBuffer header = ByteBuffer.allocate(8);
            ((FileRecords) records).readInto(header, 0);
            return Long.toString(header.getLong(0));
        }
        Iterator<? extends RecordBatch> batches =
            ((org.apache.kafka.common.record.Records) records).batches().iterator();
        return batches.hasNext() ? Long.toString(batches.next().baseOffset()) : "none";
    }

    private static String find(long timestamp) throws Exception {
        Object found = isOld()
            ? call(log, "fetchOffsetByTimestamp", timestamp)
            : call(log, "fetchOffsetByTimestamp", timestamp, scala.Option.empty());
        scala.Option<?> option = (scala.Option<?>) found;
        return option.isEmpty() ? "none" : Long.toString(((FileRecords.TimestampAndOffset) option.get()).offset);
    }

    private static void raiseStart(long offset) throws Exception {
        Object reason = isOld()
            ? type("kafka.log.ClientRecordDeletion$").getField("MODULE$").get(null)
            : type(LOGS + "LogStartOffsetIncrementReason").getField("ClientRecordDeletion").get(null);
        call(log, "maybeIncrementLogStartOffset", offset, reason);
    }

    private static void removeFiles() {
        List<Object[]> due = new ArrayList<>(deletions);
        for (Object[] deletion : due) {
            if ((Long) deletion[0] <= now) {
                deletions.remove(deletion);
                if (deletion[1] instanceof Runnable)
                    ((Runnable) deletion[1]).run();
                else
                    ((scala.Function0<?>) deletion[1]).apply();
            }
        }
    }

    private static String produce(long offset, int sequence, long timestamp, int ongoing) throws Exception {
        boolean follows = offset >= 0;
        Object guard = null;
        if (!isOld() && !follows && ongoing < 2) {
            // As ReplicaManager, which asks the coordinator unless the log has an open transaction of the producer.
            guard = call(log, "maybeStartTransactionVerification", 1L, sequence, (short) 0);
            if (!guard.equals(guard.getClass().getField("SENTINEL").get(null)) && ongoing == 0)
                throw new org.apache.kafka.common.errors.InvalidTxnStateException("not ongoing at the coordinator");
        }
        SimpleRecord[] records = {new SimpleRecord(timestamp, new byte[0])};
        return append((MemoryRecords) call(MemoryRecords.class, ongoing < 2 ? "withTransactionalRecords" : "withIdempotentRecords",
            follows ? offset : 0, noCompression(), 1L, (short) 0, sequence, 0, records), follows, "Client", guard);
    }

    private static String mark(long offset, int epoch, long timestamp) throws Exception {
        Object marker = new org.apache.kafka.common.record.EndTransactionMarker(
            org.apache.kafka.common.record.ControlRecordType.COMMIT, 0);
        return append((MemoryRecords) call(MemoryRecords.class, "withEndTransactionMarker", Math.max(offset, 0), timestamp, 0,
            1L, (short) epoch, marker), offset >= 0, "Coordinator", null);
    }

    private static String append(MemoryRecords records, boolean follows, String origin, Object guard) throws Exception {
        Object end = call(log, "logEndOffset");
        if (follows)
            call(log, "appendAsFollower", records);
        else if (isOld())
            call(log, "appendAsLeader", records, 0, type("kafka.log.AppendOrigin$" + origin + "$").getField("MODULE$").get(null),
                call(log, "appendAsLeader$default$4"));
        else
            call(log, "appendAsLeader", records, 0, type(LOGS + "AppendOrigin").getField(origin.toUpperCase()).get(null),
                call(log, "appendAsLeader$default$4"), call(log, "appendAsLeader$default$5"),
                guard == null ? call(log, "appendAsLeader$default$6") : guard);
        return end.equals(call(log, "logEndOffset")) ? "0" : "1";
    }

    private static String producer() throws Exception {
        String answer = " " + call(log, "lastStableOffset");
        Object found = call(call(log, "producerStateManager"), "lastEntry", 1L);
        if (!((Boolean) call(found, isOld() ? "isDefined" : "isPresent")))
            return answer;
        Object entry = call(found, "get");
        for (String name : new String[] {"producerEpoch", "lastSeq", "lastDataOffset", "lastTimestamp"})
            answer += " " + call(entry, name);
        Object first = call(entry, "currentTxnFirstOffset");
        boolean isOpen = (Boolean) call(first, isOld() ? "isDefined" : "isPresent");
        return answer + " " + (isOpen ? call(first, isOld() ? "get" : "getAsLong") : -1);
    }

    private static String append(MemoryRecords records) throws Exception {
        int size = records.sizeInBytes();
        call(log, "appendAsFollower", records);
        return Integer.toString(size);
    }

    private static String answer(String[] words) throws Exception {
        long number = words.length > 1 && words[1].matches("-?\\d+") ? Long.parseLong(words[1]) : 0;
        switch (words[0]) {
            case "log":
                folder = new File(words[1]);
                settings = words[2];
                log = open(0, 0, true);
                manager = cleanerManager();
                break;
            case "load":
                log = open(number, Long.parseLong(words[2]), words[3].equals("1"));
                manager = cleanerManager();
                break;
            case "clock": now = number; break;
            case "batch":
                MemoryRecords records = batch(number, Integer.parseInt(words[2]), words[3].split(","));
                return append(records);
            case "record":
                return append(keyed(number, words[2], Integer.parseInt(words[3]), Long.parseLong(words[4])));
            case "clean":
                tick = Integer.parseInt(words[3]);
                checks = Integer.parseInt(words[4]);
                renames = Integer.parseInt(words[5]);
                try {
                    return clean((int) number, Integer.parseInt(words[2]));
                } catch (Crash crash) {
                    return "-1";
                } finally {
                    checks = renames = tick = 0;
                }
            case "expire": expire(); break;
            case "produce":
                return produce(number, Integer.parseInt(words[2]), Long.parseLong(words[3]), Integer.parseInt(words[4]));
            case "marker": return mark(number, Integer.parseInt(words[2]), Long.parseLong(words[3]));
            case "roll": call(log, "roll", scala.Option.empty()); break;
            case "forget": call(call(log, "producerStateManager"), "removeExpiredProducers", now); break;
            case "hw": call(log, "updateHighWatermark", number); break;
            case "start": raiseStart(number); break;
            case "flush": call(log, isOld() ? "flush" : "flushUptoOffsetExclusive", number); break;
            case "truncate": call(log, "truncateTo", number); break;
            case "restart":
                if (isOld())
                    call(log, "truncateFullyAndStartAt", number);
                else
                    call(log, "truncateFullyAndStartAt", number, scala.Option.empty());
                break;
            case "retain": call(log, "deleteOldSegments"); break;
            case "files": removeFiles(); break;
            case "offset": return read(number);
            case "time": return find(number);
            case "close":
                if (isOld())
                    call(log, "flush");
                else
                    call(log, "flush", false);
                call(log, "close");
                log = null;
                break;
            case "crash":
                call(log, "closeHandlers");
                log = null;
                break;
            default: throw new IllegalArgumentException(words[0]);
        }
        return "0";
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = answer(line.split(" "));
            } catch (Exception error) {
                answer = "error " + error.getClass().getSimpleName() + " " + String.valueOf(error.getMessage()).replace('\n', ' ');
            }
            if (log != null && !answer.startsWith("error"))
                for (String name : new String[] {"logStartOffset", "logEndOffset", "highWatermark", "recoveryPoint"})
                    answer += " " + call(log, name);
            if (log != null && !answer.startsWith("error"))
                for (String name : new String[] {"offsetIndex", "timeIndex"})
                    answer += " " + call(call(call(log, "activeSegment"), name), "entries");
            if (log != null && !answer.startsWith("error"))
                answer += producer();
            System.out.println(answer);
            System.out.flush();
        }
    }
}
