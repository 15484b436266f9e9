package io.carillon.it.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.cluster.Servers.ServerHandle;
import io.carillon.it.cluster.Servers.ServerReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server with a heap of 128 MiB survives bodies whose trees would need gigabytes. */
@Tag("slow")
class SmallHeapTest {
    private static final int CLIENTS = 40;
    private static final String BRACKETS = "[" + "[],".repeat(690_000) + "[]]";

    @Test
    void two_megabytes_of_brackets_from_many_clients_do_no_harm() throws Exception {
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        try (Servers servers = new Servers(1)) {
            ServerHandle server = servers.get(0);
            List<Future<ServerReply>> replies = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                String path = i % 2 == 0 ? "/v1/runs/run_00000000000000000000000000/complete" : "/v1/runs:batch";
                replies.add(clients.submit(() -> servers.send(server, "POST", path, "{\"runs\":" + BRACKETS + "}")));
            }

            for (Future<ServerReply> reply : replies)
                assertThat(reply.get(60, TimeUnit.SECONDS).status()).isIn(400, 413, 503);
            assertThat(servers.send(server, "GET", "/healthz", "").status()).isEqualTo(200);
            assertThat(servers.send(server, "GET", "/v1/stats", "").status()).isEqualTo(200);
        } finally {
            clients.shutdownNow();
        }
    }
}
