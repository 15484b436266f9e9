package io.carillon.it.event;

import static io.carillon.it.fixture.ApiFixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.carillon.Carillon;
import io.carillon.CarillonException;
import io.carillon.event.EventId;
import io.carillon.event.EventPattern;
import io.carillon.event.EventType;
import io.carillon.event.PublishResult.Published;
import io.carillon.event.Subscribe;
import io.carillon.event.SubscriptionDefinition;
import io.carillon.event.SubscriptionTarget;
import io.carillon.event.Topic;
import io.carillon.it.fixture.ApiFixture;
import io.carillon.run.Payload;
import io.carillon.testkit.CarillonTest;
import io.carillon.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Events that cannot be delivered, or not at once, delay no others. */
@CarillonTest
class DeliveryFailureTest {
    private static final EventType<String> NOTED = Topic.named("orders").event("order.noted", String.class);
    private static final EventType<String> OTHER = Topic.named("others").event("other.noted", String.class);

    private final ApiFixture fixture;
    private final Queue<EventId> received = new ConcurrentLinkedQueue<>();
    private final Queue<String> others = new ConcurrentLinkedQueue<>();

    DeliveryFailureTest(TestDatabase database) {
        fixture = new ApiFixture(database);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private Carillon node() {
        return fixture.node(builder -> builder.subscribe(
                        "notes",
                        EventPattern.topic("orders"),
                        (event, run) -> received.add(event.id()),
                        Subscribe.inAnyOrder().fromBeginning())
                .subscribe("others", OTHER, (event, run) -> others.add(event.data()), Subscribe.inAnyOrder()));
    }

    private void awaitCaughtUp() {
        eventually()
                .untilAsserted(() -> assertThat(fixture.query("SELECT count(*) FROM carillon.event_cursor")
                                .number())
                        .isZero());
    }

    /** Publishes events, and replaces the data of one of them by bytes that are not text. */
    private List<EventId> publishOneUnreadable(Carillon carillon) {
        List<EventId> ids = new ArrayList<>();
        carillon.events()
                .publishAll(List.of(NOTED.of("a"), NOTED.of("b"), NOTED.of("c"), NOTED.of("d"), NOTED.of("e")))
                .forEach(result -> ids.add(((Published) result).id()));
        fixture.database()
                .execute("UPDATE carillon.event_store SET data = '\\xff22' WHERE id = '%s'"
                        .formatted(ids.get(2).value()));
        return ids;
    }

    @Test
    void an_event_whose_data_cannot_be_copied_delays_no_subscription() {
        List<EventId> ids = publishOneUnreadable(fixture.client(builder -> builder));

        Carillon carillon = node();

        awaitCaughtUp();
        carillon.publish(OTHER.of("x"));
        eventually().untilAsserted(() -> assertThat(others).containsExactly("x"));
        eventually().untilAsserted(() -> assertThat(received).containsExactlyInAnyOrderElementsOf(ids));
    }

    @Test
    void a_new_event_whose_data_cannot_be_copied_delays_no_subscription() {
        node();
        awaitCaughtUp();
        fixture.closeNodes();
        Carillon client = fixture.client(builder -> builder);
        List<EventId> ids = publishOneUnreadable(client);
        client.publish(OTHER.of("x"));

        node();

        eventually().untilAsserted(() -> assertThat(others).containsExactly("x"));
        eventually().untilAsserted(() -> assertThat(received).containsExactlyInAnyOrderElementsOf(ids));
        awaitCaughtUp();
    }

    @Test
    void a_subscription_whose_runs_are_rejected_delays_no_other() {
        fixture.database().execute("""
                CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN RAISE EXCEPTION 'rejected'; END $$;
                CREATE TRIGGER reject BEFORE INSERT ON carillon.run FOR EACH ROW
                  WHEN (NEW.target_name = 'notes') EXECUTE FUNCTION reject();
                """);
        try {
            Carillon client = fixture.client(builder -> builder);
            client.events().publishAll(List.of(NOTED.of("a"), NOTED.of("b"), NOTED.of("c")));
            client.events()
                    .subscribe(SubscriptionDefinition.of(
                            "others",
                            EventPattern.topic("others"),
                            new SubscriptionTarget.Handler("others"),
                            Subscribe.inAnyOrder()));
            client.publish(OTHER.of("x"));

            Carillon carillon = node();

            eventually().untilAsserted(() -> assertThat(others).containsExactly("x"));
            assertThat(carillon.events()
                            .subscription("notes")
                            .orElseThrow()
                            .lag()
                            .count())
                    .isEqualTo(3);
        } finally {
            fixture.database().execute("DROP TRIGGER reject ON carillon.run; DROP FUNCTION reject()");
        }
        eventually().untilAsserted(() -> assertThat(received).hasSize(3));
    }

    @Test
    void a_window_with_too_many_events_is_read_in_parts() {
        Carillon client = fixture.client(builder -> builder);
        for (int i = 0; i < 40; i++) {
            client.publish(NOTED.of("e"));
            fixture.query("SELECT carillon.store_event_snapshot()");
        }
        // Stands for a statement timeout.
        fixture.database().execute("""
                ALTER FUNCTION carillon.events_after(bigint, bigint, bigint, bigint, text, text, text, bigint)
                  RENAME TO all_events_after;
                CREATE FUNCTION carillon.events_after(p_base bigint, p_last bigint, p_snapshot bigint, p_seq bigint,
                    p_project text, p_topic text, p_key text, p_limit bigint)
                RETURNS TABLE (
                  snapshot bigint, seq bigint, project text, id uuid, day date, topic text, type text, key text)
                LANGUAGE plpgsql AS $$
                BEGIN
                  IF p_topic = 'orders' AND p_last - p_base > 4 THEN
                    RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014';
                  END IF;
                  RETURN QUERY SELECT * FROM carillon.all_events_after(p_base, p_last, p_snapshot, p_seq, p_project,
                    p_topic, p_key, p_limit);
                END $$;
                """);
        try {
            node();

            eventually().untilAsserted(() -> assertThat(received).hasSize(40));
        } finally {
            fixture.closeNodes();
            fixture.database().execute("""
                    DROP FUNCTION carillon.events_after(bigint, bigint, bigint, bigint, text, text, text, bigint);
                    ALTER FUNCTION carillon.all_events_after(bigint, bigint, bigint, bigint, text, text, text, bigint)
                      RENAME TO events_after;
                    """);
        }
    }

    @Test
    void json_that_is_not_text_is_rejected() {
        Carillon client = fixture.client(builder -> builder);
        EventType<Payload> raw = Topic.named("orders").event("order.noted", Payload.class);

        for (byte[] bytes : List.of(new byte[] {'"', (byte) 0xff, '"'}, new byte[] {'"', 0, '"'}))
            assertThatThrownBy(() -> client.publish(raw.of(new Payload(bytes, "json"))))
                    .isInstanceOf(CarillonException.class)
                    .hasMessageContaining("UTF-8");

        assertThat(client.publish(raw.of(new Payload(new byte[] {(byte) 0xff, 0}, "binary"))))
                .isInstanceOf(Published.class);
    }
}
