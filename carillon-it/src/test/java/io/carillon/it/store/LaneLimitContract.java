package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.carillon.run.Attempt;
import io.carillon.run.Limits;
import io.carillon.run.Priority;
import io.carillon.run.Transition;
import io.carillon.store.ClaimRequest;
import io.carillon.store.Claimed;
import io.carillon.store.LaneInfo;
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

/** Limits of lanes: how much runs at a time, and how often something starts. */
abstract class LaneLimitContract extends StoreContract {
    private Claimed limited(UUID node, int count, Priority... classes) {
        List<ClaimRequest.Quota> quotas = new ArrayList<>();
        for (Priority one : classes.length == 0 ? new Priority[] {Priority.NORMAL} : classes)
            quotas.add(quota(Order.MAIL, one, count));
        return storage().lanes().claim(new ClaimRequest(node, quotas, Set.of(), null, 0));
    }

    private long running() {
        return storage().lanes().list(PROJECT).get(0).running();
    }

    private void limit(Limits limits) {
        storage().lanes().limit(Order.MAIL, limits);
    }

    @Test
    void no_more_of_a_lane_are_held_than_its_limit_says_whoever_asks() {
        enqueue(Order.mail(), 10);
        limit(Limits.running(3));
        UUID one = node();
        UUID two = node();

        List<Attempt> first = limited(one, 2).attempts();
        List<Attempt> second = limited(two, 9).attempts();

        assertThat(first).hasSize(2);
        assertThat(second).hasSize(1);
        assertThat(limited(one, 9).attempts()).isEmpty();
        assertThat(limited(one, 9).shut()).containsKey(Order.MAIL);
        apply(one, first.get(0), complete());
        apply(two, second.get(0), new Transition.Retry(Duration.ofHours(1), "no", false));
        assertThat(limited(two, 9).attempts()).hasSize(2);
        storage().runs().handBack(one, first.subList(1, 2));
        assertThat(limited(two, 9).attempts()).hasSize(1);
    }

    @Test
    void the_claim_of_lanes_without_a_limit_leaves_a_limited_lane_alone_and_the_other_way_round() {
        enqueue(Order.mail(), 2);
        assertThat(limited(node(), 9).attempts()).isEmpty();

        limit(Limits.running(1));
        assertThat(claim(node(), 9)).isEmpty();
        assertThat(storage().lanes().look(Instant.MIN).limited()).containsExactly(Order.MAIL);

        limit(Limits.none());
        assertThat(claim(node(), 9)).hasSize(2);
        assertThat(storage().lanes().look(Instant.MIN).limited()).isEmpty();
    }

    @Test
    void what_runs_when_the_limit_is_set_counts() {
        enqueue(Order.mail(), 9);
        UUID node = node();
        List<Attempt> before = claim(node, 3);
        limit(Limits.running(4));

        assertThat(limited(node, 9).attempts()).hasSize(1);
        before.forEach(attempt -> apply(node, attempt, complete()));
        assertThat(limited(node, 9).attempts()).hasSize(3);
    }

    @Test
    void a_claim_that_has_not_seen_the_limit_counts_when_it_has_committed() throws Exception {
        enqueue(Order.mail(), 9);
        UUID node = node();
        try (Connection late = bench().open()) {
            late.setAutoCommit(false);
            // As the claim of a lane without a limit writes it, begun before the limit is set and committed after.
            late.createStatement()
                    .execute(
                            "UPDATE carillon.run SET owner = '" + node
                                    + "', attempt = attempt + 1, started_at = carillon.clock()"
                                    + " WHERE id IN (SELECT id FROM carillon.run ORDER BY id LIMIT 3);"
                                    + " INSERT INTO carillon.claim_note (node, seq, projects, ids)"
                                    + " SELECT owner, 1, '{default}', array_agg(id) FROM carillon.run WHERE owner IS NOT NULL GROUP BY owner");
            limit(Limits.running(4));
            late.commit();
        }

        assertThat(limited(node, 9).attempts()).hasSize(1);
        assertThat(limited(node, 9).attempts()).isEmpty();
        advance(Duration.ofMinutes(1));
        assertThat(limited(node, 9).attempts()).isEmpty();
    }

