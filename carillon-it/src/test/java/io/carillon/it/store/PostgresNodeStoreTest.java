package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.run.Attempt;
import io.carillon.run.Limits;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
import io.carillon.store.HeldRun;
import io.carillon.store.Swept;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PostgresNodeStoreTest extends NodeStoreContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    @Override
    StoreBench bench() {
        return BENCH;
    }

    @Override
    void commitLate(UUID node) {
        BENCH.database().execute("""
                        WITH late AS (UPDATE carillon.run SET owner = '%s', attempt = attempt + 1, started_at = carillon.clock() RETURNING *)
                        INSERT INTO carillon.claim_note SELECT owner, 7, ARRAY[project], ARRAY[id] FROM late
                        """.formatted(node));
    }

    @Override
    void registerWithoutWaking(String handler) {
        BENCH.database().execute("""
                INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)
                VALUES (gen_random_uuid(), 'n', 'host', 1, '1', 1, '{%s}', 50, 'notify')
                """.formatted(handler));
    }

    private void dies(UUID node) {
        storage().nodes().beat(node, 0, List.of());
        assertThat(storage().nodes().declareDead(node, 1, "test")).isTrue();
    }

    @Test
    void a_crashed_row_that_exists_already_does_not_stop_the_rescue() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        RunId first = claim(node, 3).get(0).run();
        BENCH.database().execute("""
                INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, ended_at, outcome)
                SELECT project, id, attempt, day, owner, carillon.clock(), 'crashed' FROM carillon.run WHERE id = '%s'
                """.formatted(first.value()));
        dies(node);

        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 3, 0));
        assertThat(storage().runDesk().attempts(PROJECT, first)).hasSize(1);
        assertThat(owned()).isZero();
    }

    @Test
    void a_run_that_cannot_be_released_costs_only_itself() {
        enqueue(Order.mail(), 5);
        UUID node = node();
        RunId bad = claim(node, 5).get(2).run();
        UUID other = node();
        BENCH.database().execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON carillon.attempt FOR EACH ROW WHEN (NEW.run_id = '%s') EXECUTE FUNCTION refuse()
                """.formatted(bad.value()));
        try {
            dies(node);
            dies(other);

            assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 4, 0));
            assertThat(owned()).isEqualTo(1);
        } finally {
            BENCH.database().execute("DROP TRIGGER refuse ON carillon.attempt; DROP FUNCTION refuse()");
        }
        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 1, 0));
    }

    @Test
    void a_sweep_in_parts_accuses_no_run_that_had_company() throws Exception {
        UUID node = node();
        RunId isolated = isolated(node);
        enqueue(Order.mail());
        assertThat(claim(node, 1)).extracting(Attempt::run).doesNotContain(isolated);
        dies(node);
        try (Connection connection = BENCH.open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '%s' FOR UPDATE".formatted(isolated.value()));
            assertThat(storage().nodes().sweep(3).released()).isEqualTo(1);
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 1, 0));
        assertThat(get(isolated).crashes()).isZero();
    }

    @Test
    void a_suspect_that_a_process_holds_is_not_to_be_set_aside() {
        RunId id = enqueue(Order.mail());
        UUID process = UUID.randomUUID();
        BENCH.database()
                .execute(
                        "UPDATE carillon.run SET parked = 'suspect', suspect = 4, ready_at = 'infinity' WHERE id = '%s'"
                                .formatted(id.value()));
        assertThat(storage().runs().claimSuspect(process, Set.of(Order.HANDLER), Duration.ofMinutes(1)))
                .isPresent();
        UUID other = node("other");

        assertThat(storage().nodes().beat(other, 0, List.of()).sweepDue()).isFalse();
    }

    @Test
    void many_requests_to_cancel_runs_that_have_ended_are_removed_within_a_heartbeat() {
        enqueue(Order.mail());
        UUID node = node();
        RunId running = claim(node, 1).get(0).run();
        storage().runDesk().cancel(PROJECT, running, "enough");
        BENCH.database()
                .execute("INSERT INTO carillon.cancel_request (project, run_id, reason)"
                        + " SELECT 'aaa', gen_random_uuid(), 'enough' FROM generate_series(1, 2500)");

        assertThat(storage().nodes().beat(node, 0, List.of()).sweepDue()).isTrue();
        storage().nodes().sweep(3);

        assertThat(BENCH.rows().texts("SELECT run_id FROM carillon.cancel_request"))
                .containsExactly(running.value().toString());
        assertThat(storage().nodes().beat(node, 0, List.of()).sweepDue()).isFalse();
    }

    @Test
    void a_cancelled_run_that_cannot_be_ended_costs_only_itself() {
        List<RunId> ids = enqueue(Order.mail(), 5);
        RunId bad = ids.get(2);
        BENCH.database()
                .execute("INSERT INTO carillon.cancel_request (project, run_id, reason)"
                        + " SELECT project, id, 'enough' FROM carillon.run");
        BENCH.database().execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON carillon.run_history FOR EACH ROW WHEN (NEW.id = '%s') EXECUTE FUNCTION refuse()
                """.formatted(bad.value()));
        UUID dead = node();
        try {
            dies(dead);

            assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 0, 0));
            assertThat(ids)
                    .allSatisfy(id -> assertThat(get(id).state())
                            .isEqualTo(id.equals(bad) ? RunState.WAITING : RunState.CANCELLED));
        } finally {
            BENCH.database().execute("DROP TRIGGER refuse ON carillon.run_history; DROP FUNCTION refuse()");
        }
        storage().nodes().sweep(3);
        assertThat(get(bad).state()).isEqualTo(RunState.CANCELLED);
    }

    /** A run that this node tries in isolation. */
    private RunId isolated(UUID node) {
        RunId id = enqueue(Order.mail());
        BENCH.database()
                .execute(
                        "UPDATE carillon.run SET parked = 'suspect', suspect = 4, ready_at = 'infinity' WHERE id = '%s'"
                                .formatted(id.value()));
        assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER)))
                .map(Attempt::run)
                .contains(id);
        return id;
    }

    private static long owned() {
        return BENCH.rows().number("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL");
    }

    @Test
    void a_node_of_earlier_code_notes_nothing_and_is_swept_all_the_same() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        claim(node, 3);
        BENCH.database().execute("UPDATE carillon.node SET notes = false; DELETE FROM carillon.claim_note");
        dies(node);

        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 3, 0));
    }

    @Test
    void notes_of_a_dead_node_are_kept_for_the_second_sweep_and_removed_by_it() {
        enqueue(Order.mail(), 3);
        UUID node = node();
        claim(node, 3);
        dies(node);
        storage().nodes().sweep(3);
        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.claim_note"))
                .isEqualTo(1);

        advance(Duration.ofMinutes(1));
        storage().nodes().sweep(3);

        assertThat(BENCH.rows().number("SELECT count(*) FROM carillon.claim_note"))
                .isZero();
    }

    @Test
    void a_claim_under_a_limit_is_noted_under_its_number_and_found_after_its_node_died() {
        enqueue(Order.mail(), 3);
        storage().lanes().limit(Order.MAIL, Limits.running(9));
        UUID node = node();
        List<ClaimRequest.Quota> quotas = List.of(quota(Order.MAIL, Priority.NORMAL, 3));

        Attempt kept = storage()
                .lanes()
                .claim(new ClaimRequest(node, quotas, Set.of(), null, 7))
                .attempts()
                .get(0);
        assertThat(storage().runs().notes(node)).containsExactly(7L);
        List<HeldRun> left = List.of(new HeldRun(kept.lane().project(), kept.run(), kept.number()));
        storage().runs().rewriteNotes(node, Set.of(0L), 8, left);
        dies(node);

        assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 3, 0));
    }

    @Test
    void a_sweep_that_began_within_the_minute_and_ended_after_it_is_not_the_second() {
        enqueue(Order.mail());
        UUID node = node();
        claim(node, 1);
        dies(node);
        BENCH.database().execute("""
                CREATE FUNCTION pass_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  UPDATE carillon_test.clock SET stands = stands + interval '2 min', ahead = ahead + interval '2 min';
                  RETURN NULL;
                END $$;
                CREATE TRIGGER pass_time AFTER INSERT ON carillon.attempt FOR EACH ROW EXECUTE FUNCTION pass_time()
                """);
        try {
            assertThat(storage().nodes().sweep(3).released()).isEqualTo(1);
        } finally {
            BENCH.database().execute("DROP TRIGGER pass_time ON carillon.attempt; DROP FUNCTION pass_time()");
        }
        commitLate(node);

        assertThat(storage().nodes().sweep(3).released()).isEqualTo(1);
        assertThat(owned()).isZero();
    }

    @Test
    void a_locked_attempt_that_was_awaited_in_vain_holds_up_no_rescue() throws Exception {
        UUID waiting = node();
        RunId awaited = enqueue(Order.mail());
        Transition await = new Transition.Await(Duration.ofMinutes(1), "digest", null);
        apply(waiting, claim(waiting, 1).get(0), await);
        advance(Duration.ofMinutes(2));
        enqueue(Order.mail());
        UUID node = node();
        claim(node, 1);
        dies(node);
        try (Connection connection = BENCH.open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '%s' FOR UPDATE".formatted(awaited.value()));
            assertThat(storage().nodes().sweep(3)).isEqualTo(new Swept(1, 1, 0));
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(get(awaited).failures()).isZero();
        storage().nodes().sweep(3);
        assertThat(get(awaited).state()).isEqualTo(RunState.DEAD);
    }

    @Test
    void a_suspect_that_is_locked_is_not_waited_for() throws Exception {
        RunId suspect = isolated(node());
        BENCH.database().execute("UPDATE carillon.run SET owner = NULL, started_at = NULL");
        UUID node = node();
        try (Connection connection = BENCH.open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '%s' FOR UPDATE".formatted(suspect.value()));
            assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER)))
                    .isEmpty();
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(storage().runs().claimSuspect(node, Set.of(Order.HANDLER)))
                .map(Attempt::run)
                .contains(suspect);
    }

    @Test
    void a_claim_that_names_no_handlers_goes_through_fifty_of_a_lane() {
        for (int i = 0; i < 60; i++) enqueue(Order.mail().to("handler.%02d".formatted(i)));
        UUID node = node();

        assertThat(claim(node, 100)).hasSize(50);
        ClaimRequest.Quota last = quota(Order.MAIL, Priority.NORMAL, 100).of(Set.of("handler.58", "handler.59"));
        assertThat(storage()
                        .runs()
                        .claim(new ClaimRequest(node, List.of(last), Set.of(), null, 2))
                        .attempts())
                .hasSize(2);
    }
}
