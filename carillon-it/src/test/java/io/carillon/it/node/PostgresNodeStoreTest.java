package io.carillon.it.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.node.RescueResult;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.OwnedRun;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
import io.carillon.run.RunId;
import io.carillon.run.RunState;
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
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    @Override
    void commitLateClaim(UUID node) {
        FIXTURE.database().execute("""
                        WITH late AS (UPDATE carillon.run
                          SET owner = '%s', attempt = attempt + 1, started_at = carillon.clock() RETURNING *)
                        INSERT INTO carillon.claim_record SELECT owner, 7, ARRAY[project], ARRAY[id] FROM late
                        """.formatted(node));
    }

    @Override
    void registerWithoutWaking(String handler) {
        FIXTURE.database().execute("""
                INSERT INTO carillon.node (id, name, host, pid, version, code, handlers, slots, wakeup)
                VALUES (gen_random_uuid(), 'n', 'host', 1, '1', 1, '{%s}', 50, 'notify')
                """.formatted(handler));
    }

    @Test
    void an_existing_attempt_row_of_the_crash_does_not_stop_the_rescue() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        RunId first = claim(node, 3).get(0).run();
        FIXTURE.database().execute("""
                INSERT INTO carillon.attempt (project, run_id, attempt, day, owner, ended_at, outcome)
                SELECT project, id, attempt, day, owner, carillon.clock(), 'crashed' FROM carillon.run WHERE id = '%s'
                """.formatted(first.value()));
        declareDead(node);

        assertThat(rescue()).isEqualTo(new RescueResult(1, 3, 0));
        assertThat(storage().runAdmin().attempts(PROJECT, first)).hasSize(1);
        assertThat(owned()).isZero();
    }

    @Test
    void a_run_that_cannot_be_released_does_not_stop_the_rescue_of_others() {
        enqueue(RunSpec.mail(), 5);
        UUID node = node();
        RunId bad = claim(node, 5).get(2).run();
        UUID other = node();
        FIXTURE.database().execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON carillon.attempt FOR EACH ROW WHEN (NEW.run_id = '%s')
                  EXECUTE FUNCTION refuse()
                """.formatted(bad.value()));
        try {
            declareDead(node);
            declareDead(other);

            assertThat(rescue()).isEqualTo(new RescueResult(1, 4, 0, 1));
            assertThat(owned()).isEqualTo(1);
        } finally {
            FIXTURE.database().execute("DROP TRIGGER refuse ON carillon.attempt; DROP FUNCTION refuse()");
        }
        assertThat(rescue()).isEqualTo(new RescueResult(1, 1, 0));
    }

    @Test
    void a_rescue_in_parts_counts_no_crash_for_a_run_that_did_not_run_alone() throws Exception {
        UUID node = node();
        RunId isolated = isolated(node);
        enqueue(RunSpec.mail());
        assertThat(claim(node, 1)).extracting(Attempt::run).doesNotContain(isolated);
        declareDead(node);
        try (Connection connection = FIXTURE.open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '%s' FOR UPDATE".formatted(isolated.value()));
            assertThat(rescue().released()).isEqualTo(1);
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(rescue()).isEqualTo(new RescueResult(1, 1, 0));
        assertThat(get(isolated).crashes()).isZero();
    }

    @Test
    void an_isolated_run_leased_by_a_process_without_a_node_makes_no_rescue_due() {
        RunId id = enqueue(RunSpec.mail());
        UUID process = UUID.randomUUID();
        FIXTURE.database()
                .execute(("UPDATE carillon.run SET parked = 'isolated', node_deaths = 4, ready_at = 'infinity'"
                                + " WHERE id = '%s'")
                        .formatted(id.value()));
        assertThat(storage().runs().claimOneIsolated(process, Set.of(RunSpec.HANDLER), Duration.ofMinutes(1)))
                .isPresent();
        UUID other = node("other");

        assertThat(storage().nodes().recordHeartbeat(other, 0, List.of()).rescueDue())
                .isFalse();
    }

    @Test
    void many_cancel_requests_of_ended_runs_are_removed_within_a_heartbeat() {
        enqueue(RunSpec.mail());
        UUID node = node();
        RunId running = claim(node, 1).get(0).run();
        storage().runAdmin().cancel(PROJECT, running, "enough");
        FIXTURE.database()
                .execute("INSERT INTO carillon.cancel_request (project, run_id, reason)"
                        + " SELECT 'aaa', gen_random_uuid(), 'enough' FROM generate_series(1, 2500)");

        assertThat(storage().nodes().recordHeartbeat(node, 0, List.of()).rescueDue())
                .isTrue();
        rescue();

        assertThat(FIXTURE.query("SELECT run_id FROM carillon.cancel_request").texts())
                .containsExactly(running.value().toString());
        assertThat(storage().nodes().recordHeartbeat(node, 0, List.of()).rescueDue())
                .isFalse();
    }

    @Test
    void a_cancelled_run_that_cannot_be_ended_does_not_stop_the_others() {
        List<RunId> ids = enqueue(RunSpec.mail(), 5);
        RunId bad = ids.get(2);
        FIXTURE.database()
                .execute("INSERT INTO carillon.cancel_request (project, run_id, reason)"
                        + " SELECT project, id, 'enough' FROM carillon.run");
        FIXTURE.database().execute("""
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON carillon.run_history FOR EACH ROW WHEN (NEW.id = '%s')
                  EXECUTE FUNCTION refuse()
                """.formatted(bad.value()));
        UUID dead = node();
        try {
            declareDead(dead);

            assertThat(rescue()).isEqualTo(new RescueResult(1, 0, 0));
            assertThat(ids)
                    .allSatisfy(id -> assertThat(get(id).state())
                            .isEqualTo(id.equals(bad) ? RunState.WAITING : RunState.CANCELLED));
        } finally {
            FIXTURE.database().execute("DROP TRIGGER refuse ON carillon.run_history; DROP FUNCTION refuse()");
        }
        rescue();
        assertThat(get(bad).state()).isEqualTo(RunState.CANCELLED);
    }

    /** Returns a run that this node executes in isolation. */
    private RunId isolated(UUID node) {
        RunId id = enqueue(RunSpec.mail());
        FIXTURE.database()
                .execute(("UPDATE carillon.run SET parked = 'isolated', node_deaths = 4, ready_at = 'infinity'"
                                + " WHERE id = '%s'")
                        .formatted(id.value()));
        assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                .map(Attempt::run)
                .contains(id);
        return id;
    }

    private static long owned() {
        return FIXTURE.query("SELECT count(*) FROM carillon.run WHERE owner IS NOT NULL")
                .number();
    }

    @Test
    void claim_records_of_a_dead_node_are_kept_for_the_second_rescue_and_removed_by_it() {
        enqueue(RunSpec.mail(), 3);
        UUID node = node();
        claim(node, 3);
        declareDead(node);
        rescue();
        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.claim_record").number())
                .isEqualTo(1);

        advance(Duration.ofMinutes(1));
        rescue();

        assertThat(FIXTURE.query("SELECT count(*) FROM carillon.claim_record").number())
                .isZero();
    }

    @Test
    void a_limited_claim_is_recorded_in_a_claim_record_and_found_after_its_node_died() {
        enqueue(RunSpec.mail(), 3);
        storage().lanes().limit(RunSpec.MAIL, QueueLimits.maxRunning(9));
        UUID node = node();
        List<ClaimRequest.LaneClaim> laneClaims = List.of(laneClaim(RunSpec.MAIL, Priority.NORMAL, 3));

        Attempt kept = storage()
                .lanes()
                .claim(new ClaimRequest(node, laneClaims, Set.of(), null, 7))
                .attempts()
                .get(0);
        assertThat(storage().runs().claimRecords(node)).containsExactly(7L);
        List<OwnedRun> left = List.of(new OwnedRun(kept.lane().project(), kept.run(), kept.number()));
        storage().runs().replaceClaimRecords(node, Set.of(0L), 8, left);
        declareDead(node);

        assertThat(rescue()).isEqualTo(new RescueResult(1, 3, 0));
    }

    @Test
    void a_rescue_that_began_within_a_minute_of_the_death_is_not_the_second_rescue() {
        enqueue(RunSpec.mail());
        UUID node = node();
        claim(node, 1);
        declareDead(node);
        FIXTURE.database().execute("""
                CREATE FUNCTION pass_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                  UPDATE carillon_test.clock
                     SET stopped_at = stopped_at + interval '2 min', time_offset = time_offset + interval '2 min';
                  RETURN NULL;
                END $$;
                CREATE TRIGGER pass_time AFTER INSERT ON carillon.attempt FOR EACH ROW EXECUTE FUNCTION pass_time()
                """);
        try {
            assertThat(rescue().released()).isEqualTo(1);
        } finally {
            FIXTURE.database().execute("DROP TRIGGER pass_time ON carillon.attempt; DROP FUNCTION pass_time()");
        }
        commitLateClaim(node);

        assertThat(rescue().released()).isEqualTo(1);
        assertThat(owned()).isZero();
    }

    @Test
    void a_locked_expired_open_attempt_delays_no_rescue() throws Exception {
        UUID waiting = node();
        RunId awaited = enqueue(RunSpec.mail());
        Transition await = new Transition.AwaitCallback(Duration.ofMinutes(1), "digest", null);
        apply(waiting, claim(waiting, 1).get(0), await);
        advance(Duration.ofMinutes(2));
        enqueue(RunSpec.mail());
        UUID node = node();
        claim(node, 1);
        declareDead(node);
        try (Connection connection = FIXTURE.open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '%s' FOR UPDATE".formatted(awaited.value()));
            assertThat(rescue()).isEqualTo(new RescueResult(1, 1, 0));
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(get(awaited).failures()).isZero();
        rescue();
        assertThat(get(awaited).state()).isEqualTo(RunState.DEAD);
    }

    @Test
    void a_claim_does_not_wait_for_a_locked_isolated_run() throws Exception {
        RunId isolated = isolated(node());
        FIXTURE.database().execute("UPDATE carillon.run SET owner = NULL, started_at = NULL");
        UUID node = node();
        try (Connection connection = FIXTURE.open();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT 1 FROM carillon.run WHERE id = '%s' FOR UPDATE".formatted(isolated.value()));
            assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                    .isEmpty();
            connection.rollback();
            connection.setAutoCommit(true);
        }

        assertThat(storage().runs().claimOneIsolated(node, Set.of(RunSpec.HANDLER)))
                .map(Attempt::run)
                .contains(isolated);
    }

    @Test
    void a_claim_without_handler_names_reads_at_most_fifty_handlers_of_a_lane() {
        for (int i = 0; i < 60; i++) enqueue(RunSpec.mail().withHandler("handler.%02d".formatted(i)));
        UUID node = node();

        assertThat(claim(node, 100)).hasSize(50);
        ClaimRequest.LaneClaim last =
                laneClaim(RunSpec.MAIL, Priority.NORMAL, 100).withHandlers(Set.of("handler.58", "handler.59"));
        assertThat(storage()
                        .runs()
                        .claim(new ClaimRequest(node, List.of(last), Set.of(), null, 2))
                        .attempts())
                .hasSize(2);
    }
}
