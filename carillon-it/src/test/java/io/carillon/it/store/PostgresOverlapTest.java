package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.RunId;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.store.GateName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresOverlapTest extends OverlapContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final String GATE = "overlap:00000000-0000-7000-8000-00000000000a";

    @Override
    StoreBench bench() {
        return BENCH;
    }

    /** A line of runs that were decided to wait, behind one that is through. */
    private void line(int length) {
        enqueue(Order.mail(), length + 1);
        BENCH.database().execute("""
                UPDATE carillon.run r SET gate_key = '%s', seq = nullif(n, 0), parked = CASE WHEN n > 0 THEN 'gate' END,
                       ready_at = CASE WHEN n > 0 THEN 'infinity' ELSE r.ready_at END
                  FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM carillon.run) numbered WHERE numbered.id = r.id
                """.formatted(GATE));
    }

    @Test
    void a_look_at_a_long_line_locks_nobody_about_whom_nothing_is_decided() {
        line(50);

        storage().gates().pass(List.of(new GateName(PROJECT, GATE)));

        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.run WHERE xmax::text <> '0'"))
                .isZero();
        claim(node(), 1).forEach(attempt -> BENCH.database().execute("DELETE FROM carillon.run WHERE seq IS NULL"));
        storage().gates().pass(List.of(new GateName(PROJECT, GATE)));
        assertThat(BENCH.rows().texts("SELECT coalesce(seq::text, 'through') FROM carillon.run ORDER BY id LIMIT 2"))
                .containsExactly("through", "2");
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.run WHERE xmax::text <> '0' AND seq IS NOT NULL"))
                .isZero();
    }

    @Test
    void a_policy_of_a_newer_version_costs_its_own_gate_only() {
        store(Promise.every(SECOND.multipliedBy(10))
                .policies(Policies.defaults().overlap(Overlap.SKIP)));
        advance(SECOND.multipliedBy(10));
        planAll();
        BENCH.database().execute("UPDATE carillon.schedule SET overlap = 'merge-all'");
        List<GateName> gates = new ArrayList<>(storage().gates().arrive(10).gates());
        assertThat(gates).hasSize(1);
        RunId other = enqueue(Order.mail());
        BENCH.database().execute("""
                UPDATE carillon.run SET gate_key = '%s', seq = 1, parked = 'gate', ready_at = 'infinity' WHERE id = '%s'
                """.formatted(GATE, other.value()));
        gates.add(new GateName(PROJECT, GATE));

        assertThat(storage().gates().pass(gates).busy())
                .as("nothing that a moment would change")
                .isEmpty();

        assertThat(claim(node(), 9)).extracting(Attempt::run).containsExactly(other);
        BENCH.database().execute("UPDATE carillon.schedule SET overlap = 'skip'");
        passGates();
        assertThat(claim(node(), 9)).hasSize(1);
    }
}
