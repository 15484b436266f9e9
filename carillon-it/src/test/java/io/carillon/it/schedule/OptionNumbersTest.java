package io.carillon.it.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.internal.run.Attempt;
import io.carillon.internal.run.Transition;
import io.carillon.it.architecture.SourceTree;
import io.carillon.it.fixture.PlanningContract;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.ScheduleSpec;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.OverlapPolicy;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Each option of a schedule changes a number: the same scenario runs without and with the option, and docs/schedules.md
 * must show both numbers.
 */
class OptionNumbersTest extends PlanningContract {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final String PAGE = SourceTree.read(SourceTree.here().root().resolve("docs/schedules.md"));
    private static final ScheduleSpec MINUTELY = ScheduleSpec.every(Duration.ofMinutes(1));
    private static final ScheduleSpec TENS = ScheduleSpec.every(Duration.ofSeconds(10));

    @Override
    public StoreFixture fixture() {
        return FIXTURE;
    }

    /** Asserts that the page has a row with these numbers. */
    private static void assertPageShows(String option, String number, long off, long on) {
        assertThat(off).isNotEqualTo(on);
        assertThat(PAGE).contains("| `%s` | %s | %,d | %,d |".formatted(option, number, off, on));
    }

    private static ScheduleSpec with(ScheduleSpec spec, UnaryOperator<SchedulePolicies> policies) {
        return spec.policies(policies.apply(SchedulePolicies.defaults()));
    }

    /** Returns how many runs execute after a time in which no node plans or claims. */
    private long afterDowntime(ScheduleSpec spec, Duration downtime) {
        fixture().clear();
        store(spec);
        advance(downtime);
        planAll();
        return runDue(node()).size();
    }

    @Test
    void missed_policies_have_the_numbers_of_the_page() {
        Duration hour = Duration.ofHours(1);
        UnaryOperator<SchedulePolicies> all = schedulePolicies -> schedulePolicies.missed(MissedPolicy.RUN_ALL);
        long once = afterDowntime(MINUTELY, hour);
        long each = afterDowntime(with(MINUTELY, all), hour);

        String number = "runs after an hour of downtime, one instant per minute";
        assertPageShows(
                "missed(MissedPolicy.SKIP)", number, once, afterDowntime(MINUTELY.missed(MissedPolicy.SKIP), hour));
        assertPageShows("missed(MissedPolicy.RUN_ALL)", number, once, each);
        assertPageShows(
                "missedCap(10)",
                "the same with `RUN_ALL`",
                each,
                afterDowntime(
                        with(MINUTELY, p -> all.apply(p).runAll(new SchedulePolicies.RunAllLimits(10, Duration.ZERO))),
                        hour));
        assertPageShows(
                "missedSpread(ofMinutes(1))",
                "the same with `RUN_ALL`, due immediately",
                each,
                afterDowntime(
                        with(
                                MINUTELY,
                                p -> all.apply(p)
                                        .runAll(new SchedulePolicies.RunAllLimits(100, Duration.ofMinutes(1)))),
                        hour));
        assertPageShows(
                "catchUp(ofMinutes(30))",
                "the same with `RUN_ALL`",
                each,
                afterDowntime(with(MINUTELY, p -> all.apply(p).catchUp(Duration.ofMinutes(30))), hour));
        assertPageShows(
                "grace(ofMinutes(20))",
                number,
                once,
                afterDowntime(with(MINUTELY, p -> p.grace(Duration.ofMinutes(20))), hour));
    }

    /**
     * The largest number of runs at the same time, and the number of all runs, when the first run takes five intervals.
     */
    private record Overlapping(long most, long all) {}

