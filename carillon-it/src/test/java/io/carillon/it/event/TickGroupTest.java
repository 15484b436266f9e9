package io.carillon.it.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.WriteResult;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunState;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ticks that publish an event: the statement that ends a group of them inserts their events. */
class TickGroupTest extends StoreContract {
    private static final String HANDLER = "carillon.publish";

    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    private List<Attempt> claimTicks(UUID node, int count) {
        enqueue(RunSpec.mail().withHandler(HANDLER), count);
        FIXTURE.database()
                .execute("UPDATE carillon.run SET payload = convert_to('{\"schedule\":\"s\",\"topic\":\"orders\","
                        + "\"type\":\"order.noted\",\"key\":\"a "
                        + "\\\"b\\\"\",\"codec\":\"json\",\"data\":\"MQ==\"}', 'UTF8')");
        return claim(node, count);
    }

    @Test
    void the_ticks_of_one_claim_end_and_publish_in_one_transaction() {
        UUID node = node(HANDLER);
        List<Attempt> ticks = claimTicks(node, 500);

        List<WriteResult> results = storage()
                .runs()
                .apply(
                        node,
                        ticks.stream()
                                .map(tick -> ended(tick, new Transition.Complete(null)))
                                .toList());

        assertThat(results).hasSize(500).containsOnly(WriteResult.ACCEPTED);
        assertThat(FIXTURE.query("SELECT count(*) || ' ' || count(DISTINCT xid) || ' ' || count(DISTINCT id) || ' '"
                                + " || min(key) FROM carillon.event_store")
                        .text())
                .isEqualTo("500 1 500 a \"b\"");
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run_history WHERE state = 'succeeded'")
                        .number())
                .isEqualTo(500);
    }

    @Test
    void a_tick_that_another_node_holds_publishes_nothing() {
        UUID node = node(HANDLER);
        List<Attempt> ticks = claimTicks(node, 2);
        FIXTURE.database()
                .execute("UPDATE carillon.run SET owner = gen_random_uuid() WHERE id = '"
                        + ticks.get(0).run().value() + "'");

        List<WriteResult> results = storage()
                .runs()
                .apply(
                        node,
                        ticks.stream()
                                .map(tick -> ended(tick, new Transition.Complete(null)))
                                .toList());

        assertThat(results).containsExactly(WriteResult.LEASE_LOST, WriteResult.ACCEPTED);
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.event_store").number())
                .isEqualTo(1);
    }

    @Test
    void a_tick_that_waited_for_weeks_publishes_an_event_of_today() {
        UUID node = node(HANDLER);
        Attempt tick = claimTicks(node, 1).get(0);
        advance(Duration.ofDays(40));

        storage().runs().apply(node, List.of(ended(tick, new Transition.Complete(null))));

        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.event_store"
                                + " WHERE day = (carillon.clock() AT TIME ZONE 'UTC')::date"
                                + " AND day = carillon.day_of_id(id)")
                        .number())
                .isEqualTo(1);
        assertThat(storage().runAdmin().get(PROJECT, tick.run()).orElseThrow().state())
                .isEqualTo(RunState.SUCCEEDED);
    }
}
