package io.carillon.it.fault;

import static io.carillon.it.fault.PortFaults.When.AFTER;
import static io.carillon.it.fault.PortFaults.When.BEFORE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.Subscribe;
import io.carillon.event.Subscription;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.EventDispatchStore;
import io.carillon.internal.store.event.EventStore;
import io.carillon.internal.store.event.EventToStore;
import io.carillon.internal.value.Uuid7;
import io.carillon.run.Payload;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.NodeProcess;
import io.carillon.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nodes crash before and after each call of the dispatcher. The next node delivers each event once, in order. */
@CarillonTest
class DispatcherCrashTest {
    private static final String NAME = "notes";
    private static final int EVENTS = 20;

    private final TestDatabase database;

    DispatcherCrashTest(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void clear() {
        database.clear();
        database.execute("DELETE FROM carillon.node");
    }

    @Test
    void every_event_is_delivered_once_after_a_crash_around_a_dispatch() throws Exception {
        crashAt("eventDispatch.dispatch", BEFORE, false);
        clear();
        crashAt("eventDispatch.dispatch", AFTER, false);
    }

    @Tag("slow")
    @Test
    void every_event_is_delivered_once_after_a_crash_around_a_late_delivery() throws Exception {
        crashAt("eventDispatch.deliver", BEFORE, true);
        clear();
        crashAt("eventDispatch.deliver", AFTER, true);
    }

    @Test
    @Tag("slow")
    void every_event_is_delivered_once_after_a_crash_at_any_call() throws Exception {
        for (PortFaults.When when : PortFaults.When.values()) {
            for (String point : List.of("storeSnapshot", "place", "read", "dispatch")) {
                clear();
                crashAt("eventDispatch." + point, when, false);
            }
            for (String point : List.of("behind", "read", "deliver", "join")) {
                clear();
                crashAt("eventDispatch." + point, when, true);
            }
        }
    }

    /** {@code late} says whether the subscription has a cursor of its own when the events are published. */
    private void crashAt(String point, PortFaults.When when, boolean late) throws Exception {
        DataSource source = database.pool(12);
        try (Storage storage = new PostgresStorage(source, CrashNode.PLANNER)) {
            storage.events()
                    .declare(new EventStore.Declaration(
                            "default",
                            SubscriptionDefinition.of(
                                    NAME,
                                    EventPattern.topic("orders"),
                                    new SubscriptionTarget.Handler(NAME),
                                    Subscribe.inOrder().fromBeginning()),
                            Subscription.Owner.CODE));
            EventDispatchStore dispatch = storage.eventDispatch();
            if (!late)
                dispatch.join(
                        dispatch.place(), List.of(dispatch.behind(1).get(0).name()));
            storage.events()
                    .publish(
                            Stream.generate(DispatcherCrashTest::event)
                                    .limit(EVENTS)
                                    .toList(),
                            false);
            try (NodeProcess node = NodeProcess.start(
                    CrashNode.class,
                    database.jdbcUrl(),
                    database.user(),
                    database.password(),
                    point,
                    when.name(),
                    NAME)) {
                await(point + " " + when).atMost(Duration.ofSeconds(60)).until(() -> !node.isAlive());
            }
            try (Engine survivor = CrashNode.engine(storage, source, "survivor", List.of(NAME))) {
                survivor.start();
                await(point + " " + when)
                        .atMost(Duration.ofSeconds(40))
                        .until(() ->
                                database.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                                                .number()
                                        == EVENTS);
            }
        }
        assertThat(database.query("SELECT count(DISTINCT key) FROM carillon.run_history")
                        .number())
                .isEqualTo(EVENTS);
        assertThat(database.query("SELECT count(*) FROM carillon.run").number()).isZero();
        assertThat(database.query("SELECT string_agg(key, ' ' ORDER BY started_at) FROM carillon.run_history")
                        .text())
                .isEqualTo(
                        database.query("SELECT string_agg('event:' || id, ' ' ORDER BY seq) FROM carillon.event_store")
                                .text());
    }

    private static EventToStore event() {
        return new EventToStore(
                "default",
                new EventId(Uuid7.next()),
                "orders",
                "order.noted",
                "k",
                false,
                null,
                new Payload("1".getBytes(StandardCharsets.UTF_8), "json"));
    }
}