    private Overlapping overlapping(OverlapPolicy overlapPolicy) {
        fixture().clear();
        UUID node = node();
        store(with(TENS, p -> p.overlap(overlapPolicy)));
        advance(Duration.ofSeconds(10));
        passGates();
        Attempt first = claimOne(node);
        long most = 1;
        long all = 1;
        for (int i = 0; i < 5; i++) {
            advance(Duration.ofSeconds(10));
            planAll();
            passGates();
            int more = claim(node, 9).size();
            most += more;
            all += more;
        }
        apply(
                node,
                first,
                overlapPolicy == OverlapPolicy.CANCEL_PREVIOUS ? new Transition.Cancel("newer") : complete());
        for (int i = 0; i < 9; i++) {
            passGates();
            all += runDue(node).size();
        }
        return new Overlapping(most, all);
    }

    @Test
    void overlap_policies_have_the_numbers_of_the_page() {
        Overlapping off = overlapping(OverlapPolicy.ALLOW);
        String most = "runs at the same time; the first run takes five intervals";
        String all = "runs of those six instants";
        assertPageShows("overlap(OverlapPolicy.QUEUE_ALL)", most, off.most, overlapping(OverlapPolicy.QUEUE_ALL).most);
        assertPageShows("overlap(OverlapPolicy.QUEUE_ONE)", all, off.all, overlapping(OverlapPolicy.QUEUE_ONE).all);
        assertPageShows("overlap(OverlapPolicy.SKIP)", all, off.all, overlapping(OverlapPolicy.SKIP).all);
        assertPageShows(
                "overlap(OverlapPolicy.CANCEL_PREVIOUS)", all, off.all, overlapping(OverlapPolicy.CANCEL_PREVIOUS).all);
    }

    /** Plans and runs every ten seconds; returns the number of runs. */
    private long runFor(ScheduleSpec spec, Duration time, Transition end) {
        fixture().clear();
        UUID node = node();
        store(spec);
        long ran = 0;
        Instant until = fixture().clock().now().plus(time);
        while (fixture().clock().now().isBefore(until)) {
            advance(Duration.ofSeconds(10));
            storage().plans().updatePauses(REACH);
            planAll();
            for (Attempt attempt : claim(node, 99)) {
                apply(node, attempt, end);
                ran++;
            }
        }
        return ran;
    }

    @Test
    void bounds_and_pauses_have_the_numbers_of_the_page() {
        Duration ten = Duration.ofMinutes(10);
        When tens = TENS.when();
        String number = "runs in ten minutes, one instant every ten seconds";
        long off = runFor(TENS, ten, complete());
        assertPageShows("When.maxRuns(5)", number, off, runFor(TENS.when(tens.maxRuns(5)), ten, complete()));
        assertPageShows("When.from(noon + 5 min)", number, off, runFor(TENS.when(tens.from(at(300))), ten, complete()));
        assertPageShows(
                "When.until(noon + 2 min)", number, off, runFor(TENS.when(tens.until(at(120))), ten, complete()));
        LocalDate today = LocalDate.parse(StoreFixture.NOON.toString().substring(0, 10));
        assertPageShows("When.except(today)", number, off, runFor(TENS.when(tens.except(today)), ten, complete()));
        Transition dies = new Transition.MarkDead("no");
        assertPageShows(
                "pauseAfter(3)",
                "the same; each run ends dead",
                runFor(TENS, ten, dies),
                runFor(with(TENS, p -> p.pauseAfter(3)), ten, dies));
    }

    private long dueTimes(Duration jitter) {
        fixture().clear();
        for (int i = 0; i < 50; i++)
            store(MINUTELY.named("s" + i).when(MINUTELY.when().jitter(jitter)));
        return FIXTURE.query(
                        "SELECT count(DISTINCT due_at) FROM carillon.run WHERE planned_at = (SELECT min(planned_at)"
                                + " FROM carillon.run)")
                .number();
    }

    @Test
    void jitter() {
        assertThat(dueTimes(Duration.ZERO)).isEqualTo(1);
        assertThat(dueTimes(Duration.ofSeconds(30))).isGreaterThan(40);
        assertThat(PAGE)
                .contains("| `When.jitter(ofSeconds(30))` | due times of 50 schedules with the same instant | 1 | more"
                        + " than 40 |");
    }
}
