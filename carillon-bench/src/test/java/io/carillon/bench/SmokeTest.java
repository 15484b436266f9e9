package io.carillon.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.carillon.bench.measure.Profile;
import io.carillon.bench.peer.Peer;
import io.carillon.bench.peer.Peers;
import io.carillon.bench.report.Findings;
import io.carillon.bench.report.Row;
import io.carillon.bench.server.BenchDatabase;
import io.carillon.bench.server.BenchServer;
import io.carillon.bench.workload.Workload;
import io.carillon.bench.workload.WorkloadContext;
import io.carillon.bench.workload.Workloads;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs every workload and every peer with tiny sizes on a real PostgreSQL, so that the benchmark stays usable. Their
 * speed does not matter here.
 */
class SmokeTest {
    private static final int AT_A_TIME = 4;

    @TempDir
    Path folder;

    private final Queue<String> progressLines = new ConcurrentLinkedQueue<>();

    @Tag("slow")
    @Test
    void every_workload_and_every_peer_works() throws Exception {
        Map<String, Findings> found = new LinkedHashMap<>();
        // Most workloads spend most of their time waiting.
        ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
        try (BenchServer server = BenchServer.start(folder.resolve("postgres"), quick(), progressLines::add)) {
            Map<String, Future<Findings>> running = new LinkedHashMap<>();
            WorkloadContext context = new WorkloadContext(server, Peers.inJava(), Profile.SMOKE, progressLines::add);
            for (Workload workload : Workloads.all())
                running.put(workload.name(), threads.submit(() -> workload.run(context)));
            for (var one : running.entrySet())
                found.put(one.getKey(), one.getValue().get());
        } finally {
            threads.shutdownNow();
        }

        assertThat(found).allSatisfy((name, findings) -> {
            assertThat(findings.rows()).extracting(Row::measured).isNotEmpty().doesNotContain("");
            assertThat(findings.figures()).isNotEmpty();
        });
        assertThat(found.get("drain").rows()).extracting(Row::name).contains("2 nodes", "quartz", "jobrunr");
        assertThat(found.get("fire").rows()).extracting(Row::name).anyMatch(row -> row.startsWith("db-scheduler"));
        assertThat(found.get("hostile").rows())
                .filteredOn(row -> row.name().equals("failed attempts of webhooks"))
                .extracting(Row::met)
                .containsExactly(true);
        assertThat(found.get("memory").rows()).extracting(Row::met).containsExactly(true);
    }

    @Tag("slow")
    @Test
    void the_peers_in_javascript_work_where_npm_can_install_them() throws Exception {
        List<Peer> javascript = Peers.all().stream()
                .filter(peer -> !Peers.inJava().contains(peer))
                .toList();
        assumeThat(javascript).as("npm is installed").isNotEmpty();
        try (BenchServer server = BenchServer.start(folder.resolve("postgres"), quick(), progressLines::add)) {
            for (Peer peer : javascript) {
                try (BenchDatabase database = server.empty()) {
                    assertThat(peer.drain(database, 100)
                                    .requireComplete(peer.name())
                                    .perSecond())
                            .isPositive();
                }
                try (BenchDatabase database = server.empty()) {
                    assertThat(peer.bulkPerSecond(database, 100).orElseThrow()).isPositive();
                    assertThat(peer.singlePerSecond(database, 20, 2).orElseThrow())
                            .isPositive();
                }
                try (BenchDatabase database = server.empty()) {
                    peer.pickupMillis(database, 3)
                            .ifPresent(millis -> assertThat(millis.size()).isEqualTo(3));
                }
            }
        }
    }

    /** Settings without durability: this test measures nothing. */
    private static Map<String, String> quick() {
        Map<String, String> settings = new LinkedHashMap<>(BenchServer.SETTINGS);
        settings.putAll(Map.of("fsync", "off", "synchronous_commit", "off", "shared_buffers", "128MB"));
        return settings;
    }
}
