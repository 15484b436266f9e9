package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Transition;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunEndingTest extends RunEndingContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Test
    void the_dead_letter_holds_the_numbers_that_history_holds() {
        enqueue(Order.mail().key("k"));
        UUID node = node();
        apply(node, claimOne(node), new Transition.Retry(Duration.ZERO, "oops", false));
        apply(node, claimOne(node), new Transition.Die("no"));

        String columns =
                "state, queue, class, attempt, failures, crashes, owner, due_at, origin, target, target_name, key";
        assertThat(BENCH.rows().texts("SELECT (%s)::text FROM carillon.dead_run".formatted(columns)))
                .isEqualTo(BENCH.rows().texts("SELECT (%s)::text FROM carillon.run_history".formatted(columns)));
    }
}
