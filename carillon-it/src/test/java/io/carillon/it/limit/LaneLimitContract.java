package io.carillon.it.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.QueueLimits;
import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.ClaimResult;
import io.carillon.internal.store.run.LaneInfo;
import io.carillon.it.fixture.Concurrently;
import io.carillon.it.fixture.RunSpec;
import io.carillon.it.fixture.StoreContract;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.run.Priority;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Limits of a lane: how many runs execute at a time, and how often runs start. */
abstract class LaneLimitContract extends StoreContract {
    private ClaimResult claimLimited(UUID node, int count, Priority... classes) {
        List<ClaimRequest.LaneClaim> laneClaims = new ArrayList<>();
        for (Priority one : classes.length == 0 ? new Priority[] {Priority.NORMAL} : classes)
            laneClaims.add(laneClaim(RunSpec.MAIL, one, count));
        return storage().lanes().claim(new ClaimRequest(node, laneClaims, Set.of(), null, 0));
    }

    private long running() {
        return storage().lanes().list(PROJECT).get(0).counts().running();
    }

    private void limit(QueueLimits queueLimits) {
        storage().lanes().limit(RunSpec.MAIL, queueLimits);
    }

    @Test
    void all_nodes_together_hold_no_more_of_a_lane_than_its_limit() {
        enqueue(RunSpec.mail(), 10);
        limit(QueueLimits.maxRunning(3));
        UUID one = node();
        UUID two = node();

        List<Attempt> first = claimLimited(one, 2).attempts();
        List<Attempt> second = claimLimited(two, 9).attempts();

        assertThat(first).hasSize(2);
        assertThat(second).hasSize(1);
        assertThat(claimLimited(one, 9).attempts()).isEmpty();
        assertThat(claimLimited(one, 9).limitedUntil()).containsKey(RunSpec.MAIL);
        apply(one, first.get(0), complete());
        apply(two, second.get(0), new Transition.Retry(Duration.ofHours(1), "no", false));
        assertThat(claimLimited(two, 9).attempts()).hasSize(2);
        storage().runs().handBack(one, first.subList(1, 2));
        assertThat(claimLimited(two, 9).attempts()).hasSize(1);
    }

    @Test
    void the_unlimited_claim_skips_limited_lanes_and_the_limited_claim_skips_unlimited_lanes() {
        enqueue(RunSpec.mail(), 2);
        assertThat(claimLimited(node(), 9).attempts()).isEmpty();

        limit(QueueLimits.maxRunning(1));
        assertThat(claim(node(), 9)).isEmpty();
        assertThat(storage().lanes().readQueueHead(Instant.MIN).limitedLanes()).containsExactly(RunSpec.MAIL);

        limit(QueueLimits.none());
        assertThat(claim(node(), 9)).hasSize(2);
        assertThat(storage().lanes().readQueueHead(Instant.MIN).limitedLanes()).isEmpty();
    }

    @Test
    void runs_that_execute_when_the_limit_is_set_count() {
        enqueue(RunSpec.mail(), 9);
        UUID node = node();
        List<Attempt> before = claim(node, 3);
        limit(QueueLimits.maxRunning(4));

        assertThat(claimLimited(node, 9).attempts()).hasSize(1);
        before.forEach(attempt -> apply(node, attempt, complete()));
        assertThat(claimLimited(node, 9).attempts()).hasSize(3);
    }

    @Test
    void a_claim_that_committed_after_the_limit_was_set_counts() throws Exception {
        enqueue(RunSpec.mail(), 9);
        UUID node = node();
        try (Connection late = fixture().open()) {
            late.setAutoCommit(false);
            // The write of a claim that does not know the limit: it starts before the limit is set
            // and commits afterwards.
            late.createStatement()
                    .execute("UPDATE carillon.run SET owner = '" + node
                            + "', attempt = attempt + 1, started_at = carillon.clock()"
                            + " WHERE id IN (SELECT id FROM carillon.run ORDER BY id LIMIT 3);"
                            + " INSERT INTO carillon.claim_record (node, claim_number, projects, run_ids)"
                            + " SELECT owner, 1, '{default}', array_agg(id) FROM carillon.run"
                            + " WHERE owner IS NOT NULL GROUP BY owner");
            limit(QueueLimits.maxRunning(4));
            late.commit();
        }

        assertThat(claimLimited(node, 9).attempts()).hasSize(1);
        assertThat(claimLimited(node, 9).attempts()).isEmpty();
        advance(Duration.ofMinutes(1));
        assertThat(claimLimited(node, 9).attempts()).isEmpty();
    }

