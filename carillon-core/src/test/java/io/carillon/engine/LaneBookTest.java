package io.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.carillon.Trials;
import io.carillon.run.Lane;
import io.carillon.run.Priority;
import io.carillon.store.ClaimRequest;
import io.carillon.store.LaneDue;
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

class LaneBookTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final Lane MAIL = new Lane("mail", "default");
    private static final Lane REPORTS = new Lane("reports", "default");
    private final LaneBook book = new LaneBook(lane -> Integer.MAX_VALUE);

    private static LaneDue due(Lane lane, Priority priority, Instant readyAt) {
        return new LaneDue(lane, priority, lane.queue(), readyAt);
    }

    @Test
    void knows_nothing_of_lanes_nobody_named() {
        assertThat(book.take(100, NOW)).isEmpty();
        assertThat(book.nextReady()).isEqualTo(Instant.MAX);
    }

    @Test
    void serves_a_lane_as_soon_as_its_instant_has_come() {
        book.hint(MAIL, NOW.plusSeconds(5), NOW);

        assertThat(book.take(100, NOW.plusMillis(4_999))).isEmpty();
        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(5));
        assertThat(book.take(100, NOW.plusSeconds(5))).isNotEmpty();
        assertThat(book.nextReady()).isEqualTo(Instant.MAX);
    }

    private static LaneDue mail(long seconds) {
        return due(MAIL, Priority.NORMAL, NOW.plusSeconds(seconds));
    }

    /** Claims what is ready at this second, and all of it was there. */
    private void claimAt(long seconds) {
        assertThat(book.take(100, NOW.plusSeconds(seconds))).isNotEmpty();
        book.drained(MAIL, Priority.NORMAL, NOW.plusSeconds(seconds), NOW.plusSeconds(seconds));
    }

    @Test
    void knows_what_comes_next_from_one_look() {
        book.looking();
        book.looked(List.of(mail(3), mail(1), mail(2)), Instant.MAX);

        for (int second = 1; second <= 3; second++) {
            assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(second));
            assertThat(book.knowsNext()).isTrue();
            claimAt(second);
        }
        assertThat(book.nextReady()).isEqualTo(Instant.MAX);
        assertThat(book.knowsNext())
                .as("nothing was there, and nobody named anything")
                .isTrue();
    }

    @Test
    void does_not_ask_again_for_what_a_claim_took_on_its_way() {
        book.looking();
        book.looked(List.of(mail(1), mail(2), mail(3)), Instant.MAX);

        book.take(10, NOW.plusSeconds(1));
        book.drained(MAIL, Priority.NORMAL, NOW.plusSeconds(2), NOW.plusSeconds(1));

        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(3));
    }

    @Test
    void does_not_know_what_lies_behind_a_look() {
        book.looking();
        book.looked(List.of(mail(1), mail(2)), NOW.plusSeconds(2));

        assertThat(book.knowsNext()).isTrue();
        claimAt(1);
        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(2));
        assertThat(book.knowsNext())
                .as("at that instant there may be more, of other lanes")
                .isFalse();
    }

    @Test
    void does_not_know_what_follows_an_instant_somebody_named() {
        book.looking();
        book.looked(List.of(mail(1), mail(9)), Instant.MAX);
        book.hint(MAIL, NOW.plusSeconds(2), NOW);

        assertThat(book.knowsNext()).isTrue();
        claimAt(1);
        assertThat(book.knowsNext()).as("another class may be meant").isFalse();
    }

    @Test
    void does_not_know_what_follows_an_instant_named_during_the_look() {
        book.looking();
        book.hint(MAIL, NOW.plusSeconds(1), NOW);
        book.looked(List.of(mail(9)), Instant.MAX);

        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(1));
        claimAt(1);
        assertThat(book.knowsNext()).isFalse();
    }

    @Test
    void a_look_that_failed_leaves_nothing_known() {
        book.looking();
        book.looked(List.of(mail(1)), Instant.MAX);
        book.looking();

        assertThat(book.knowsNext()).isFalse();
    }

    @Test
    void what_the_next_look_does_not_see_is_forgotten() {
        book.looking();
        book.looked(List.of(mail(1), mail(2)), Instant.MAX);
        book.looking();
        book.looked(List.of(mail(1), mail(5)), Instant.MAX);

        claimAt(1);
        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(5));
    }

    @Test
    void keeps_the_earlier_of_two_hints() {
        book.hint(MAIL, NOW.plusSeconds(5), NOW);
        book.hint(MAIL, NOW.plusSeconds(9), NOW);
        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(5));

        book.hint(MAIL, NOW.plusSeconds(2), NOW);
        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(2));
    }

    @Test
    void a_lane_whose_limit_is_reached_waits_whatever_is_said_of_it() {
        book.hint(MAIL, NOW, NOW);
        book.take(100, NOW).forEach(quota -> book.shut(MAIL, quota.priority(), NOW.plusMillis(250)));

        book.hint(MAIL, NOW, NOW);
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW)));

        assertThat(book.take(100, NOW.plusMillis(249))).isEmpty();
        assertThat(book.take(100, NOW.plusMillis(250))).hasSize(4);
    }

    @Test
    void a_lane_whose_limit_is_reached_is_asked_again_as_soon_as_a_run_of_it_has_ended() {
        book.hint(MAIL, NOW, NOW);
        book.take(100, NOW).forEach(quota -> book.shut(MAIL, quota.priority(), NOW.plusMillis(250)));

        book.room(REPORTS, NOW.plusMillis(1));
        assertThat(book.take(100, NOW.plusMillis(2))).isEmpty();

        book.room(MAIL, NOW.plusMillis(3));
        assertThat(book.take(100, NOW.plusMillis(3))).hasSize(4);
        book.room(MAIL, NOW.plusMillis(4));
        assertThat(book.take(100, NOW.plusMillis(5))).isEmpty();
    }

    @Test
    void shares_a_batch_among_classes_8_4_2_1() {
        all(MAIL);

        assertThat(counts(book.take(150, NOW)))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(Priority.HIGH, 80, Priority.NORMAL, 40, Priority.LOW, 20, Priority.BULK, 10));
    }

    @Test
    void gives_classes_that_wait_alone_the_whole_batch() {
        book.seen(List.of(due(MAIL, Priority.BULK, NOW)));

        assertThat(counts(book.take(150, NOW))).containsExactly(Map.entry(Priority.BULK, 150));
    }

    @Test
    void shares_a_batch_among_lanes_in_equal_parts() {
        book.seen(List.of(due(MAIL, Priority.HIGH, NOW.minusSeconds(60)), due(REPORTS, Priority.BULK, NOW)));

        List<ClaimRequest.Quota> quotas = book.take(100, NOW);

        assertThat(quotas).extracting(ClaimRequest.Quota::count).containsExactly(50, 50);
        assertThat(quotas).extracting(ClaimRequest.Quota::lane).containsExactlyInAnyOrder(MAIL, REPORTS);
    }

    @Test
    void claims_what_has_just_come_without_the_many_of_a_lane_that_flows_over() {
        book.hint(MAIL, NOW, NOW);
        book.hint(REPORTS, NOW, NOW);
        book.full(MAIL, Priority.NORMAL, NOW, NOW);

        assertThat(book.takeNew(100, NOW))
                .isNotEmpty()
                .allMatch(quota -> quota.lane().equals(REPORTS));
        assertThat(book.takeNew(100, NOW)).as("it is not there any more").isEmpty();
        assertThat(book.take(100, NOW))
                .isNotEmpty()
                .allMatch(quota -> quota.lane().equals(MAIL));

        book.drained(MAIL, Priority.NORMAL, NOW, NOW);
        book.hint(REPORTS, NOW, NOW);
        assertThat(book.takeNew(100, NOW)).as("nothing flows over any more").isEmpty();
        assertThat(book.take(100, NOW)).isNotEmpty();
    }

    @Test
    void tells_whether_a_hint_is_about_a_lane_in_which_nothing_flows_yet() {
        assertThat(book.hint(MAIL, NOW, NOW)).isTrue();
        assertThat(book.hint(MAIL, NOW.plusSeconds(1), NOW))
                .as("there is time for it")
                .isFalse();

        book.full(MAIL, Priority.NORMAL, NOW, NOW);
        assertThat(book.hint(MAIL, NOW, NOW)).as("it flows over").isFalse();
    }

    @Test
    void lanes_that_a_look_saw_line_up_by_how_long_their_first_run_has_waited() {
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW), due(REPORTS, Priority.NORMAL, NOW.minusSeconds(1))));

        assertThat(book.take(1, NOW)).extracting(ClaimRequest.Quota::lane).containsExactly(REPORTS);
        assertThat(book.take(1, NOW)).extracting(ClaimRequest.Quota::lane).containsExactly(MAIL);
    }

    @Test
    void starves_no_class_however_small_the_batches_are() {
        Trials.of("every class gets its share of small batches", 60, random -> {
            LaneBook small = new LaneBook(lane -> Integer.MAX_VALUE);
            small.seen(List.of(Priority.values()).stream()
                    .map(one -> due(MAIL, one, NOW))
                    .toList());
            int want = 1 + random.nextInt(20);
            Map<Priority, Integer> served = new EnumMap<>(Priority.class);
            int total = 0;

            while (total < 3_000) {
                for (ClaimRequest.Quota quota : small.take(want, NOW)) {
                    served.merge(quota.priority(), quota.count(), Integer::sum);
                    total += quota.count();
                    small.full(MAIL, quota.priority(), NOW, NOW);
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
        book.seen(many.stream().map(lane -> due(lane, Priority.NORMAL, NOW)).toList());
        Map<Lane, Integer> served = new HashMap<>();

        for (int turn = 0; turn < 500; turn++)
            for (ClaimRequest.Quota quota : book.take(3, NOW)) {
                served.merge(quota.lane(), quota.count(), Integer::sum);
                book.full(quota.lane(), quota.priority(), NOW, NOW);
            }

        assertThat(served).hasSize(50);
        assertThat(served.values()).allMatch(count -> count >= 29 && count <= 31);
    }

    @Test
    void shares_a_batch_among_projects_however_many_queues_each_has() {
        for (int i = 0; i < 30; i++) book.seen(List.of(due(new Lane("queue-" + i, "many"), Priority.NORMAL, NOW)));
        book.seen(List.of(due(new Lane("queue", "one"), Priority.NORMAL, NOW)));

        Map<String, Integer> parts = new HashMap<>();
        book.take(60, NOW).forEach(quota -> parts.merge(quota.lane().project(), quota.count(), Integer::sum));

        assertThat(parts).containsEntry("many", 30).containsEntry("one", 30);
    }

    @Test
    void starves_no_queue_and_no_project_however_small_the_batches_are() {
        Trials.of("all are served, projects equally often", 200, random -> {
            LaneBook any = new LaneBook(lane -> Integer.MAX_VALUE);
            Map<String, Integer> queues = new HashMap<>();
            for (int project = 0; project < 1 + random.nextInt(5); project++)
                queues.put("project-" + project, 1 + random.nextInt(6));
            List<LaneDue> all = new ArrayList<>();
            queues.forEach((project, count) -> {
                for (int i = 0; i < count; i++) all.add(due(new Lane("queue-" + i, project), Priority.NORMAL, NOW));
            });
            any.seen(all);
            int want = 1 + random.nextInt(3);
            Map<String, Integer> served = new HashMap<>();
            Map<Lane, Integer> lanes = new HashMap<>();
            for (int turn = 0; turn < 300; turn++)
                for (ClaimRequest.Quota quota : any.take(want, NOW)) {
                    served.merge(quota.lane().project(), quota.count(), Integer::sum);
                    lanes.merge(quota.lane(), quota.count(), Integer::sum);
                    any.full(quota.lane(), Priority.NORMAL, NOW, NOW);
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
        Trials.of("every lane gets its share by weight", 100, random -> {
            LaneBook any = new LaneBook(lane -> Integer.MAX_VALUE);
            Map<Lane, Integer> weights = new HashMap<>();
            for (int i = 2 + random.nextInt(6); i > 0; i--)
                weights.put(new Lane("queue-" + i, "default"), 1 + random.nextInt(10));
            any.weigh(weights);
            any.seen(weights.keySet().stream()
                    .map(lane -> due(lane, Priority.NORMAL, NOW))
                    .toList());
            int most = 1 + random.nextInt(200);
            Map<Lane, Integer> served = new HashMap<>();
            int total = 0;

            while (total < 20_000) {
                for (ClaimRequest.Quota quota : any.take(1 + random.nextInt(most), NOW)) {
                    served.merge(quota.lane(), quota.count(), Integer::sum);
                    total += quota.count();
                    any.full(quota.lane(), quota.priority(), NOW, NOW);
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
    void leaves_the_parts_of_a_lane_without_work_to_the_others() {
        book.weigh(Map.of(REPORTS, 10));
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW)));

        assertThat(counts(book.take(100, NOW))).containsExactly(Map.entry(Priority.NORMAL, 100));
    }

    @Test
    void asks_for_no_more_of_a_lane_than_there_is_room_for() {
        Map<Lane, Integer> rooms = new HashMap<>(Map.of(MAIL, 0, REPORTS, 7));
        LaneBook narrow = new LaneBook(rooms::get);
        narrow.seen(List.of(due(MAIL, Priority.NORMAL, NOW), due(REPORTS, Priority.NORMAL, NOW.minusSeconds(1))));

        assertThat(narrow.take(100, NOW))
                .extracting(ClaimRequest.Quota::lane, ClaimRequest.Quota::count)
                .containsExactly(tuple(REPORTS, 7));
        assertThat(narrow.nextReady()).isAfter(NOW);

        rooms.put(MAIL, 1);
        narrow.room(MAIL, NOW);
        assertThat(counts(narrow.take(100, NOW))).containsExactly(Map.entry(Priority.NORMAL, 1));
    }

    @Test
    void asks_for_no_more_than_the_node_can_take() {
        Trials.of("quotas add up to at most what is wanted", 2_000, random -> {
            LaneBook any = new LaneBook(lane -> Integer.MAX_VALUE);
            for (int i = random.nextInt(30); i >= 0; i--)
                any.seen(List.of(
                        due(new Lane("q" + random.nextInt(12), "default"), Priority.of(random.nextInt(4)), NOW)));
            int want = 1 + random.nextInt(40);

            List<ClaimRequest.Quota> quotas = any.take(want, NOW);

            assertThat(quotas).isNotEmpty().allMatch(quota -> quota.count() > 0);
            assertThat(quotas.stream().mapToInt(ClaimRequest.Quota::count).sum())
                    .isLessThanOrEqualTo(want);
        });
    }

    @Test
    void forgets_no_lane_it_did_not_serve() {
        Trials.of("what was not asked for stays due", 2_000, random -> {
            LaneBook any = new LaneBook(lane -> Integer.MAX_VALUE);
            Map<String, Boolean> open = new HashMap<>();
            for (int i = random.nextInt(30); i >= 0; i--) {
                LaneDue due = due(new Lane("q" + random.nextInt(12), "default"), Priority.of(random.nextInt(4)), NOW);
                any.seen(List.of(due));
                open.put(due.lane().queue() + due.priority(), true);
            }

            for (int turn = 0; turn < 200 && !open.isEmpty(); turn++)
                for (ClaimRequest.Quota quota : any.take(1 + random.nextInt(4), NOW))
                    assertThat(open.remove(quota.lane().queue() + quota.priority()))
                            .isTrue();

            assertThat(open).isEmpty();
            assertThat(any.nextReady()).isEqualTo(Instant.MAX);
        });
    }

    @Test
    void loses_no_hint_that_comes_while_a_claim_is_under_way() {
        book.hint(MAIL, NOW, NOW);
        List<ClaimRequest.Quota> quotas = book.take(10, NOW);
        book.hint(MAIL, NOW.plusMillis(1), NOW.plusMillis(1));

        // The claim found fewer than it asked for, so nothing is said about the lane: the hint alone must do.
        assertThat(quotas).isNotEmpty();
        assertThat(book.nextReady()).isEqualTo(NOW.plusMillis(1));
        assertThat(book.take(10, NOW.plusMillis(1))).isNotEmpty();
    }

    @Test
    void looks_back_for_late_commits_also_after_a_full_claim() {
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW)));
        book.take(10, NOW);
        // A run of this lane commits now; it fell due a second ago, before those the claim took.
        book.hint(MAIL, NOW.minusSeconds(1), NOW);

        book.full(MAIL, Priority.NORMAL, NOW, NOW);

        assertThat(book.take(10, NOW))
                .filteredOn(quota -> quota.priority() == Priority.NORMAL)
                .singleElement()
                .satisfies(quota -> assertThat(quota.low()).isBeforeOrEqualTo(NOW.minusSeconds(1)));
    }

    @Test
    void starts_the_next_claim_where_the_last_full_one_began() {
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW.minusSeconds(9))));
        assertThat(book.take(10, NOW).get(0).low()).isEqualTo(NOW.minusSeconds(9));

        book.full(MAIL, Priority.NORMAL, NOW.minusSeconds(4), NOW);

        assertThat(book.take(10, NOW).get(0).low()).isEqualTo(NOW.minusSeconds(4));
    }

    @Test
    void a_claim_that_took_all_there_was_is_where_the_next_one_starts() {
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW.minus(Duration.ofHours(1)))));
        book.take(10, NOW);
        book.drained(MAIL, Priority.NORMAL, NOW, NOW);

        book.seen(List.of(mail(5)));

        assertThat(book.take(10, NOW.plusSeconds(5)).get(0).low()).isEqualTo(NOW.minusSeconds(1));
    }

    @Test
    void what_is_named_during_a_claim_is_not_left_behind_by_the_next_one() {
        book.seen(List.of(mail(0)));
        book.take(10, NOW);
        book.hint(MAIL, NOW, NOW);
        book.drained(MAIL, Priority.NORMAL, NOW, NOW);

        assertThat(book.take(10, NOW)).allMatch(quota -> !quota.low().isAfter(NOW.minusSeconds(10)));
    }

    @Test
    void looks_back_as_far_as_a_look_saw_something() {
        book.full(MAIL, Priority.NORMAL, NOW, NOW);
        book.seen(List.of(due(MAIL, Priority.NORMAL, NOW.minus(Duration.ofHours(1)))));

        assertThat(book.take(10, NOW).get(0).low()).isEqualTo(NOW.minus(Duration.ofHours(1)));
    }

    @Test
    void asks_again_for_what_a_failed_claim_asked_for() {
        book.seen(List.of(due(MAIL, Priority.LOW, NOW)));
        List<ClaimRequest.Quota> quotas = book.take(10, NOW);

        book.again(quotas, NOW);

        assertThat(book.take(10, NOW)).isEqualTo(quotas);
    }

    @Test
    void stays_as_small_as_the_work() {
        for (int i = 0; i < 5_000; i++) book.hint(new Lane("q" + i, "default"), NOW, NOW);
        int served = 0;
        for (List<ClaimRequest.Quota> some = book.take(4_000, NOW); !some.isEmpty(); some = book.take(4_000, NOW))
            served += some.size();
        book.hint(MAIL, NOW.plusSeconds(60), NOW);

        book.tidy();

        assertThat(served).isEqualTo(5_000 * 4);
        assertThat(book.nextReady()).isEqualTo(NOW.plusSeconds(60));
        assertThat(book.take(10, NOW.plusSeconds(60))).isNotEmpty();
    }

    private void all(Lane lane) {
        for (Priority priority : Priority.values()) book.seen(List.of(due(lane, priority, NOW)));
    }

    private static Map<Priority, Integer> counts(List<ClaimRequest.Quota> quotas) {
        return quotas.stream().collect(Collectors.toMap(ClaimRequest.Quota::priority, ClaimRequest.Quota::count));
    }
}
