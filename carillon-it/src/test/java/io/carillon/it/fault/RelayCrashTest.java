package io.carillon.it.fault;

import static io.carillon.it.fault.PortFaults.When.BEFORE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.carillon.event.EventId;
import io.carillon.event.Relay;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.engine.relay.RelayAndSourceLoops;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.value.Uuid7;
import io.carillon.it.fixture.FaultyStorage;
import io.carillon.run.Payload;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Nodes crash before and after each call of a relay to its storage. The next node sends each event once, in the order
 * of its key, also those that the destination rejects at first.
 */
@CarillonTest
class RelayCrashTest {
    private static final RelayStore.Name NAME = new RelayStore.Name("default", "orders");
    private static final int EVENTS = 40;

    private final TestDatabase database;

    RelayCrashTest(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DELETE FROM carillon.node");
        TableRelay.createTables(database);
    }

    /** A node with a relay, which halts at one call of its storage. The arguments are those of {@link CrashNode}. */
    static final class Node {
        private Node() {}

        public static void main(String[] arguments) throws Exception {
            HikariConfig pool = new HikariConfig();
            pool.setJdbcUrl(arguments[0]);
            pool.setUsername(arguments[1]);
            pool.setPassword(arguments[2]);
            pool.setMaximumPoolSize(6);
            CrashNode.CrashPoint crashPoint =
                    new CrashNode.CrashPoint(arguments[3], PortFaults.When.valueOf(arguments[4]));
            try (HikariDataSource source = new HikariDataSource(pool);
                    Storage storage = FaultyStorage.around(new PostgresStorage(source, CrashNode.PLANNER), crashPoint);
                    Engine engine = engine(storage, source, arguments[3])) {
                engine.start();
                new CountDownLatch(1).await();
            }
        }
    }

    private static Engine engine(Storage storage, DataSource source, String name) {
        return CrashNode.engine(
                storage,
                source,
                name,
                List.of(),
                new RelayAndSourceLoops.Declared("default", List.of(new TableRelay(source)), List.of()));
    }

    @Tag("slow")
    @Test
    void every_event_is_sent_once_after_a_crash_before_the_cursor_moves() throws Exception {
        crashAt("relays.advance", BEFORE);
    }

    @Test
    @Tag("slow")
    void every_event_is_sent_once_after_a_crash_at_any_call() throws Exception {
        for (String call : List.of("lease", "state", "read", "advance", "decided", "removeHeld"))
            for (PortFaults.When when : PortFaults.When.values()) {
                clear();
                crashAt("relays." + call, when);
            }
    }

    private void crashAt(String point, PortFaults.When when) throws Exception {
        DataSource source = database.pool(12);
        boolean afterRejection = point.endsWith("decided") || point.endsWith("removeHeld");
        try (Storage storage = new PostgresStorage(source, CrashNode.PLANNER)) {
            TableRelay relay = new TableRelay(source);
            storage.relays().declare(new RelayStore.Declaration(NAME, "orders", relay.destination(), relay.start()));
            List<EventToStore> events = new ArrayList<>();
            for (int i = 0; i < EVENTS; i++) events.add(event(i));
            storage.events().publish(events, false);
            if (afterRejection)
                try (Engine before = engine(storage, source, "before")) {
                    before.start();
                    awaitRejected(storage);
                    accept(storage);
                }
            try (NodeProcess node = NodeProcess.start(
                    Node.class, database.jdbcUrl(), database.user(), database.password(), point, when.name(), "none")) {
                await(point + " " + when).atMost(Duration.ofSeconds(60)).until(() -> !node.isAlive());
            }
            try (Engine survivor = engine(storage, source, "survivor")) {
                survivor.start();
                if (!afterRejection) {
                    awaitRejected(storage);
                    accept(storage);
                }
                await(point + " " + when)
                        .atMost(Duration.ofSeconds(60))
                        .until(() ->
                                storage.relays().list("default", "", 10).get(0).waiting() == 0
                                        && sent("SELECT count(DISTINCT id) FROM destination") == EVENTS);
            }
        }
        assertThat(sent("SELECT count(*) FROM destination"))
                .as(point + " " + when)
                .isEqualTo(EVENTS);
        for (int key = 0; key < 4; key++)
            assertThat(database.query(
                                    "SELECT string_agg(id, ' ' ORDER BY number) FROM destination WHERE key = ?",
                                    "k" + key)
                            .text())
                    .as(point + " " + when)
                    .isEqualTo(database.query(
                                    "SELECT string_agg(id, ' ' ORDER BY substring(data FROM '[0-9]+')::int)"
                                            + " FROM destination WHERE key = ?",
                                    "k" + key)
                            .text());
    }

    private long sent(String sql) {
        return database.query(sql).number();
    }

    /** Waits until the rejected events are known and all events that do not wait behind them are sent. */
    private static void awaitRejected(Storage storage) {
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            Relay relay = storage.relays().list("default", "", 10).get(0);
            return relay.rejected() == 2 && relay.lag().count() == 0;
        });
    }

    private void accept(Storage storage) {
        database.execute("UPDATE destination_state SET rejects = false");
        for (Relay.Rejected rejected : storage.relays().rejected(NAME, 10))
            assertThat(storage.relays().decide(NAME, rejected.event(), true)).isTrue();
    }

    /** Events of four keys; of two keys, one event is rejected at first. */
    private static EventToStore event(int number) {
        String data = "{\"n\":%d%s}".formatted(number, number == 8 || number == 13 ? ",\"bad\":true" : "");
        return new EventToStore(
                "default",
                new EventId(Uuid7.next()),
                "orders",
                "order.noted",
                "k" + number % 4,
                false,
                null,
                new Payload(data.getBytes(StandardCharsets.UTF_8), "json"));
    }
}
