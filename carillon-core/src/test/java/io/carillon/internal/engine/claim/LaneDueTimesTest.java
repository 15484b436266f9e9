package io.carillon.internal.engine.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.RandomTrials;
import io.carillon.internal.run.Lane;
import io.carillon.internal.store.run.ClaimRequest;
import io.carillon.internal.store.run.LaneDue;
import io.carillon.run.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LaneDueTimesTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final Lane MAIL = new Lane("mail", "default");
    private static final Lane REPORTS = new Lane("reports", "default");
    private final LaneDueTimes laneDueTimes = new LaneDueTimes(lane -> Integer.MAX_VALUE);

    private static LaneDue due(Lane lane, Priority priority, Instant readyAt) {
        return new LaneDue(lane, priority, lane.queue(), readyAt);
    }

    @Test
    void knows_no_lane_before_a_hint_or_a_poll() {
        assertThat(laneDueTimes.takeLaneClaims(100, NOW)).isEmpty();
        assertThat(laneDueTimes.nextReady()).isEqualTo(Instant.MAX);
    }

    @Test
    void serves_a_lane_as_soon_as_its_instant_has_come() {
        laneDueTimes.hint(MAIL, NOW.plusSeconds(5), NOW);

        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusMillis(4_999))).isEmpty();
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(5));
        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusSeconds(5))).isNotEmpty();
        assertThat(laneDueTimes.nextReady()).isEqualTo(Instant.MAX);
    }

    private static LaneDue mail(long seconds) {
        return due(MAIL, Priority.NORMAL, NOW.plusSeconds(seconds));
    }

    /** Claims at this second and gets all runs that are ready. */
    private void claimAt(long seconds) {
        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusSeconds(seconds))).isNotEmpty();
        laneDueTimes.recordPartialClaim(MAIL, Priority.NORMAL, NOW.plusSeconds(seconds), NOW.plusSeconds(seconds));
    }

    @Test
    void knows_what_comes_next_from_one_poll() {
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(3), mail(1), mail(2)), Instant.MAX);

        for (int second = 1; second <= 3; second++) {
            assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(second));
            assertThat(laneDueTimes.isNextReadyCertain()).isTrue();
            claimAt(second);
        }
        assertThat(laneDueTimes.nextReady()).isEqualTo(Instant.MAX);
        assertThat(laneDueTimes.isNextReadyCertain())
                .as("the poll read everything, and no hint arrived since")
                .isTrue();
    }

    @Test
    void does_not_ask_again_for_what_became_ready_during_a_claim() {
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(1), mail(2), mail(3)), Instant.MAX);

        laneDueTimes.takeLaneClaims(10, NOW.plusSeconds(1));
        laneDueTimes.recordPartialClaim(MAIL, Priority.NORMAL, NOW.plusSeconds(2), NOW.plusSeconds(1));

        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(3));
    }

    @Test
    void does_not_know_what_comes_after_the_polled_range() {
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(1), mail(2)), NOW.plusSeconds(2));

        assertThat(laneDueTimes.isNextReadyCertain()).isTrue();
        claimAt(1);
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(2));
        assertThat(laneDueTimes.isNextReadyCertain())
                .as("other lanes may have runs at that instant")
                .isFalse();
    }

    @Test
    void does_not_know_what_follows_a_hinted_instant() {
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(1), mail(9)), Instant.MAX);
        laneDueTimes.hint(MAIL, NOW.plusSeconds(2), NOW);

        assertThat(laneDueTimes.isNextReadyCertain()).isTrue();
        claimAt(1);
        assertThat(laneDueTimes.isNextReadyCertain())
                .as("the hint may be for another priority")
                .isFalse();
    }

    @Test
    void does_not_know_what_follows_an_instant_hinted_during_the_poll() {
        laneDueTimes.beginPoll();
        laneDueTimes.hint(MAIL, NOW.plusSeconds(1), NOW);
        laneDueTimes.finishPoll(List.of(mail(9)), Instant.MAX);

        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(1));
        claimAt(1);
        assertThat(laneDueTimes.isNextReadyCertain()).isFalse();
    }

    @Test
    void a_failed_poll_leaves_nothing_known() {
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(1)), Instant.MAX);
        laneDueTimes.beginPoll();

        assertThat(laneDueTimes.isNextReadyCertain()).isFalse();
    }

    @Test
    void what_the_next_poll_does_not_see_is_forgotten() {
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(1), mail(2)), Instant.MAX);
        laneDueTimes.beginPoll();
        laneDueTimes.finishPoll(List.of(mail(1), mail(5)), Instant.MAX);

        claimAt(1);
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(5));
    }

    @Test
    void keeps_the_earlier_of_two_hints() {
        laneDueTimes.hint(MAIL, NOW.plusSeconds(5), NOW);
        laneDueTimes.hint(MAIL, NOW.plusSeconds(9), NOW);
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(5));

        laneDueTimes.hint(MAIL, NOW.plusSeconds(2), NOW);
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(2));
    }

    @Test
    void a_lane_whose_limit_is_reached_waits_in_spite_of_hints() {
        laneDueTimes.hint(MAIL, NOW, NOW);
        laneDueTimes
                .takeLaneClaims(100, NOW)
                .forEach(laneClaim -> laneDueTimes.recordLimitReached(MAIL, laneClaim.priority(), NOW.plusMillis(250)));

        laneDueTimes.hint(MAIL, NOW, NOW);
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW)));

        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusMillis(249))).isEmpty();
        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusMillis(250))).hasSize(4);
    }

    @Test
    void a_lane_whose_limit_is_reached_is_asked_again_as_soon_as_a_run_of_it_has_ended() {
        laneDueTimes.hint(MAIL, NOW, NOW);
        laneDueTimes
                .takeLaneClaims(100, NOW)
                .forEach(laneClaim -> laneDueTimes.recordLimitReached(MAIL, laneClaim.priority(), NOW.plusMillis(250)));

        laneDueTimes.recordCapacityFreed(REPORTS, NOW.plusMillis(1));
        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusMillis(2))).isEmpty();

        laneDueTimes.recordCapacityFreed(MAIL, NOW.plusMillis(3));
        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusMillis(3))).hasSize(4);
        laneDueTimes.recordCapacityFreed(MAIL, NOW.plusMillis(4));
        assertThat(laneDueTimes.takeLaneClaims(100, NOW.plusMillis(5))).isEmpty();
    }

    @Test
    void shares_a_batch_among_priorities_8_4_2_1() {
        dueInAllPriorities(MAIL);

        assertThat(counts(laneDueTimes.takeLaneClaims(150, NOW)))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(Priority.HIGH, 80, Priority.NORMAL, 40, Priority.LOW, 20, Priority.BULK, 10));
    }

    @Test
    void gives_the_whole_batch_to_the_only_waiting_priorities() {
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.BULK, NOW)));

        assertThat(counts(laneDueTimes.takeLaneClaims(150, NOW))).containsExactly(Map.entry(Priority.BULK, 150));
    }

    @Test
    void shares_a_batch_among_lanes_in_equal_parts() {
        laneDueTimes.recordDue(
                List.of(due(MAIL, Priority.HIGH, NOW.minusSeconds(60)), due(REPORTS, Priority.BULK, NOW)));

        List<ClaimRequest.LaneClaim> laneClaims = laneDueTimes.takeLaneClaims(100, NOW);

        assertThat(laneClaims).extracting(ClaimRequest.LaneClaim::count).containsExactly(50, 50);
        assertThat(laneClaims).extracting(ClaimRequest.LaneClaim::lane).containsExactlyInAnyOrder(MAIL, REPORTS);
    }

    @Test
    void a_lane_is_new_until_claims_have_asked_for_each_priority() {
        laneDueTimes.hint(MAIL, NOW, NOW);
        laneDueTimes.hint(REPORTS, NOW, NOW);
        laneDueTimes.recordFullClaim(MAIL, Priority.NORMAL, NOW, NOW);

        List<Priority> asked = new ArrayList<>();
        for (int i = 0; i < Priority.values().length; i++)
            laneDueTimes.takeNewLaneClaims(1, NOW).forEach(laneClaim -> asked.add(laneClaim.priority()));

        assertThat(asked).containsExactlyInAnyOrder(Priority.values());
        assertThat(laneDueTimes.takeNewLaneClaims(1, NOW)).isEmpty();
    }

    @Test
    void claims_new_lanes_without_the_backlog_of_another_lane() {
        laneDueTimes.hint(MAIL, NOW, NOW);
        laneDueTimes.hint(REPORTS, NOW, NOW);
        laneDueTimes.recordFullClaim(MAIL, Priority.NORMAL, NOW, NOW);

        assertThat(laneDueTimes.takeNewLaneClaims(100, NOW))
                .isNotEmpty()
                .allMatch(laneClaim -> laneClaim.lane().equals(REPORTS));
        assertThat(laneDueTimes.takeNewLaneClaims(100, NOW))
                .as("the lane is no longer new")
                .isEmpty();
        assertThat(laneDueTimes.takeLaneClaims(100, NOW))
                .isNotEmpty()
                .allMatch(laneClaim -> laneClaim.lane().equals(MAIL));

        laneDueTimes.recordPartialClaim(MAIL, Priority.NORMAL, NOW, NOW);
        laneDueTimes.hint(REPORTS, NOW, NOW);
        assertThat(laneDueTimes.takeNewLaneClaims(100, NOW))
                .as("no lane has a backlog anymore")
                .isEmpty();
        assertThat(laneDueTimes.takeLaneClaims(100, NOW)).isNotEmpty();
    }

    @Test
    void a_hint_reports_whether_its_lane_has_no_backlog() {
        assertThat(laneDueTimes.hint(MAIL, NOW, NOW)).isTrue();
        assertThat(laneDueTimes.hint(MAIL, NOW.plusSeconds(1), NOW))
                .as("the run is not ready yet")
                .isFalse();

        laneDueTimes.recordFullClaim(MAIL, Priority.NORMAL, NOW, NOW);
        assertThat(laneDueTimes.hint(MAIL, NOW, NOW))
                .as("the lane has a backlog")
                .isFalse();
    }

    @Test
    void lanes_found_by_a_poll_are_ordered_by_how_long_their_first_run_has_waited() {
        laneDueTimes.recordDue(
                List.of(due(MAIL, Priority.NORMAL, NOW), due(REPORTS, Priority.NORMAL, NOW.minusSeconds(1))));

        assertThat(laneDueTimes.takeLaneClaims(1, NOW))
                .extracting(ClaimRequest.LaneClaim::lane)
                .containsExactly(REPORTS);
        assertThat(laneDueTimes.takeLaneClaims(1, NOW))
                .extracting(ClaimRequest.LaneClaim::lane)
                .containsExactly(MAIL);
    }

    @Test
    void starves_no_priority_however_small_the_batches_are() {
        RandomTrials.run("every priority gets its share of small batches", 60, random -> {
            LaneDueTimes small = new LaneDueTimes(lane -> Integer.MAX_VALUE);
            small.recordDue(List.of(Priority.values()).stream()
                    .map(one -> due(MAIL, one, NOW))
                    .toList());
            int want = 1 + random.nextInt(20);
            Map<Priority, Integer> served = new EnumMap<>(Priority.class);
            int total = 0;

            while (total < 3_000) {
                for (ClaimRequest.LaneClaim laneClaim : small.takeLaneClaims(want, NOW)) {
                    served.merge(laneClaim.priority(), laneClaim.count(), Integer::sum);
                    total += laneClaim.count();
                    small.recordFullClaim(MAIL, laneClaim.priority(), NOW, NOW);
                }
            }

            for (Priority priority : Priority.values()) {
                double share = served.getOrDefault(priority, 0) / (double) total;
                assertThat(share)
                        .as("%s with batches of %d", priority, want)
                        .isBetween(priority.share() / 15.0 * 0.9, priority.share() / 15.0 * 1.1);
            }
        });
    }

    @Test
    void starves_no_lane_however_small_the_batches_are() {
        List<Lane> many = IntStream.range(0, 50)
                .mapToObj(i -> new Lane("queue-" + i, "default"))
                .toList();
        laneDueTimes.recordDue(
                many.stream().map(lane -> due(lane, Priority.NORMAL, NOW)).toList());
        Map<Lane, Integer> served = new HashMap<>();

        for (int turn = 0; turn < 500; turn++)
            for (ClaimRequest.LaneClaim laneClaim : laneDueTimes.takeLaneClaims(3, NOW)) {
                served.merge(laneClaim.lane(), laneClaim.count(), Integer::sum);
                laneDueTimes.recordFullClaim(laneClaim.lane(), laneClaim.priority(), NOW, NOW);
            }

        assertThat(served).hasSize(50);
        assertThat(served.values()).allMatch(count -> count >= 29 && count <= 31);
    }

    @Test
    void shares_a_batch_among_projects_however_many_queues_each_has() {
        for (int i = 0; i < 30; i++)
            laneDueTimes.recordDue(List.of(due(new Lane("queue-" + i, "many"), Priority.NORMAL, NOW)));
        laneDueTimes.recordDue(List.of(due(new Lane("queue", "one"), Priority.NORMAL, NOW)));

        Map<String, Integer> parts = new HashMap<>();
        laneDueTimes
                .takeLaneClaims(60, NOW)
                .forEach(laneClaim -> parts.merge(laneClaim.lane().project(), laneClaim.count(), Integer::sum));

        assertThat(parts).containsEntry("many", 30).containsEntry("one", 30);
    }

    @Test
    void starves_no_queue_and_no_project_however_small_the_batches_are() {
        RandomTrials.run("all are served, projects equally often", 200, random -> {
            LaneDueTimes any = new LaneDueTimes(lane -> Integer.MAX_VALUE);
            Map<String, Integer> queues = new HashMap<>();
            for (int project = 0; project < 1 + random.nextInt(5); project++)
                queues.put("project-" + project, 1 + random.nextInt(6));
            List<LaneDue> all = new ArrayList<>();
            queues.forEach((project, count) -> {
                for (int i = 0; i < count; i++) all.add(due(new Lane("queue-" + i, project), Priority.NORMAL, NOW));
            });
            any.recordDue(all);
            int want = 1 + random.nextInt(3);
            Map<String, Integer> served = new HashMap<>();
            Map<Lane, Integer> lanes = new HashMap<>();
            for (int turn = 0; turn < 300; turn++)
                for (ClaimRequest.LaneClaim laneClaim : any.takeLaneClaims(want, NOW)) {
                    served.merge(laneClaim.lane().project(), laneClaim.count(), Integer::sum);
                    lanes.merge(laneClaim.lane(), laneClaim.count(), Integer::sum);
                    any.recordFullClaim(laneClaim.lane(), Priority.NORMAL, NOW, NOW);
                }

            int all300 = 300 * want;
            assertThat(served.values())
                    .allSatisfy(count -> assertThat((double) count)
                            .isBetween(0.8 * all300 / queues.size(), 1.2 * all300 / queues.size() + 3));
            queues.forEach((project, count) -> assertThat(lanes.keySet())
                    .filteredOn(lane -> lane.project().equals(project))
                    .hasSize(count));
        });
    }

    @Test
    void serves_lanes_by_weight_however_small_the_batches_are() {
        RandomTrials.run("every lane gets its share by weight", 100, random -> {
            LaneDueTimes any = new LaneDueTimes(lane -> Integer.MAX_VALUE);
            Map<Lane, Integer> weights = new HashMap<>();
            for (int i = 2 + random.nextInt(6); i > 0; i--)
                weights.put(new Lane("queue-" + i, "default"), 1 + random.nextInt(10));
            any.setWeights(weights);
            any.recordDue(weights.keySet().stream()
                    .map(lane -> due(lane, Priority.NORMAL, NOW))
                    .toList());
            int most = 1 + random.nextInt(200);
            Map<Lane, Integer> served = new HashMap<>();
            int total = 0;

            while (total < 20_000) {
                for (ClaimRequest.LaneClaim laneClaim : any.takeLaneClaims(1 + random.nextInt(most), NOW)) {
                    served.merge(laneClaim.lane(), laneClaim.count(), Integer::sum);
                    total += laneClaim.count();
                    any.recordFullClaim(laneClaim.lane(), laneClaim.priority(), NOW, NOW);
                }
            }

            int all = weights.values().stream().mapToInt(Integer::intValue).sum();
            for (Lane lane : weights.keySet())
                assertThat(served.getOrDefault(lane, 0) / (double) total)
                        .as("weights %s, batches of up to %d", weights, most)
                        .isBetween(weights.get(lane) * 0.9 / all, weights.get(lane) * 1.1 / all);
        });
    }

    @Test
    void gives_the_share_of_a_lane_without_work_to_the_others() {
        laneDueTimes.setWeights(Map.of(REPORTS, 10));
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW)));

        assertThat(counts(laneDueTimes.takeLaneClaims(100, NOW))).containsExactly(Map.entry(Priority.NORMAL, 100));
    }

    @Test
    void asks_for_no_more_of_a_lane_than_its_capacity() {
        Map<Lane, Integer> freeSlots = new HashMap<>(Map.of(MAIL, 0, REPORTS, 7));
        LaneDueTimes narrow = new LaneDueTimes(freeSlots::get);
        narrow.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW), due(REPORTS, Priority.NORMAL, NOW.minusSeconds(1))));

        assertThat(narrow.takeLaneClaims(100, NOW))
                .extracting(ClaimRequest.LaneClaim::lane, ClaimRequest.LaneClaim::count)
                .containsExactly(tuple(REPORTS, 7));
        assertThat(narrow.nextReady()).isAfter(NOW);

        freeSlots.put(MAIL, 1);
        narrow.recordCapacityFreed(MAIL, NOW);
        assertThat(counts(narrow.takeLaneClaims(100, NOW))).containsExactly(Map.entry(Priority.NORMAL, 1));
    }

    @Test
    void asks_for_no_more_than_the_node_can_take() {
        RandomTrials.run("laneClaims add up to at most what is wanted", 2_000, random -> {
            LaneDueTimes any = new LaneDueTimes(lane -> Integer.MAX_VALUE);
            for (int i = random.nextInt(30); i >= 0; i--)
                any.recordDue(List.of(
                        due(new Lane("q" + random.nextInt(12), "default"), Priority.of(random.nextInt(4)), NOW)));
            int want = 1 + random.nextInt(40);

            List<ClaimRequest.LaneClaim> laneClaims = any.takeLaneClaims(want, NOW);

            assertThat(laneClaims).isNotEmpty().allMatch(laneClaim -> laneClaim.count() > 0);
            assertThat(laneClaims.stream()
                            .mapToInt(ClaimRequest.LaneClaim::count)
                            .sum())
                    .isLessThanOrEqualTo(want);
        });
    }

    @Test
    void forgets_no_lane_it_did_not_serve() {
        RandomTrials.run("what was not asked for stays due", 2_000, random -> {
            LaneDueTimes any = new LaneDueTimes(lane -> Integer.MAX_VALUE);
            Map<String, Boolean> open = new HashMap<>();
            for (int i = random.nextInt(30); i >= 0; i--) {
                LaneDue due = due(new Lane("q" + random.nextInt(12), "default"), Priority.of(random.nextInt(4)), NOW);
                any.recordDue(List.of(due));
                open.put(due.lane().queue() + due.priority(), true);
            }

            for (int turn = 0; turn < 200 && !open.isEmpty(); turn++)
                for (ClaimRequest.LaneClaim laneClaim : any.takeLaneClaims(1 + random.nextInt(4), NOW))
                    assertThat(open.remove(laneClaim.lane().queue() + laneClaim.priority()))
                            .isTrue();

            assertThat(open).isEmpty();
            assertThat(any.nextReady()).isEqualTo(Instant.MAX);
        });
    }

    @Test
    void loses_no_hint_that_comes_while_a_claim_is_under_way() {
        laneDueTimes.hint(MAIL, NOW, NOW);
        List<ClaimRequest.LaneClaim> laneClaims = laneDueTimes.takeLaneClaims(10, NOW);
        laneDueTimes.hint(MAIL, NOW.plusMillis(1), NOW.plusMillis(1));

        // The claim got fewer runs than it asked for, so only the hint makes the lane due again.
        assertThat(laneClaims).isNotEmpty();
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusMillis(1));
        assertThat(laneDueTimes.takeLaneClaims(10, NOW.plusMillis(1))).isNotEmpty();
    }

    @Test
    void looks_back_for_late_commits_also_after_a_full_claim() {
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW)));
        laneDueTimes.takeLaneClaims(10, NOW);
        // A run of this lane commits now. It was due a second ago, before the runs that the claim took.
        laneDueTimes.hint(MAIL, NOW.minusSeconds(1), NOW);

        laneDueTimes.recordFullClaim(MAIL, Priority.NORMAL, NOW, NOW);

        assertThat(laneDueTimes.takeLaneClaims(10, NOW))
                .filteredOn(laneClaim -> laneClaim.priority() == Priority.NORMAL)
                .singleElement()
                .satisfies(laneClaim -> assertThat(laneClaim.readyFrom()).isBeforeOrEqualTo(NOW.minusSeconds(1)));
    }

    @Test
    void starts_the_next_claim_where_the_last_full_one_began() {
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW.minusSeconds(9))));
        assertThat(laneDueTimes.takeLaneClaims(10, NOW).get(0).readyFrom()).isEqualTo(NOW.minusSeconds(9));

        laneDueTimes.recordFullClaim(MAIL, Priority.NORMAL, NOW.minusSeconds(4), NOW);

        assertThat(laneDueTimes.takeLaneClaims(10, NOW).get(0).readyFrom()).isEqualTo(NOW.minusSeconds(4));
    }

    @Test
    void a_claim_that_took_all_there_was_is_where_the_next_one_starts() {
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW.minus(Duration.ofHours(1)))));
        laneDueTimes.takeLaneClaims(10, NOW);
        laneDueTimes.recordPartialClaim(MAIL, Priority.NORMAL, NOW, NOW);

        laneDueTimes.recordDue(List.of(mail(5)));

        assertThat(laneDueTimes.takeLaneClaims(10, NOW.plusSeconds(5)).get(0).readyFrom())
                .isEqualTo(NOW.minusSeconds(1));
    }

    @Test
    void a_hint_during_a_claim_is_covered_by_the_next_claim() {
        laneDueTimes.recordDue(List.of(mail(0)));
        laneDueTimes.takeLaneClaims(10, NOW);
        laneDueTimes.hint(MAIL, NOW, NOW);
        laneDueTimes.recordPartialClaim(MAIL, Priority.NORMAL, NOW, NOW);

        assertThat(laneDueTimes.takeLaneClaims(10, NOW))
                .allMatch(laneClaim -> !laneClaim.readyFrom().isAfter(NOW.minusSeconds(10)));
    }

    @Test
    void claims_from_the_earliest_instant_a_poll_saw() {
        laneDueTimes.recordFullClaim(MAIL, Priority.NORMAL, NOW, NOW);
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.NORMAL, NOW.minus(Duration.ofHours(1)))));

        assertThat(laneDueTimes.takeLaneClaims(10, NOW).get(0).readyFrom()).isEqualTo(NOW.minus(Duration.ofHours(1)));
    }

    @Test
    void asks_again_for_what_a_failed_claim_asked_for() {
        laneDueTimes.recordDue(List.of(due(MAIL, Priority.LOW, NOW)));
        List<ClaimRequest.LaneClaim> laneClaims = laneDueTimes.takeLaneClaims(10, NOW);

        laneDueTimes.markDue(laneClaims, NOW);

        assertThat(laneDueTimes.takeLaneClaims(10, NOW)).isEqualTo(laneClaims);
    }

    @Test
    void forgets_lanes_without_work() {
        for (int i = 0; i < 5_000; i++) laneDueTimes.hint(new Lane("q" + i, "default"), NOW, NOW);
        int served = 0;
        for (List<ClaimRequest.LaneClaim> some = laneDueTimes.takeLaneClaims(4_000, NOW);
                !some.isEmpty();
                some = laneDueTimes.takeLaneClaims(4_000, NOW)) served += some.size();
        laneDueTimes.hint(MAIL, NOW.plusSeconds(60), NOW);

        laneDueTimes.removeIdleLanes();

        assertThat(served).isEqualTo(5_000 * 4);
        assertThat(laneDueTimes.nextReady()).isEqualTo(NOW.plusSeconds(60));
        assertThat(laneDueTimes.takeLaneClaims(10, NOW.plusSeconds(60))).isNotEmpty();
    }

    private void dueInAllPriorities(Lane lane) {
        for (Priority priority : Priority.values()) laneDueTimes.recordDue(List.of(due(lane, priority, NOW)));
    }

    private static Map<Priority, Integer> counts(List<ClaimRequest.LaneClaim> laneClaims) {
        return laneClaims.stream()
                .collect(Collectors.toMap(ClaimRequest.LaneClaim::priority, ClaimRequest.LaneClaim::count));
    }
}
