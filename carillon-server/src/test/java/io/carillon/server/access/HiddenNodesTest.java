package io.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.run.HandlerType;
import io.carillon.server.RestTestServer;
import io.carillon.server.store.Transactions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Names, hosts and processes of nodes are shown to admins of the project default only. */
class HiddenNodesTest {
    @RegisterExtension
    static final RestTestServer SERVER = new RestTestServer();

    @Test
    void a_tenant_sees_no_node_that_executes_its_runs() throws Exception {
        String tenant = SERVER.createProject("tenant");
        String run = SERVER.post(tenant, "/v1/runs", "{\"target\":{\"handler\":\"held\"},\"payload\":\"x\"}")
                .requireStatus(201)
                .at("/run");
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch ending = new CountDownLatch(1);
        try (Carillon node = Carillon.on(SERVER.database().pool(8))
                .nodeName("inner-name")
                .handle(HandlerType.of("held", String.class), (payload, held) -> {
                    running.countDown();
                    ending.await();
                })
                .start()) {
            try {
                assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
                assertThat(node.nodes()).hasSize(1);
                String hosts = SERVER.query("SELECT string_agg(host, ' ') FROM carillon.node")
                        .text();
                for (String path : new String[] {"", "/explain", "/attempts"})
                    assertThat(SERVER.get(tenant, "/v1/runs/" + run + path)
                                    .requireStatus(200)
                                    .text())
                            .doesNotContain("inner-name", "(" + hosts, "process ");
                SERVER.get(tenant, "/v1/nodes").requireStatus(403);
                SERVER.get(tenant, "/v1/health").requireStatus(403);
                SERVER.get(SERVER.createKey("manage"), "/v1/nodes").requireStatus(403);
                SERVER.get(SERVER.createKey("manage"), "/v1/health").requireStatus(403);
                assertThat(SERVER.get(SERVER.bootstrap(), "/v1/nodes")
                                .requireStatus(200)
                                .text())
                        .contains("inner-name");
            } finally {
                ending.countDown();
            }
        }
    }

    @Test
    void the_role_of_requests_cannot_read_names_hosts_and_processes() {
        Transactions transactions = new Transactions(SERVER.database().pool(1));
        for (String column : new String[] {"name", "host", "pid", "version"})
            assertThatThrownBy(() -> transactions.runInProject(
                            "default",
                            session -> session.query("SELECT " + column + " FROM carillon.node")
                                    .list(row -> row)))
                    .hasStackTraceContaining("permission denied");
    }
}
