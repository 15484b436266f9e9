package io.carillon.bench.server;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/** A Kafka broker with its controller, in this JVM, with its data in a temporary directory. */
public final class BenchBroker implements AutoCloseable {
    private final Path directory;
    private final int port;
    private final KafkaRaftServer server;

    private BenchBroker(Path directory, int port, KafkaRaftServer server) {
        this.directory = directory;
        this.port = port;
        this.server = server;
    }

    /** Starts a broker. */
    public static BenchBroker start() throws Exception {
        Path directory = Files.createTempDirectory("carillon-bench-kafka");
        String log = directory.resolve("log").toString();
        new Formatter()
                .setClusterId(Uuid.randomUuid().toString())
                .setNodeId(1)
                .setDirectories(List.of(log))
                .setMetadataLogDirectory(log)
                .setControllerListenerName("CONTROLLER")
                .setReleaseVersion(MetadataVersion.latestProduction())
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .run();
        int port = freePort();
        int controllerPort = freePort();
        Map<String, String> config = new HashMap<>();
        config.put("process.roles", "broker,controller");
        config.put("node.id", "1");
        config.put("controller.quorum.voters", "1@localhost:" + controllerPort);
        config.put("listeners", "PLAINTEXT://localhost:" + port + ",CONTROLLER://localhost:" + controllerPort);
        config.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        config.put("controller.listener.names", "CONTROLLER");
        config.put("log.dirs", log);
        for (String topic : List.of("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")) {
            config.put(topic + ".num.partitions", "1");
            config.put(topic + ".replication.factor", "1");
        }
        config.put("transaction.state.log.min.isr", "1");
        config.put("share.coordinator.state.topic.min.isr", "1");
        config.put("log.cleaner.dedupe.buffer.size", "2097152");
        config.put("controlled.shutdown.enable", "false");
        KafkaRaftServer server = new KafkaRaftServer(new KafkaConfig(config), Time.SYSTEM);
        server.startup();
        return new BenchBroker(directory, port, server);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Returns the settings of a client. */
    public Map<String, Object> client() {
        return Map.of("bootstrap.servers", "localhost:" + port);
    }

    /** Creates a topic with one replica. */
    public void createTopic(String name, int partitions) throws Exception {
        try (Admin admin = Admin.create(client())) {
            admin.createTopics(List.of(new NewTopic(name, Optional.of(partitions), Optional.of((short) 1))))
                    .all()
                    .get();
        }
    }

    @Override
    public void close() throws IOException {
        server.shutdown();
        server.awaitShutdown();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        }
    }
}
