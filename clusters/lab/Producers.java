import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own producers, which do what lines on the standard input say; each is answered by a line.
 *
 *   new NAME SETTING=VALUE …           makes a producer
 *   init, begin, commit, abort NAME    calls it, and answers with "ok", or with "failed" and the error
 *   start NAME CALL                    calls it, and does not wait for it
 *   send NAME TOPIC PARTITION BYTES    sends a record of so many bytes, and does not wait for it
 *   offsets NAME GROUP TOPIC WAIT      sends an offset of partition 0 of a topic; answers with "waits" after WAIT
 *   close NAME MILLISECONDS WAIT       closes it with a timeout; answers whether that "returns" or "waits" after WAIT
 *   history                            answers with what has happened, in order
 */
public class Producers {
    static final Map<String, Producers> ALL = new HashMap<>();
    static final StringBuffer HISTORY = new StringBuffer("history");

    final String name;
    final KafkaProducer<byte[], byte[]> producer;
    final ExecutorService thread = Executors.newCachedThreadPool();
    final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    String group;

    Producers(String name, Properties settings) {
        this.name = name;
        this.producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    void happens(String what) {
        HISTORY.append("; ").append(name).append(' ').append(what.replace(';', ','));
    }

    String call(String what) {
        try {
            switch (what) {
                case "init": producer.initTransactions(); break;
                case "begin": producer.beginTransaction(); break;
                case "commit": producer.commitTransaction(); break;
                case "abort": producer.abortTransaction(); break;
                case "offsets": producer.sendOffsetsToTransaction(offsets, group); break;
                default: throw new IllegalArgumentException(what);
            }
        } catch (RuntimeException error) {
            happens(what + ": " + error);
            return "failed " + error;
        }
        happens(what);
        return "ok";
    }

    void send(String topic, int partition, int bytes) {
        producer.send(new ProducerRecord<>(topic, partition, null, new byte[bytes]), (metadata, error) ->
            happens("record of " + bytes + " bytes to " + topic + "-" + partition + ": "
                + (error == null ? "offset " + metadata.offset() : error.toString())));
    }

    /** close(Duration) of 2.2, or close(long, TimeUnit) before. */
    void close(long milliseconds) {
        try {
            try {
                Class<?> duration = Class.forName("java.time.Duration");
                KafkaProducer.class.getMethod("close", duration)
                    .invoke(producer, java.time.Duration.ofMillis(milliseconds));
            } catch (NoSuchMethodException older) {
                KafkaProducer.class.getMethod("close", long.class, TimeUnit.class)
                    .invoke(producer, milliseconds, TimeUnit.MILLISECONDS);
            }
            happens("is closed");
        } catch (InvocationTargetException error) {
            happens("close: " + error.getCause());
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    static String answer(String[] words) throws Exception {
        if (words[0].equals("history")) return HISTORY.toString();
        if (words[0].equals("new")) {
            Properties settings = new Properties();
            for (int i = 2; i < words.length; i++) {
                String[] pair = words[i].split("=", 2);
                settings.put(pair[0], pair[1]);
            }
            ALL.put(words[1], new Producers(words[1], settings));
            return "ok";
        }
        Producers one = ALL.get(words[1]);
        switch (words[0]) {
            case "send":
                one.thread.submit(() -> one.send(words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]))).get();
                return "ok";
            case "start":
                one.thread.submit(() -> one.call(words[2]));
                return "ok";
            case "offsets":
                one.group = words[2];
                one.offsets.put(new TopicPartition(words[3], 0), new OffsetAndMetadata(1));
                try {
                    return one.thread.submit(() -> one.call("offsets")).get(Long.parseLong(words[4]), TimeUnit.MILLISECONDS);
                } catch (TimeoutException late) {
                    return "waits";
                }
            case "close":
                Future<?> closing = one.thread.submit(() -> one.close(Long.parseLong(words[2])));
                try {
                    closing.get(Long.parseLong(words[3]), TimeUnit.MILLISECONDS);
                } catch (TimeoutException late) {
                    return "waits";
                }
                return "returns";
            default:
                return one.call(words[0]);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String answer;
            try {
                answer = answer(line.trim().split(" "));
            } catch (Exception error) {
                answer = "error " + error;
            }
            System.out.println(answer.replace('\n', ' '));
        }
        Runtime.getRuntime().halt(0);
    }
}
