package io.carillon.it.kafka;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/** A Kafka broker with its controller, in this JVM. It can be stopped and started again with its data. */
final class KafkaBroker implements AutoCloseable {
    private final Path directory;
    private final int port = freePort();
    private final int controllerPort = freePort();
    private @Nullable KafkaRaftServer server;

    private KafkaBroker(Path directory) {
        this.directory = directory;
    }

    /** Creates and starts a broker without topics. */
    static KafkaBroker started() {
        try {
            KafkaBroker broker = new KafkaBroker(Files.createTempDirectory("carillon-kafka"));
            new Formatter()
                    .setClusterId(Uuid.randomUuid().toString())
                    .setNodeId(1)
                    .setDirectories(List.of(broker.directory.resolve("log").toString()))
                    .setMetadataLogDirectory(broker.directory.resolve("log").toString())
                    .setControllerListenerName("CONTROLLER")
                    .setReleaseVersion(MetadataVersion.latestProduction())
                    .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                    .run();
            broker.start();
            return broker;
        } catch (Exception failure) {
            throw new IllegalStateException("the broker does not start", failure);
        }
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    void start() {
        Map<String, String> config = new HashMap<>();
        config.put("process.roles", "broker,controller");
        config.put("node.id", "1");
        config.put("controller.quorum.voters", "1@localhost:" + controllerPort);
        config.put("listeners", "PLAINTEXT://localhost:" + port + ",CONTROLLER://localhost:" + controllerPort);
        config.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        config.put("controller.listener.names", "CONTROLLER");
        config.put("log.dirs", directory.resolve("log").toString());
        config.put("auto.create.topics.enable", "false");
        config.put("group.initial.rebalance.delay.ms", "0");
        for (String topic : List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
            config.put(topic + ".num.partitions", "1");
            config.put(topic + ".replication.factor", "1");
        }
        config.put("transaction.state.log.min.isr", "1");
        config.put("share.coordinator.state.topic.min.isr", "1");
        config.put("log.cleaner.dedupe.buffer.size", "2097152");
        config.put("controlled.shutdown.enable", "false");
        KafkaRaftServer started = new KafkaRaftServer(new KafkaConfig(config), Time.SYSTEM);
        started.startup();
        server = started;
    }

    /** Stops the broker. Its data stays. */
    void stop() {
        KafkaRaftServer running = server;
        server = null;
        if (running == null) return;
        running.shutdown();
        running.awaitShutdown();
    }

    /** Returns the settings of a client. */
    Map<String, Object> client() {
        return Map.of("bootstrap.servers", "localhost:" + port);
    }

    private interface AdminWork<T> {
        T run(Admin admin) throws Exception;
    }

    private <T> T admin(AdminWork<T> work) {
        try (Admin admin = Admin.create(client())) {
            return work.run(admin);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    void createTopic(String name, int partitions, Map<String, String> config) {
        admin(admin -> admin.createTopics(
                        List.of(new NewTopic(name, Optional.of(partitions), Optional.of((short) 1)).configs(config)))
                .all()
                .get());
    }

    void deleteTopic(String name) {
        admin(admin -> admin.deleteTopics(List.of(name)).all().get());
    }

    /** Changes a setting of a topic. */
    void alterTopic(String topic, String setting, String value) {
        admin(admin -> admin.incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, topic),
                        List.of(new AlterConfigOp(new ConfigEntry(setting, value), AlterConfigOp.OpType.SET))))
                .all()
                .get());
    }

    /** Returns the committed records of a topic, by partition and offset. */
    List<ConsumerRecord<byte[], byte[]>> records(String topic) {
        Map<String, Object> config = new HashMap<>(client());
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", false);
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
            while (partitions.stream().anyMatch(one -> consumer.position(one) < ends.get(one)))
                consumer.poll(Duration.ofMillis(100)).forEach(all::add);
            all.sort(Comparator.comparing((ConsumerRecord<byte[], byte[]> record) -> record.partition())
                    .thenComparing(ConsumerRecord::offset));
            return all;
        }
    }

    /** Returns the values of the committed records of a topic. */
    List<String> values(String topic) {
        return records(topic).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    @Override
    public void close() {
        stop();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
