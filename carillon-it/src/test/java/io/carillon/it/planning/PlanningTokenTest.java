package io.carillon.it.planning;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The planning token, which allows one node to plan for the whole cluster. */
class PlanningTokenTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final Duration LEASE = Duration.ofSeconds(3);

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    private boolean lead(UUID node) {
        return storage().plans().acquireToken(node, LEASE);
    }

    private long epoch() {
        return FIXTURE.query("SELECT epoch FROM carillon.leader_token WHERE name = 'planning'")
                .number();
    }

    @Test
    void one_of_several_concurrent_candidates_gets_the_token() {
        List<UUID> nodes = List.of(node(), node(), node(), node(), node(), node());

        List<Boolean> leads = Concurrently.run(
                6,
                thread -> (thread % 2 == 0 ? storage() : fixture().secondStorage())
                        .plans()
                        .acquireToken(nodes.get(thread), LEASE));

        assertThat(leads.stream().filter(held -> held)).hasSize(1);
        assertThat(epoch()).isEqualTo(1);
    }

    @Test
    void renewal_keeps_the_token_and_its_epoch() {
        UUID one = node();
        UUID other = node();

        for (int second = 0; second < 10; second++) {
            assertThat(lead(one)).isTrue();
            assertThat(lead(other)).isFalse();
            advance(SECOND);
        }

        assertThat(epoch()).isEqualTo(1);
    }

    @Test
    void another_node_gets_the_token_when_it_expires_and_not_before() {
        UUID dead = node();
        UUID other = node();
        lead(dead);

        advance(LEASE.minusMillis(1));
        assertThat(lead(other)).isFalse();
        advance(Duration.ofMillis(1));
        assertThat(lead(other)).isTrue();

        assertThat(epoch()).isEqualTo(2);
        assertThat(lead(dead)).isFalse();
    }

    @Test
    void another_node_gets_the_token_immediately_when_its_holder_releases_it() {
        UUID one = node();
        UUID other = node();
        lead(one);

        storage().plans().releaseToken(other);
        assertThat(lead(other)).isFalse();
        storage().plans().releaseToken(one);
        assertThat(lead(other)).isTrue();
    }

    @Test
    void a_leader_that_was_replaced_while_it_planned_writes_nothing() {
        store(ScheduleSpec.every(Duration.ofSeconds(10)));
        lead(node());
        advance(Duration.ofMinutes(1));
        var stale = plans(due());
        advance(LEASE);
        assertThat(lead(node())).isTrue();
        plan();
        String before = fixture().dump();

        assertThat(storage().plans().write(stale)).isEmpty();

        assertThat(fixture().dump()).isEqualTo(before);
    }
}