    @Test
    void a_run_that_somebody_has_locked_holds_up_no_limit_and_no_claim_and_counts_afterwards() throws Exception {
        enqueue(Order.mail(), 9);
        UUID node = node();
        List<Attempt> before = claim(node, 3);
        try (Connection user = bench().open()) {
            user.setAutoCommit(false);
            user.createStatement()
                    .execute("SELECT 1 FROM carillon.run WHERE id = '"
                            + before.get(0).run().value() + "' FOR UPDATE");
            limit(Limits.running(4));
            assertThat(limited(node, 1).attempts()).hasSize(1);
            advance(Duration.ofMinutes(1));
            assertThat(limited(node, 1).attempts()).hasSize(1);
            user.rollback();
            user.setAutoCommit(true);
        }

        assertThat(limited(node, 9).attempts()).isEmpty();
        apply(node, before.get(1), complete());
        assertThat(limited(node, 9).attempts()).isEmpty();
        apply(node, before.get(0), complete());
        assertThat(limited(node, 9).attempts()).hasSize(1);
    }

    @Test
    void setting_a_limit_waits_for_the_claim_that_holds_the_gate() throws Exception {
        enqueue(Order.mail(), 9);
        CompletableFuture<Void> set;
        try (Connection gate = bench().open()) {
            gate.setAutoCommit(false);
            gate.createStatement()
                    .execute("SELECT pg_advisory_xact_lock(hashtextextended('carillon.gate default lane:mail', 0))");
            set = CompletableFuture.runAsync(() -> limit(Limits.running(1)));
            try (Connection look = bench().open()) {
                await().until(() -> look.createStatement()
                        .executeQuery("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
                        .next());
            }
            assertThat(storage().lanes().look(Instant.MIN).limited()).isEmpty();
            gate.commit();
        }
        set.get(10, TimeUnit.SECONDS);
        assertThat(storage().lanes().look(Instant.MIN).limited()).containsExactly(Order.MAIL);
    }

    @Test
    void runs_whose_node_died_start_again_under_the_limit_and_keep_their_place_in_isolation() {
        enqueue(Order.mail(), 2);
        limit(Limits.running(2));
        UUID victim = node();
        assertThat(limited(victim, 9).attempts()).hasSize(2);
        storage().nodes().declareDead(victim, 0, "test");
        storage().nodes().sweep(3);
        UUID second = node();
        assertThat(limited(second, 9).attempts()).hasSize(2);
        enqueue(Order.mail(), 7);
        UUID heir = node();

        storage().nodes().declareDead(second, 0, "test");
        storage().nodes().sweep(3);

        assertThat(limited(heir, 9).attempts()).isEmpty();
        Attempt suspect =
                storage().runs().claimSuspect(heir, Set.of(Order.HANDLER)).orElseThrow();
        assertThat(limited(heir, 9).attempts()).isEmpty();
        apply(heir, suspect, complete());
        assertThat(limited(heir, 9).attempts()).hasSize(1);
    }

    @Test
    void a_run_without_a_handler_holds_no_place() {
        enqueue(Order.mail().to("nobody.knows"));
        limit(Limits.running(1));
        UUID victim = node();
        assertThat(limited(victim, 9).attempts()).hasSize(1);
        UUID heir = node();
        enqueue(Order.mail());
        assertThat(limited(heir, 9).attempts()).isEmpty();

        storage().nodes().declareDead(victim, 0, "test");
        storage().nodes().sweep(3);

        assertThat(limited(heir, 9).attempts())
                .extracting(attempt -> attempt.target().name())
                .containsExactly(Order.HANDLER);
    }

    @Test
    void a_suspect_whose_handler_no_node_has_holds_no_place_and_waits_for_one_when_there_is_a_node() {
        UUID other = node("other.work");
        enqueue(Order.mail());
        limit(Limits.running(1));
        for (int i = 0; i < 2; i++) {
            UUID victim = node();
            assertThat(limited(victim, 9).attempts()).hasSize(1);
            storage().nodes().declareDead(victim, 0, "test");
            storage().nodes().sweep(3);
        }
        enqueue(Order.mail().to("other.work"), 2);

        Attempt held = limited(other, 9).attempts().get(0);
        assertThat(held.target().name()).isEqualTo("other.work");
        UUID heir = node();
        assertThat(storage().runs().claimSuspect(heir, Set.of(Order.HANDLER)))
                .as("the lane's only place is taken")
                .isEmpty();
        apply(other, held, complete());
        assertThat(storage().runs().claimSuspect(heir, Set.of(Order.HANDLER))).isPresent();
        assertThat(limited(other, 9).attempts()).as("the suspect has it").isEmpty();
    }

    @Test
    void a_paused_lane_gives_nothing_and_neither_does_a_dead_node_get_any() {
        enqueue(Order.mail(), 2);
        limit(Limits.running(1));
        assertThat(limited(UUID.randomUUID(), 9).attempts()).isEmpty();
        storage().lanes().pause(Order.MAIL, "ann", null);

        assertThat(limited(node(), 9).attempts()).isEmpty();
        storage().lanes().resume(Order.MAIL);
        assertThat(limited(node(), 9).attempts()).hasSize(1);
    }

    @Test
    void many_nodes_at_once_hold_no_more_than_the_limit() {
        enqueue(Order.mail(), 200);
        limit(Limits.running(7));

        List<UUID> nodes = Stream.generate(this::node).limit(8).toList();
        for (int turn = 0; turn < 10; turn++) {
            List<List<Attempt>> got =
                    Together.run(8, thread -> limited(nodes.get(thread), 3).attempts());
            long together = got.stream().mapToLong(List::size).sum();
            assertThat(together).isBetween(1L, 7L);
            assertThat(running()).isEqualTo(together);

            List<Attempt> rest = limited(nodes.get(0), 9).attempts();
            assertThat(together + rest.size()).as("places taken").isEqualTo(7);
            for (int i = 0; i < got.size(); i++)
                for (Attempt attempt : got.get(i)) apply(nodes.get(i), attempt, complete());
            for (Attempt attempt : rest) apply(nodes.get(0), attempt, complete());
            assertThat(running()).isZero();
        }
    }

    @Test
    void nodes_that_claim_and_complete_beside_each_other_hold_no_more_than_the_limit() {
        enqueue(Order.mail(), 200);
        limit(Limits.running(7));

        List<Long> mosts = Together.run(8, thread -> {
            UUID node = node();
            long most = 0;
            for (int turn = 0; turn < 10; turn++) {
                List<Attempt> got = limited(node, 3).attempts();
                most = Math.max(most, running());
                got.forEach(attempt -> apply(node, attempt, complete()));
            }
            return most;
        });

        assertThat(mosts).allMatch(most -> most <= 7).anyMatch(most -> most > 0);
        assertThat(running()).isZero();
    }

    @Test
    void starts_are_spread_by_the_rate_and_a_lane_that_rested_gets_no_flood() {
        enqueue(Order.mail(), 500);
        limit(Limits.rate(20, SECOND));
        UUID node = node();
        assertThat(limited(node, 99).attempts()).hasSize(1);
        Claimed dry = limited(node, 99);
        assertThat(dry.attempts()).isEmpty();
        assertThat(dry.shut()).containsEntry(Order.MAIL, StoreBench.NOON.plusMillis(50));

        advance(Duration.ofMillis(50));
        assertThat(limited(node, 99).attempts()).hasSize(1);
        int started = 0;
        for (int i = 0; i < 100; i++) {
            advance(Duration.ofMillis(30));
            started += limited(node, 99).attempts().size();
        }
        assertThat(started).isBetween(59, 60);

        advance(Duration.ofHours(1));
        assertThat(limited(node, 99).attempts()).hasSize(3);
    }

    @Test
    void both_limits_hold() {
        enqueue(Order.mail(), 50);
        limit(Limits.running(2).andRate(100, SECOND));
        UUID node = node();
        limited(node, 9);
        advance(SECOND);
        limited(node, 9);
        advance(SECOND);

        assertThat(limited(node, 9).attempts()).isEmpty();
        assertThat(storage().lanes().list(PROJECT))
                .containsExactly(new LaneInfo(Order.MAIL, 48, 2, new Limits(2, 100.0), 1, null, null));
    }

    @Test
    void with_room_for_one_each_class_has_its_share() {
        for (Priority one : Priority.values()) enqueue(Order.mail().of(one), 150);
        limit(Limits.running(1));
        UUID node = node();
        Map<Priority, Integer> started = new EnumMap<>(Priority.class);
        for (int i = 0; i < 150; i++) {
            Attempt attempt = limited(node, 5, Priority.values()).attempts().get(0);
            started.merge(attempt.priority(), 1, Integer::sum);
            apply(node, attempt, complete());
        }

        assertThat(started.keySet()).containsExactly(Priority.values());
        assertThat(started.get(Priority.HIGH)).isGreaterThan(started.get(Priority.NORMAL));
        assertThat(started.get(Priority.NORMAL)).isGreaterThan(started.get(Priority.LOW));
    }
}
