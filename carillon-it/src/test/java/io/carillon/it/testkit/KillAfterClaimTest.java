package io.carillon.it.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.carillon.Carillon;
import io.carillon.CarillonBuilder;
import io.carillon.CarillonException;
import io.carillon.NodeConfig;
import io.carillon.run.Enqueue;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.CarillonKit;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.FaultProxy;
import io.carillon.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A node dies between the claim of a run and the start of its handler. */
@CarillonTest
class KillAfterClaimTest {
    record Note(String text) {}

    private static final HandlerType<Note> NOTE = HandlerType.of("note", Note.class);

    private final TestDatabase database;
    private final CarillonKit kit;
    private final FaultProxy proxy;
    private final List<String> calls = Collections.synchronizedList(new ArrayList<>());

    KillAfterClaimTest(CarillonKit kit) {
        this.kit = kit;
        this.database = kit.database();
        this.proxy = FaultProxy.inFrontOf(database);
    }

    @BeforeEach
    void clear() {
        database.clear();
    }

    @AfterEach
    void close() {
        proxy.close();
    }

    @Tag("slow")
    @Test
    void a_node_killed_between_claim_and_start_is_declared_dead_and_its_run_rescued() throws Exception {
        Carillon client = Carillon.on(database.dataSource()).build();
        Carillon doomed = named("doomed", proxy.dataSource()).config(quick()).start();
        await().until(() -> client.nodes().size() == 1);
        proxy.killAfterClaim();

        RunId run = client.enqueue(NOTE, new Note("x")).run();
        await().atMost(Duration.ofSeconds(30)).until(() -> proxy.lostAcknowledgements() == 1);

        kit.run(NOTE).running().onAttempt(1);
        String heartbeat = "SELECT heartbeat_count FROM carillon.node WHERE name = 'doomed'";
        List<String> last = database.query(heartbeat).texts();
        assertThat(proxy.connections()).isZero();
        try (Carillon other =
                named("other", database.dataSource()).config(quick()).start()) {
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> other.runs().get(run).orElseThrow().state() == RunState.SUCCEEDED);
        }

        assertThat(calls).containsExactly("other x");
        kit.run(NOTE).succeeded().onAttempt(2).withFailures(0);
        assertThat(client.runs().attempts(run)).extracting("outcome").containsExactly("crashed");
        assertThat(database.query(heartbeat).texts())
                .as("heartbeats after the death")
                .isEqualTo(last);
        doomed.close();
        client.close();
    }

    @Test
    void a_driven_carillon_dies_and_its_run_is_rescued_after_the_lease_expired() {
        kit.clock().stopAt(kit.clock().now());
        Carillon doomed = named("doomed", proxy.dataSource()).build();
        Carillon other = named("other", database.dataSource()).build();
        proxy.killAfterClaim();
        kit.drive(doomed);

        other.enqueue(NOTE, new Note("x"), Enqueue.now());
        assertThatExceptionOfType(CarillonException.class).isThrownBy(kit::runDue);

        kit.run(NOTE).running().onAttempt(1);
        assertThat(kit.drive(other).runDue()).as("the lease is still valid").isZero();
        assertThat(kit.advance(Duration.ofMinutes(2)).runDue()).isEqualTo(1);
        kit.run(NOTE).succeeded().onAttempt(2).withFailures(0);
        assertThat(calls).containsExactly("other x");
        kit.clock().useRealTime();
    }

    @Test
    void a_claim_that_returned_no_run_kills_no_node() throws Exception {
        proxy.killAfterClaim();
        try (Connection connection = proxy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE carillon.run SET attempt = attempt + 1 WHERE false");

            assertThat(connection.isValid(5)).isTrue();
        }
        assertThat(proxy.lostAcknowledgements()).isZero();
    }

    private CarillonBuilder named(String name, DataSource dataSource) {
        return Carillon.on(dataSource).nodeName(name).handle(NOTE, (note, run) -> calls.add(name + " " + note.text()));
    }

    private static NodeConfig quick() {
        return NodeConfig.defaults().heartbeat(Duration.ofMillis(200), Duration.ofMillis(1_500));
    }
}
