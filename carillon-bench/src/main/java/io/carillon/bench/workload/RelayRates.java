package io.carillon.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import io.carillon.Carillon;
import io.carillon.bench.measure.Samples;
import io.carillon.bench.measure.Waiting;
import io.carillon.bench.report.FigureText;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchBroker;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.event.EventType;
import io.carillon.event.NewEvent;
import io.carillon.event.Topic;
import io.carillon.kafka.KafkaRelay;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends stored events to a Kafka broker in this JVM, and as many records with a plain transactional producer. */
final class RelayRates {
    private static final String TOPIC = "orders";
    private static final int PARTITIONS = 4;
    private static final int CHUNK = 10_000;
    /** The records of one transaction; that of a relay has as many. */
    private static final int BATCH = 2_000;

    private static final EventType<String> PLACED = Topic.named(TOPIC).event("order.placed", String.class);

    private RelayRates() {}

    static void measure(WorkloadContext context, Findings findings) throws Exception {
        int rows = context.profile().choose(500, 100_000, 300_000);
        List<Double> raw = new ArrayList<>();
        List<Double> relay = new ArrayList<>();
        for (int round = context.firstRound(); round <= context.rounds(); round++) {
            context.progress().report("relay, round %d of %d".formatted(round, context.rounds()));
            double plain;
            double own;
            try (BenchBroker broker = BenchBroker.start()) {
                broker.createTopic(TOPIC, PARTITIONS);
                plain = rows / producer(broker, rows);
                own = rows / relay(context, broker, rows);
            }
            if (round == 0) continue;
            raw.add(plain);
            relay.add(own);
            findings.figure("transactional producer, per second", plain);
            findings.figure("relay to Kafka, per second", own);
        }
        findings.add(Row.info(
                "relay to Kafka",
                FigureText.rate(Samples.of(relay)),
                "plain transactional producer: " + FigureText.rate(Samples.of(raw))));
    }

    /** Returns the seconds. */
    private static double producer(BenchBroker broker, int rows) {
        Map<String, Object> config = new HashMap<>(broker.client());
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "plain");
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            long start = System.nanoTime();
            for (int from = 0; from < rows; from += BATCH) {
                producer.beginTransaction();
                for (int i = from; i < Math.min(rows, from + BATCH); i++) {
                    // The commit fails if a record was not accepted.
                    var unused =
                            producer.send(new ProducerRecord<>(TOPIC, bytes("k" + i % 1_000), bytes("\"" + i + "\"")));
                }
                producer.commitTransaction();
            }
            return (System.nanoTime() - start) / 1e9;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Stores the events, then starts a node that sends them. Returns the seconds from its start. */
    private static double relay(WorkloadContext context, BenchBroker broker, int rows) throws Exception {
        try (BenchDatabase database = context.server().migrated();
                HikariDataSource pool = database.pool(12)) {
            try (Carillon client = Carillon.on(pool).build()) {
                for (int from = 0; from < rows; from += CHUNK)
                    client.events()
                            .publishAll(IntStream.range(from, Math.min(rows, from + CHUNK))
                                    .<NewEvent<String>>mapToObj(
                                            i -> PLACED.of("" + i).key("k" + i % 1_000))
                                    .toList());
            }
            database.analyzeAndCheckpoint();
            long start = System.nanoTime();
            try (Carillon node = Carillon.on(pool)
                    .relay(KafkaRelay.to(broker.client()).topic(PLACED.topic()).fromBeginning())
                    .start()) {
                Waiting.require(
                        "the events in Kafka",
                        () -> node.events().relays().list().stream().anyMatch(one -> one.sent() >= rows),
                        Duration.ofMinutes(2));
                return (System.nanoTime() - start) / 1e9;
            }
        }
    }
}
