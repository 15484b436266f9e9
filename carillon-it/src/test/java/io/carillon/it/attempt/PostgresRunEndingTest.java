package io.carillon.it.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Transition;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresRunEndingTest extends RunEndingContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Test
    void the_dead_run_and_its_history_row_have_the_same_values() {
        enqueue(RunSpec.mail().key("k"));
        UUID node = node();
        apply(node, claimOne(node), new Transition.Retry(Duration.ZERO, "oops", false));
        apply(node, claimOne(node), new Transition.MarkDead("no"));

        String columns =
                "state, queue, priority, attempt, failures, crashes, owner, due_at, origin, target, target_name, key";
        assertThat(FIXTURE.query("SELECT (%s)::text FROM carillon.dead_run".formatted(columns))
                        .texts())
                .isEqualTo(FIXTURE.query("SELECT (%s)::text FROM carillon.run_history".formatted(columns))
                        .texts());
    }
}
