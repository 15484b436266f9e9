package io.carillon.it.migration;

import static io.carillon.it.fixture.ApiFixture.awaitState;
import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.Health;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.postgres.migration.Migrator;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.node.NodeRegistration;
import io.carillon.internal.store.node.NodeStore;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.HandlerType;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node stops claiming when a newer version has changed the tables so that its own code no longer fits. */
@Timeout(60)
class OutdatedNodeTest {
    record Item(int number) {}

    private static final HandlerType<Item> ITEM = HandlerType.of("item", Item.class);

    private final TestDatabase database = TestDatabase.migrated();
    private final ApiFixture fixture = new ApiFixture(database);

    @AfterEach
    void close() {
        fixture.close();
        database.close();
    }

    @Test
    void stops_claiming_completes_running_attempts_and_reports_it() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        Carillon node = fixture.node(builder -> builder.handle(ITEM, (item, run) -> {
            started.countDown();
            finish.await();
        }));
        Carillon client = fixture.client(builder -> builder);
        RunId running = client.enqueue(ITEM, new Item(1)).run();
        started.await();
        int next = new Migrator(database.dataSource()).newestNumber() + 1;
        database.execute(
                "INSERT INTO carillon.migration VALUES (%d, 'later', 'x', %d, carillon.clock())".formatted(next, next));

        eventually().atMost(Duration.ofSeconds(20)).until(() -> !node.isRunning());

        RunId left = client.enqueue(ITEM, new Item(2)).run();
        finish.countDown();
        awaitState(client, running, RunState.SUCCEEDED);
        assertThat(client.runs().get(left).orElseThrow().state()).isEqualTo(RunState.WAITING);
        assertThat(node.health().kinds()).contains(Health.Kind.SCHEMA_MISMATCH);
        assertThatThrownBy(() -> client.runDue(Duration.ofSeconds(1))).hasMessageContaining("newer version");
    }

    @Test
    void the_heartbeat_reports_whether_a_migration_needs_newer_code() {
        Migrator migrator = new Migrator(database.dataSource());
        NodeStore nodes = new PostgresStorage(database.dataSource(), TickPlanner.defaults()).nodes();
        UUID node = UUID.randomUUID();
        nodes.register(new NodeRegistration(node, "a", "host", 1, "0.1", Set.of("item"), Set.of(), 1, "poll"));

        assertThat(nodes.recordHeartbeat(node, 0, List.of()).outdated()).isFalse();
        database.execute(
                "UPDATE carillon.migration SET min_code = %d WHERE number = 1".formatted(migrator.newestNumber()));
        assertThat(nodes.recordHeartbeat(node, 0, List.of()).outdated()).isFalse();
        database.execute(
                "UPDATE carillon.migration SET min_code = %d WHERE number = 1".formatted(migrator.newestNumber() + 1));
        assertThat(nodes.recordHeartbeat(node, 0, List.of()).outdated()).isTrue();
    }
}
