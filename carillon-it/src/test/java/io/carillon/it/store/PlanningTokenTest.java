package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who may plan where one node plans for all. */
class PlanningTokenTest extends PlanningContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final Duration LEASE = Duration.ofSeconds(3);

    @Override
    StoreBench bench() {
        return BENCH;
    }

    private boolean lead(UUID node) {
        return storage().plans().lead(node, LEASE);
    }

    private long epoch() {
        return BENCH.rows().number("SELECT epoch FROM carillon.token WHERE name = 'planning'");
    }

    @Test
    void of_many_who_want_it_one_has_it() {
        List<UUID> nodes = List.of(node(), node(), node(), node(), node(), node());

        List<Boolean> leads = Together.run(
                6,
                thread -> (thread % 2 == 0 ? storage() : bench().another())
                        .plans()
                        .lead(nodes.get(thread), LEASE));

        assertThat(leads.stream().filter(held -> held)).hasSize(1);
        assertThat(epoch()).isEqualTo(1);
    }

    @Test
    void is_kept_by_renewal_under_the_same_epoch() {
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
    void passes_on_when_it_ends_and_not_before() {
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
    void passes_on_at_once_when_it_is_given_up_and_only_by_its_holder() {
        UUID one = node();
        UUID other = node();
        lead(one);

        storage().plans().stepDown(other);
        assertThat(lead(other)).isFalse();
        storage().plans().stepDown(one);
        assertThat(lead(other)).isTrue();
    }

    @Test
    void a_leader_that_was_replaced_while_it_planned_writes_nothing() {
        store(Promise.every(Duration.ofSeconds(10)));
        lead(node());
        advance(Duration.ofMinutes(1));
        var stale = plans(due());
        advance(LEASE);
        assertThat(lead(node())).isTrue();
        plan();
        String before = bench().print();

        assertThat(storage().plans().write(stale)).isEmpty();

        assertThat(bench().print()).isEqualTo(before);
    }
}
