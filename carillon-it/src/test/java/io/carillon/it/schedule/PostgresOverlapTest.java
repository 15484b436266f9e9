package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.store.run.GateName;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.RunId;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.SchedulePolicies;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresOverlapTest extends OverlapContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final String GATE = "overlap:00000000-0000-7000-8000-00000000000a";

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    /** Stores runs that wait in order at the gate, behind one run that was promoted. */
    private void insertWaiting(int length) {
        enqueue(RunSpec.mail(), length + 1);
        FIXTURE.database().execute("""
                UPDATE carillon.run r SET gate_key = '%s', gate_position = nullif(n, 0),
                       parked = CASE WHEN n > 0 THEN 'gate' END,
                       ready_at = CASE WHEN n > 0 THEN 'infinity' ELSE r.ready_at END
                  FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM carillon.run) numbered
                    WHERE numbered.id = r.id
                """.formatted(GATE));
    }

    @Test
    void a_promotion_locks_only_the_runs_it_decides_about() {
        insertWaiting(50);

        storage().gates().promote(List.of(new GateName(PROJECT, GATE)));

        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run WHERE xmax::text <> '0'")
                        .number())
                .isZero();
        claim(node(), 1)
                .forEach(attempt -> FIXTURE.database().execute("DELETE FROM carillon.run WHERE gate_position IS NULL"));
        storage().gates().promote(List.of(new GateName(PROJECT, GATE)));
        assertThat(FIXTURE.query("SELECT coalesce(gate_position::text, 'through') FROM carillon.run ORDER BY id"
                                + " LIMIT 2")
                        .texts())
                .containsExactly("through", "2");
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.run WHERE xmax::text <> '0'"
                                + " AND gate_position IS NOT NULL")
                        .number())
                .isZero();
    }

    @Test
    void an_unknown_policy_of_a_newer_version_blocks_its_own_gate_only() {
        store(ScheduleSpec.every(SECOND.multipliedBy(10))
                .policies(SchedulePolicies.defaults().overlap(OverlapPolicy.SKIP)));
        advance(SECOND.multipliedBy(10));
        planAll();
        FIXTURE.database().execute("UPDATE carillon.schedule SET overlap = 'merge-all'");
        List<GateName> gates =
                new ArrayList<>(storage().gates().findArrivals(10).gates());
        assertThat(gates).hasSize(1);
        RunId other = enqueue(RunSpec.mail());
        FIXTURE.database().execute("""
                UPDATE carillon.run SET gate_key = '%s', gate_position = 1, parked = 'gate', ready_at = 'infinity'
                  WHERE id = '%s'
                """.formatted(GATE, other.value()));
        gates.add(new GateName(PROJECT, GATE));

        assertThat(storage().gates().promote(gates).busy())
                .as("no gate is busy, because a retry would not help")
                .isEmpty();

        assertThat(claim(node(), 9)).extracting(Attempt::run).containsExactly(other);
        FIXTURE.database().execute("UPDATE carillon.schedule SET overlap = 'skip'");
        passGates();
        assertThat(claim(node(), 9)).hasSize(1);
    }
}
