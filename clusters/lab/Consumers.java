import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Kafka's own consumers, which do what lines on the standard input say; each is answered by a line.
 *
 *   new NAME SETTING=VALUE …           makes a consumer, with a thread of its own; it cannot deserialize a value of
 *                                      `unreadable.bytes`
 *   subscribe NAME TOPIC,… MILLISECONDS [woken]  subscribes; a revocation takes so long; the first assignment's
 *                                      callback asks for a committed offset, and is woken
 *   assign NAME TOPIC [NUMBER]         assigns partition 0 of a topic to itself, or so many partitions
 *   partitions NAME TOPIC              answers with how many partitions of a topic it is told of
 *   commit NAME                        calls commitSync
 *   committed NAME TOPIC               answers with the committed offset of partition 0 of a topic
 *   poll NAME MILLISECONDS             polls once, and waits for it
 *   start NAME, pause NAME             polls again and again, until it is told to pause
 *   wakeup NAME                        ends the poll that is under way
 *   rejoin NAME                        asks for a rebalance (2.6)
 *   ends NAME TOPIC                    asks for the end of partition 0, and does not wait for it
 *   seek NAME TOPIC PARTITION OFFSET   seeks
 *   end NAME TOPIC                     answers with the end of partition 0, or with "failed" and the error
 *   count NAME                         answers with how many records its polls have got
 *   owned NAME                         answers with what the consumer owns
 *   history                            answers with what has happened, in order
 */
public class Consumers {
    static final Map<String, Consumers> ALL = new HashMap<>();
    static final StringBuffer HISTORY = new StringBuffer("history");

    final String name;
    final KafkaConsumer<byte[], byte[]> consumer;
    final ExecutorService thread = Executors.newSingleThreadExecutor();
    final TreeSet<String> owned = new TreeSet<>();
    volatile boolean polls = false;
    volatile int count = 0;

    Consumers(String name, Properties settings) {
        this.name = name;
        int unreadable = Integer.parseInt(settings.getProperty("unreadable.bytes", "-1"));
        this.consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer() {
            public byte[] deserialize(String topic, byte[] value) {
                if (value.length == unreadable) throw new SerializationException("unreadable");
                return super.deserialize(topic, value);
            }
        });
    }

    void happens(String what) {
        HISTORY.append("; ").append(name).append(' ').append(what);
    }

    void subscribe(String[] topics, long delay, boolean woken) {
        AtomicBoolean isToBeWoken = new AtomicBoolean(woken);
        consumer.subscribe(Arrays.asList(topics), new ConsumerRebalanceListener() {
            void change(String what, Collection<TopicPartition> partitions) {
                for (TopicPartition partition : partitions) {
                    synchronized (owned) {
                        if (what.equals("gets")) owned.add(partition.toString());
                        else owned.remove(partition.toString());
                    }
                    happens(what + " " + partition);
                }
            }

            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                if (isToBeWoken.getAndSet(false)) {
                    consumer.wakeup();
                    consumer.committed(partitions.iterator().next());
                }
                if (woken && partitions.isEmpty()) happens("gets no partition");
                change("gets", partitions);
            }

            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                try {
                    if (!partitions.isEmpty()) Thread.sleep(delay);
                } catch (InterruptedException error) {
                    throw new IllegalStateException(error);
                }
                change("revokes", partitions);
            }

            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                change("loses", partitions);
            }
        });
    }

    /** poll(Duration) of 2.0, or poll(long) before, which may wait longer. */
    void poll(long milliseconds) {
        try {
            try {
                Class<?> duration = Class.forName("java.time.Duration");
                Method poll = KafkaConsumer.class.getMethod("poll", duration);
                count(poll.invoke(consumer, java.time.Duration.ofMillis(milliseconds)));
            } catch (NoSuchMethodException older) {
                count(KafkaConsumer.class.getMethod("poll", long.class).invoke(consumer, milliseconds));
            }
        } catch (java.lang.reflect.InvocationTargetException error) {
            happens("ends with " + error.getCause());
            polls = false;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    void count(Object records) {
        count += ((ConsumerRecords<?, ?>) records).count();
    }

    void pollAgainAndAgain() {
        while (polls) poll(100);
    }

    static String answer(String[] words) throws Exception {
        if (words[0].equals("history")) return HISTORY.toString();
        if (words[0].equals("new")) {
            Properties settings = new Properties();
            for (int i = 2; i < words.length; i++) {
                String[] pair = words[i].split("=", 2);
                settings.put(pair[0], pair[1]);
            }
            ALL.put(words[1], new Consumers(words[1], settings));
            return "ok";
        }
        Consumers one = ALL.get(words[1]);
        switch (words[0]) {
            case "subscribe":
                one.thread.submit(() -> one.subscribe(words[2].split(","), Long.parseLong(words[3]),
                    words.length > 4)).get();
                return "ok";
            case "poll":
                one.thread.submit(() -> one.poll(Long.parseLong(words[2]))).get();
                return "ok";
            case "start":
                one.polls = true;
                one.thread.submit(one::pollAgainAndAgain);
                return "ok";
            case "pause":
                one.polls = false;
                one.thread.submit(() -> { }).get();
                return "ok";
            case "wakeup":
                one.consumer.wakeup();
                return "ok";
            case "rejoin":
                Method rejoin = KafkaConsumer.class.getMethod("enforceRebalance");
                one.thread.submit(() -> rejoin.invoke(one.consumer)).get();
                return "ok";
            case "ends":
                TopicPartition partition = new TopicPartition(words[2], 0);
                one.thread.submit(() -> one.consumer.endOffsets(Arrays.asList(partition)));
                return "ok";
            case "seek":
                TopicPartition sought = new TopicPartition(words[2], Integer.parseInt(words[3]));
                one.thread.submit(() -> one.consumer.seek(sought, Long.parseLong(words[4]))).get();
                return "ok";
            case "end":
                TopicPartition first = new TopicPartition(words[2], 0);
                try {
                    return "end " + one.thread.submit(() -> one.consumer.endOffsets(Arrays.asList(first)).get(first)).get();
                } catch (ExecutionException error) {
                    return "failed " + error.getCause();
                }
            case "assign":
                List<TopicPartition> own = new ArrayList<>();
                int number = words.length > 3 ? Integer.parseInt(words[3]) : 1;
                for (int i = 0; i < number; i++) own.add(new TopicPartition(words[2], i));
                one.thread.submit(() -> one.consumer.assign(own)).get();
                return "ok";
            case "partitions":
                return "partitions " + one.thread.submit(() -> one.consumer.partitionsFor(words[2]).size()).get();
            case "commit":
                one.thread.submit(() -> one.consumer.commitSync()).get();
                return "ok";
            case "committed":
                return "committed " + one.thread.submit(() -> {
                    OffsetAndMetadata offset = one.consumer.committed(new TopicPartition(words[2], 0));
                    return offset == null ? -1 : offset.offset();
                }).get();
            case "count":
                return "count " + one.count;
            case "owned":
                synchronized (one.owned) {
                    return "owned " + String.join(" ", one.owned);
                }
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread.currentThread().setContextClassLoader(Consumers.class.getClassLoader());
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