    @Test
    void a_locked_run_blocks_neither_a_limit_nor_a_claim_and_counts_afterwards() throws Exception {
        enqueue(RunSpec.mail(), 9);
        UUID node = node();
        List<Attempt> before = claim(node, 3);
        try (Connection user = fixture().open()) {
            user.setAutoCommit(false);
            user.createStatement()
                    .execute("SELECT 1 FROM carillon.run WHERE id = '"
                            + before.get(0).run().value() + "' FOR UPDATE");
            limit(QueueLimits.maxRunning(4));
            assertThat(claimLimited(node, 1).attempts()).hasSize(1);
            advance(Duration.ofMinutes(1));
            assertThat(claimLimited(node, 1).attempts()).hasSize(1);
            user.rollback();
            user.setAutoCommit(true);
        }

        assertThat(claimLimited(node, 9).attempts()).isEmpty();
        apply(node, before.get(1), complete());
        assertThat(claimLimited(node, 9).attempts()).isEmpty();
        apply(node, before.get(0), complete());
        assertThat(claimLimited(node, 9).attempts()).hasSize(1);
    }

    @Test
    void setting_a_limit_waits_for_the_claim_that_holds_the_gate() throws Exception {
        enqueue(RunSpec.mail(), 9);
        CompletableFuture<Void> set;
        try (Connection gate = fixture().open()) {
            gate.setAutoCommit(false);
            gate.createStatement()
                    .execute("SELECT pg_advisory_xact_lock(hashtextextended('carillon.gate default lane:mail', 0))");
            set = CompletableFuture.runAsync(() -> limit(QueueLimits.maxRunning(1)));
            try (Connection observer = fixture().open()) {
                await().until(() -> observer.createStatement()
                        .executeQuery("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                        .next());
            }
            assertThat(storage().lanes().readQueueHead(Instant.MIN).limitedLanes())
                    .isEmpty();
            gate.commit();
        }
        set.get(10, TimeUnit.SECONDS);
        assertThat(storage().lanes().readQueueHead(Instant.MIN).limitedLanes()).containsExactly(RunSpec.MAIL);
    }

    @Test
    void runs_of_a_dead_node_restart_under_the_limit_and_keep_their_slot_while_isolated() {
        enqueue(RunSpec.mail(), 2);
        limit(QueueLimits.maxRunning(2));
        UUID victim = node();
        assertThat(claimLimited(victim, 9).attempts()).hasSize(2);
        storage().nodes().declareDead(victim, 0, "test");
        storage().nodes().rescue(3);
        UUID second = node();
        assertThat(claimLimited(second, 9).attempts()).hasSize(2);
        enqueue(RunSpec.mail(), 7);
        UUID successor = node();

        storage().nodes().declareDead(second, 0, "test");
        storage().nodes().rescue(3);

        assertThat(claimLimited(successor, 9).attempts()).isEmpty();
        Attempt isolated = storage()
                .runs()
                .claimOneIsolated(successor, Set.of(RunSpec.HANDLER))
                .orElseThrow();
        assertThat(claimLimited(successor, 9).attempts()).isEmpty();
        apply(successor, isolated, complete());
        assertThat(claimLimited(successor, 9).attempts()).hasSize(1);
    }

    @Test
    void a_run_without_a_handler_does_not_count() {
        enqueue(RunSpec.mail().withHandler("unknown.work"));
        limit(QueueLimits.maxRunning(1));
        UUID victim = node();
        assertThat(claimLimited(victim, 9).attempts()).hasSize(1);
        UUID successor = node();
        enqueue(RunSpec.mail());
        assertThat(claimLimited(successor, 9).attempts()).isEmpty();

        storage().nodes().declareDead(victim, 0, "test");
        storage().nodes().rescue(3);

        assertThat(claimLimited(successor, 9).attempts())
                .extracting(attempt -> attempt.target().name())
                .containsExactly(RunSpec.HANDLER);
    }

    @Test
    void an_isolated_run_without_a_handler_does_not_count_until_a_node_has_the_handler() {
        UUID other = node("other.work");
        enqueue(RunSpec.mail());
        limit(QueueLimits.maxRunning(1));
        for (int i = 0; i < 2; i++) {
            UUID victim = node();
            assertThat(claimLimited(victim, 9).attempts()).hasSize(1);
            storage().nodes().declareDead(victim, 0, "test");
            storage().nodes().rescue(3);
        }
        enqueue(RunSpec.mail().withHandler("other.work"), 2);

        Attempt held = claimLimited(other, 9).attempts().get(0);
        assertThat(held.target().name()).isEqualTo("other.work");
        UUID successor = node();
        assertThat(storage().runs().claimOneIsolated(successor, Set.of(RunSpec.HANDLER)))
                .as("the lane's only slot is taken")
                .isEmpty();
        apply(other, held, complete());
        assertThat(storage().runs().claimOneIsolated(successor, Set.of(RunSpec.HANDLER)))
                .isPresent();
        assertThat(claimLimited(other, 9).attempts())
                .as("the isolated run occupies the slot")
                .isEmpty();
    }

    @Test
    void no_runs_are_claimed_from_a_paused_lane_or_by_an_unregistered_node() {
        enqueue(RunSpec.mail(), 2);
        limit(QueueLimits.maxRunning(1));
        assertThat(claimLimited(UUID.randomUUID(), 9).attempts()).isEmpty();
        storage().lanes().pause(RunSpec.MAIL, "ann", null);

        assertThat(claimLimited(node(), 9).attempts()).isEmpty();
        storage().lanes().resume(RunSpec.MAIL);
        assertThat(claimLimited(node(), 9).attempts()).hasSize(1);
    }

    @Test
    void many_nodes_that_claim_concurrently_hold_no_more_than_the_limit() {
        enqueue(RunSpec.mail(), 200);
        limit(QueueLimits.maxRunning(7));

        List<UUID> nodes = Stream.generate(this::node).limit(8).toList();
        for (int turn = 0; turn < 10; turn++) {
            List<List<Attempt>> got = Concurrently.run(
                    8, thread -> claimLimited(nodes.get(thread), 3).attempts());
            long together = got.stream().mapToLong(List::size).sum();
            assertThat(together).isBetween(1L, 7L);
            assertThat(running()).isEqualTo(together);

            List<Attempt> rest = claimLimited(nodes.get(0), 9).attempts();
            assertThat(together + rest.size()).as("slots taken").isEqualTo(7);
            for (int i = 0; i < got.size(); i++)
                for (Attempt attempt : got.get(i)) apply(nodes.get(i), attempt, complete());
            for (Attempt attempt : rest) apply(nodes.get(0), attempt, complete());
            assertThat(running()).isZero();
        }
    }

    @Test
    void nodes_that_claim_and_complete_concurrently_hold_no_more_than_the_limit() {
        enqueue(RunSpec.mail(), 200);
        limit(QueueLimits.maxRunning(7));

        List<Long> mosts = Concurrently.run(8, thread -> {
            UUID node = node();
            long most = 0;
            for (int turn = 0; turn < 10; turn++) {
                List<Attempt> got = claimLimited(node, 3).attempts();
                most = Math.max(most, running());
                got.forEach(attempt -> apply(node, attempt, complete()));
            }
            return most;
        });

        assertThat(mosts).allMatch(most -> most <= 7).anyMatch(most -> most > 0);
        assertThat(running()).isZero();
    }

    @Test
    void starts_are_spread_by_the_rate_and_an_idle_lane_accumulates_no_burst() {
        enqueue(RunSpec.mail(), 500);
        limit(QueueLimits.rate(20, SECOND));
        UUID node = node();
        assertThat(claimLimited(node, 99).attempts()).hasSize(1);
        ClaimResult dry = claimLimited(node, 99);
        assertThat(dry.attempts()).isEmpty();
        assertThat(dry.limitedUntil()).containsEntry(RunSpec.MAIL, StoreFixture.NOON.plusMillis(50));

        advance(Duration.ofMillis(50));
        assertThat(claimLimited(node, 99).attempts()).hasSize(1);
        int started = 0;
        for (int i = 0; i < 100; i++) {
            advance(Duration.ofMillis(30));
            started += claimLimited(node, 99).attempts().size();
        }
        assertThat(started).isBetween(59, 60);

        advance(Duration.ofHours(1));
        assertThat(claimLimited(node, 99).attempts()).hasSize(3);
    }

    @Test
    void both_limits_hold() {
        enqueue(RunSpec.mail(), 50);
        limit(QueueLimits.maxRunning(2).andRate(100, SECOND));
        UUID node = node();
        claimLimited(node, 9);
        advance(SECOND);
        claimLimited(node, 9);
        advance(SECOND);

        assertThat(claimLimited(node, 9).attempts()).isEmpty();
        assertThat(storage().lanes().list(PROJECT))
                .containsExactly(new LaneInfo(
                        RunSpec.MAIL,
                        new LaneInfo.Counts(48, 2, true, StoreFixture.NOON),
                        new QueueLimits(2, 100.0),
                        1,
                        null,
                        null));
    }

    @Test
    void with_a_limit_of_one_each_priority_has_its_share() {
        for (Priority one : Priority.values()) enqueue(RunSpec.mail().withPriority(one), 150);
        limit(QueueLimits.maxRunning(1));
        UUID node = node();
        Map<Priority, Integer> started = new EnumMap<>(Priority.class);
        for (int i = 0; i < 150; i++) {
            Attempt attempt =
                    claimLimited(node, 5, Priority.values()).attempts().get(0);
            started.merge(attempt.priority(), 1, Integer::sum);
            apply(node, attempt, complete());
        }

        assertThat(started.keySet()).containsExactly(Priority.values());
        assertThat(started.get(Priority.HIGH)).isGreaterThan(started.get(Priority.NORMAL));
        assertThat(started.get(Priority.NORMAL)).isGreaterThan(started.get(Priority.LOW));
    }
}
