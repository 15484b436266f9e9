package io.carillon.it.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.walls.SourceTree;
import io.carillon.run.Attempt;
import io.carillon.run.Transition;
import io.carillon.schedule.Missed;
import io.carillon.schedule.Overlap;
import io.carillon.schedule.Policies;
import io.carillon.schedule.When;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each option of a schedule changes a number: the same is played without it and with it, and the page says what comes out. */
class OptionNumbersTest extends PlanningContract {
    @RegisterExtension
    static final PostgresBench BENCH = new PostgresBench();

    private static final String PAGE = SourceTree.read(SourceTree.here().root().resolve("docs/schedules.md"));
    private static final Promise MINUTELY = Promise.every(Duration.ofMinutes(1));
    private static final Promise TENS = Promise.every(Duration.ofSeconds(10));

    @Override
    StoreBench bench() {
        return BENCH;
    }

    /** The row of the page that says so. */
    private static void shows(String option, String number, long off, long on) {
        assertThat(off).isNotEqualTo(on);
        assertThat(PAGE).contains("| `%s` | %s | %,d | %,d |".formatted(option, number, off, on));
    }

    private static Promise with(Promise promise, UnaryOperator<Policies> policies) {
        return promise.policies(policies.apply(Policies.defaults()));
    }

    /** Nobody plans or claims for a while; how many run when somebody does. */
    private long afterDowntime(Promise promise, Duration downtime) {
        bench().clear();
        store(promise);
        advance(downtime);
        planAll();
        return runDue(node()).size();
    }

    @Test
    void missed_policies() {
        Duration hour = Duration.ofHours(1);
        UnaryOperator<Policies> all = policies -> policies.missed(Missed.RUN_ALL);
        long once = afterDowntime(MINUTELY, hour);
        long each = afterDowntime(with(MINUTELY, all), hour);

        String number = "runs after an hour of downtime, one a minute";
        shows("missed(Missed.SKIP)", number, once, afterDowntime(MINUTELY.missed(Missed.SKIP), hour));
        shows("missed(Missed.RUN_ALL)", number, once, each);
        shows(
                "missedCap(10)",
                "the same with `RUN_ALL`",
                each,
                afterDowntime(with(MINUTELY, p -> all.apply(p).runAll(new Policies.RunAll(10, Duration.ZERO))), hour));
        shows(
                "missedSpread(ofMinutes(1))",
                "the same, at once",
                each,
                afterDowntime(
                        with(MINUTELY, p -> all.apply(p).runAll(new Policies.RunAll(100, Duration.ofMinutes(1)))),
                        hour));
        shows(
                "catchUp(ofMinutes(30))",
                "the same with `RUN_ALL`",
                each,
                afterDowntime(with(MINUTELY, p -> all.apply(p).catchUp(Duration.ofMinutes(30))), hour));
        shows(
                "grace(ofMinutes(20))",
                number,
                once,
                afterDowntime(with(MINUTELY, p -> p.grace(Duration.ofMinutes(20))), hour));
    }

    /** How many run at the same time, and how many in all, when the first takes five intervals. */
    private record Overlapping(long most, long all) {}

    private Overlapping overlapping(Overlap overlap) {
        bench().clear();
        UUID node = node();
        store(with(TENS, p -> p.overlap(overlap)));
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
        apply(node, first, overlap == Overlap.CANCEL_PREVIOUS ? new Transition.Cancel("newer") : complete());
        for (int i = 0; i < 9; i++) {
            passGates();
            all += runDue(node).size();
        }
        return new Overlapping(most, all);
    }

    @Test
    void overlap_policies() {
        Overlapping off = overlapping(Overlap.ALLOW);
        String most = "runs at a time, the first takes five intervals";
        String all = "runs of those six instants";
        shows("overlap(Overlap.QUEUE_ALL)", most, off.most, overlapping(Overlap.QUEUE_ALL).most);
        shows("overlap(Overlap.QUEUE_ONE)", all, off.all, overlapping(Overlap.QUEUE_ONE).all);
        shows("overlap(Overlap.SKIP)", all, off.all, overlapping(Overlap.SKIP).all);
        shows("overlap(Overlap.CANCEL_PREVIOUS)", all, off.all, overlapping(Overlap.CANCEL_PREVIOUS).all);
    }

    /** Planned and run every ten seconds; how many ran. */
    private long played(Promise promise, Duration time, Transition end) {
        bench().clear();
        UUID node = node();
        store(promise);
        long ran = 0;
        Instant until = bench().clock().now().plus(time);
        while (bench().clock().now().isBefore(until)) {
            advance(Duration.ofSeconds(10));
            storage().plans().turnPauses(REACH);
            planAll();
            for (Attempt attempt : claim(node, 99)) {
                apply(node, attempt, end);
                ran++;
            }
        }
        return ran;
    }

    @Test
    void bounds_and_pauses() {
        Duration ten = Duration.ofMinutes(10);
        When tens = TENS.when();
        String number = "runs in ten minutes, one each ten seconds";
        long off = played(TENS, ten, complete());
        shows("When.maxRuns(5)", number, off, played(TENS.when(tens.maxRuns(5)), ten, complete()));
        shows("When.from(noon + 5 min)", number, off, played(TENS.when(tens.from(at(300))), ten, complete()));
        shows("When.until(noon + 2 min)", number, off, played(TENS.when(tens.until(at(120))), ten, complete()));
        LocalDate today = LocalDate.parse(StoreBench.NOON.toString().substring(0, 10));
        shows("When.except(today)", number, off, played(TENS.when(tens.except(today)), ten, complete()));
        Transition dies = new Transition.Die("no");
        shows(
                "pauseAfter(3)",
                "the same, and each of them dies",
                played(TENS, ten, dies),
                played(with(TENS, p -> p.pauseAfter(3)), ten, dies));
    }

    private long dueTimes(Duration jitter) {
        bench().clear();
        for (int i = 0; i < 50; i++)
            store(MINUTELY.named("s" + i).when(MINUTELY.when().jitter(jitter)));
        return BENCH.rows()
                .number(
                        "SELECT count(DISTINCT due_at) FROM carillon.run WHERE planned_at = (SELECT min(planned_at) FROM carillon.run)");
    }

    @Test
    void jitter() {
        assertThat(dueTimes(Duration.ZERO)).isEqualTo(1);
        assertThat(dueTimes(Duration.ofSeconds(30))).isGreaterThan(40);
        assertThat(PAGE)
                .contains(
                        "| `When.jitter(ofSeconds(30))` | due times of 50 schedules with the same instant | 1 | more than 40 |");
    }
}
